# SPDX-License-Identifier: Apache-2.0
"""contrib.framework's assignments of variables from values and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ....utils.errors import near, say
from .variables import get_unique_variable, get_variable_full_name

__all__ = ["assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values",
           "assign_from_values_fn"]

v1 = tf.compat.v1


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Return an op and its feed_dict that assign values to variables by name.

    Raises:
        ValueError: where a value has another shape than its variable, or there is no such variable.
    """
    ops, feed = [], {}
    for name, value in var_names_to_values.items():
        var, value = get_unique_variable(name), np.asarray(value)
        _same_shape(name, var.shape.as_list(), value.shape)
        fed = v1.placeholder(var.dtype.base_dtype, value.shape)
        ops.append(v1.assign(var, fed))
        feed[fed] = value
    return tf.group(*ops), feed


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """Return a function of a session that assigns values to variables by name."""
    op, feed = assign_from_values(var_names_to_values)
    return lambda session: session.run(op, feed)


def _named(var_list: Any) -> dict[str, Any]:
    if isinstance(var_list, Mapping):
        return dict(var_list)
    return {get_variable_full_name(v): v for v in var_list}


def _same_shape(name: str, wanted: Any, received: Any) -> None:
    if list(wanted) != list(received):
        raise ValueError(say(f"variable {name}", expected=f"shape {list(wanted)}",
                             received=f"{list(received)}", do="Reshape the value."))


def _readable(model_path: str, variables: dict[str, Any], ignore_missing: bool) -> dict[str, Any]:
    there = tf.train.load_checkpoint(model_path).get_variable_to_shape_map()
    missing = [name for name in variables if name not in there]
    if missing and not ignore_missing:
        raise ValueError(say(
            f"checkpoint {model_path}", expected=f"a variable {missing[0]!r}",
            received=f"{len(there)} others",
            do=f"Pass ignore_missing_vars=True, or another name.{near(missing[0], there)}"))
    return {name: v for name, v in variables.items() if name in there}


def assign_from_checkpoint(model_path: str, var_list: Mapping[str, Any] | Sequence[Any],
                           ignore_missing_vars: bool = False) -> tuple[Any, dict[Any, Any]]:
    """Return an op and its feed_dict that assign a checkpoint's values.

    Args:
        model_path: the checkpoint's prefix.
        var_list: variables, or name in the checkpoint -> variable.
        ignore_missing_vars: leave alone what the checkpoint lacks.

    Raises:
        ValueError: for a variable that the checkpoint lacks, or has in another shape.
    """
    reader = tf.train.load_checkpoint(model_path)
    variables = _readable(model_path, _named(var_list), ignore_missing_vars)
    ops, feed = [], {}
    for name, var in variables.items():
        value = reader.get_tensor(name)
        _same_shape(name, var.shape.as_list(), value.shape)
        fed = v1.placeholder(var.dtype.base_dtype, value.shape)
        ops.append(v1.assign(var, fed))
        feed[fed] = value
    return tf.group(*ops), feed


def assign_from_checkpoint_fn(model_path: str, var_list: Mapping[str, Any] | Sequence[Any],
                              ignore_missing_vars: bool = False,
                              reshape_variables: bool = False) -> Callable[[Any], None]:
    """Return a function of a session that restores variables from a checkpoint.

    Args:
        model_path: the checkpoint's prefix.
        var_list: variables, or name in the checkpoint -> variable.
        ignore_missing_vars: leave alone what the checkpoint lacks.
        reshape_variables: accept another shape of as many elements.
    """
    variables = _readable(model_path, _named(var_list), ignore_missing_vars)
    if not variables:
        return lambda session: None
    saver = v1.train.Saver(variables, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)
