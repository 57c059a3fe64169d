# SPDX-License-Identifier: Apache-2.0
"""The words that graph mode starts from: names, the global step, a session's configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from ..compat import tfv1  # noqa: F401 - scripts take it from here
from ..utils.errors import near, say
from .collect_env import collect_env_info

__all__ = ["collect_env_info", "get_default_sess_config", "get_global_step_value",
           "get_global_step_var", "get_tf_version_tuple"]

v1 = tf.compat.v1


def get_default_sess_config(mem_fraction: float = 0.99) -> Any:
    """Return the ConfigProto that trainers and predictors use where the user gives none.

    Ops move to a device that has them, GPU memory grows as needed, and one op uses one thread:
    several ops at a time use several.

    Args:
        mem_fraction: largest share of a GPU's memory to take, in 0-1.

    Example:
        >>> get_default_sess_config(0.5).allow_soft_placement
        True
    """
    config = v1.ConfigProto()
    config.allow_soft_placement = True
    config.intra_op_parallelism_threads = 1
    config.gpu_options.per_process_gpu_memory_fraction = mem_fraction
    config.gpu_options.allow_growth = True
    return config


def get_global_step_var() -> Any:
    """Return the graph's ``global_step`` (int64), making it outside any scope where missing."""
    with v1.variable_scope(v1.VariableScope(reuse=False, name=""), auxiliary_name_scope=False):
        return v1.train.get_or_create_global_step()


def get_global_step_value() -> int:
    """Return the value of ``global_step`` in the default session.

    Raises:
        RuntimeError: outside of a session.
    """
    session = v1.get_default_session()
    if session is None:
        raise RuntimeError(say("get_global_step_value", expected="a default session",
                               received="none", do="Call it inside `with session.as_default()`."))
    return int(v1.train.global_step(session, get_global_step_var()))


def get_op_tensor_name(name: str) -> tuple[str, str]:
    """Return the name of the operation and of the tensor, given either.

    Example:
        >>> get_op_tensor_name("fc/output"), get_op_tensor_name("split:1")
        (('fc/output', 'fc/output:0'), ('split', 'split:1'))
    """
    op, colon, index = name.rpartition(":")
    return (op, name) if colon and index.isdigit() else (name, name + ":0")


get_op_var_name = get_op_tensor_name


def get_tensors_by_names(names: Iterable[str]) -> list[Any]:
    """Return tensors of the default graph, each found by its name or its operation's.

    Raises:
        KeyError: where there is none of a name; near names are suggested.
    """
    return [_of_graph(get_op_tensor_name(name)[1]) for name in names]


def get_op_or_tensor_by_name(name: str | Iterable[str]) -> Any:
    """Return the tensor of ``"name:0"``, the operation of ``"name"``; a list of them for a list.

    Raises:
        KeyError: where there is none of a name; near names are suggested.
    """
    if not isinstance(name, str):
        return [get_op_or_tensor_by_name(n) for n in name]
    return _of_graph(name)


def _of_graph(name: str) -> Any:
    graph = v1.get_default_graph()
    try:
        return graph.as_graph_element(name)
    except (KeyError, ValueError):
        raise KeyError(unknown_name(name)) from None


def unknown_name(name: str, others: Iterable[str] = ()) -> str:
    """Return the text of an error about a name that the default graph does not have.

    Args:
        name: of an operation or a tensor.
        others: further names that would have been right.
    """
    operations = [op.name for op in v1.get_default_graph().get_operations()]
    op = get_op_tensor_name(name)[0]
    hint = near(op, [*others, *operations])
    if not hint:  # the last part may be right, and the scope be missing
        ends = [o for o in operations if o.endswith("/" + op.rpartition("/")[2])]
        hint = near(ends[0], ends[:3]) if ends else ""
    return say(f"the name {name!r}", expected="a tensor or an operation of the graph",
               received=f"a name that none of its {len(operations)} operations has",
               do=f"Give the tensor that name in build_graph, or ask for another.{hint}")


def gpu_available_in_session() -> bool:
    """Return whether the default session sees a GPU.

    Raises:
        RuntimeError: outside of a session.
    """
    session = v1.get_default_session()
    if session is None:
        raise RuntimeError(say("gpu_available_in_session", expected="a default session",
                               received="none", do="Call it inside `with session.as_default()`."))
    return any(d.device_type.lower() == "gpu" for d in session.list_devices())


def get_tf_version_tuple() -> tuple[int, int]:
    """Return TensorFlow's version as (major, minor), e.g. ``(2, 21)``."""
    major, minor = tf.__version__.split(".")[:2]
    return int(major), int(minor)


def get_tf_version_number() -> float:
    """Return TensorFlow's version as ``major.minor``; old scripts ask ``>= 1.4`` of it.

    2.21 is 2.21, larger than 2.3 only as text: compare ``get_tf_version_tuple()`` instead.
    """
    return float("{}.{}".format(*get_tf_version_tuple()))
