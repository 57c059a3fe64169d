# SPDX-License-Identifier: Apache-2.0
"""contrib.framework's variables: model variables, and look-ups by scope and name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ....utils.errors import say
from .arg_scope_ import add_arg_scope

__all__ = ["add_model_variable", "filter_variables", "get_local_variables",
           "get_model_variables", "get_trainable_variables", "get_unique_variable",
           "get_variable_full_name", "get_variables", "get_variables_by_name",
           "get_variables_by_suffix", "get_variables_to_restore", "global_variable",
           "local_variable", "model_variable", "variable"]

v1 = tf.compat.v1
_KEYS = v1.GraphKeys


@add_arg_scope
def variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None,
             regularizer: Any = None, trainable: bool = True,
             collections: Sequence[str] | None = None, caching_device: Any = None,
             device: Any = None, partitioner: Any = None,
             custom_getter: Callable[..., Any] | None = None, use_resource: bool | None = None,
             **kwargs: Any) -> Any:
    """Get or create a variable: ``tf.get_variable`` with ``device`` and more collections."""
    collections = list(collections if collections is not None else [_KEYS.GLOBAL_VARIABLES])
    if trainable and _KEYS.TRAINABLE_VARIABLES not in collections:
        collections.append(_KEYS.TRAINABLE_VARIABLES)
    getter = v1.get_variable
    if custom_getter is not None:
        kwargs["custom_getter"] = custom_getter
    with tf.device(device or ""):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer,
                      regularizer=regularizer, trainable=trainable, collections=collections,
                      caching_device=caching_device, partitioner=partitioner,
                      use_resource=use_resource, **kwargs)


@add_arg_scope
def model_variable(name: str, shape: Any = None, dtype: Any = tf.float32, initializer: Any = None,
                   regularizer: Any = None, trainable: bool = True,
                   collections: Sequence[str] | None = None, caching_device: Any = None,
                   device: Any = None, partitioner: Any = None,
                   custom_getter: Callable[..., Any] | None = None,
                   use_resource: bool | None = None, **kwargs: Any) -> Any:
    """Get or create a variable that is in ``MODEL_VARIABLES`` too."""
    made = variable(
        name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=[*(collections or []), _KEYS.GLOBAL_VARIABLES,
                                          _KEYS.MODEL_VARIABLES],
        caching_device=caching_device, device=device, partitioner=partitioner,
        custom_getter=custom_getter, use_resource=use_resource, **kwargs)
    return made


def global_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                    use_resource: bool | None = None) -> Any:
    """Create a variable that is not trainable."""
    return v1.Variable(initial_value, trainable=False, validate_shape=validate_shape, name=name,
                       collections=[_KEYS.GLOBAL_VARIABLES], use_resource=use_resource)


def local_variable(initial_value: Any, validate_shape: bool = True, name: str | None = None,
                   use_resource: bool | None = None) -> Any:
    """Create a variable in ``LOCAL_VARIABLES``, not saved."""
    return v1.Variable(initial_value, trainable=False, validate_shape=validate_shape, name=name,
                       collections=[_KEYS.LOCAL_VARIABLES], use_resource=use_resource)


def add_model_variable(var: Any) -> None:
    """Add a variable to ``MODEL_VARIABLES``, once."""
    known = v1.get_collection_ref(_KEYS.MODEL_VARIABLES)
    if not any(var is v for v in known):
        known.append(var)


def get_variables(scope: Any = None, suffix: str | None = None,
                  collection: str = _KEYS.GLOBAL_VARIABLES) -> list[Any]:
    """Return the variables of a collection, by the start of their names, a scope and a suffix.

    Args:
        scope: a VariableScope, or a regular expression that names start with.
        suffix: what names (before or after the ``:0``) match further on.
        collection: where to look.
    """
    if isinstance(scope, v1.VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = (scope or "").rstrip(":") + ".*" + suffix
    return v1.get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the model variables: see ``get_variables``."""
    return get_variables(scope, suffix, _KEYS.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the local variables: see ``get_variables``."""
    return get_variables(scope, suffix, _KEYS.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Return the trainable variables: see ``get_variables``."""
    return get_variables(scope, suffix, _KEYS.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Return the global variables whose name matches ``.*suffix``."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Return the global variables whose name without its scopes is ``given_name``."""
    return [v for v in get_variables(scope)
            if get_variable_full_name(v).rpartition("/")[2] == given_name]


def get_variable_full_name(var: Any) -> str:
    """Return a variable's name without ``:0``."""
    return var.name.partition(":")[0]


def get_unique_variable(var_op_name: str) -> Any:
    """Return the one variable of that name.

    Raises:
        ValueError: where none has it.
    """
    for v in get_variables():
        if get_variable_full_name(v) == var_op_name:
            return v
    raise ValueError(say("get_unique_variable", expected="the name of a variable",
                         received=repr(var_op_name), do="See tf.global_variables()."))


def get_variables_to_restore(include: Sequence[str] | None = None,
                             exclude: Sequence[str] | None = None) -> list[Any]:
    """Return the global variables in the scopes ``include`` and not in ``exclude``."""
    chosen = get_variables() if include is None else [
        v for scope in include for v in get_variables(scope)]
    left_out = {id(v) for scope in exclude or () for v in get_variables(scope)}
    seen: dict[int, Any] = {id(v): v for v in chosen if id(v) not in left_out}
    return list(seen.values())


def filter_variables(var_list: Sequence[Any], include_patterns: Sequence[str] | None = None,
                     exclude_patterns: Sequence[str] | None = None,
                     reg_search: bool = True) -> list[Any]:
    """Return the variables whose names match an included pattern and no excluded one.

    Args:
        var_list: the variables.
        include_patterns: regular expressions; None includes all.
        exclude_patterns: regular expressions.
        reg_search: whether a match anywhere in the name counts, or only at its start.
    """
    match = re.search if reg_search else re.match

    def named(v: Any, patterns: Sequence[str] | None) -> bool:
        return any(match(p, v.name.partition(":")[0]) for p in patterns or ())

    return [v for v in var_list if (include_patterns is None or named(v, include_patterns))
            and not named(v, exclude_patterns)]
