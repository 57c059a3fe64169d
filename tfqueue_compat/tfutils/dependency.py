# SPDX-License-Identifier: Apache-2.0
"""Which operations a tensor depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from ..utils.errors import say

__all__ = ["dependency_of_fetches", "dependency_of_targets"]

v1 = tf.compat.v1


def _op_of(element: Any) -> Any:
    if isinstance(element, tf.IndexedSlices):
        return element.values.op
    op = getattr(element, "op", element)
    if not isinstance(op, tf.Operation):
        raise TypeError(say("dependency", expected="tensors, operations or variables",
                            received=repr(element), do="Pass elements of a graph."))
    return op


def operations_before(targets: Iterable[Any]) -> set[Any]:
    """Return the operations that must run for the targets, themselves included.

    Args:
        targets: tensors, operations or variables of one graph.
    """
    todo = [_op_of(t) for t in targets]
    found = set(todo)
    while todo:
        op = todo.pop()
        for before in [*(x.op for x in op.inputs), *op.control_inputs]:
            if before not in found:
                found.add(before)
                todo.append(before)
    return found


def dependency_of_targets(targets: Any, op: Any) -> bool:
    """Return whether any of the targets depends on ``op``.

    Args:
        targets: one or more tensors, operations or variables.
        op: an operation or a tensor.

    Example:
        >>> with tf.Graph().as_default():
        ...     a = tf.constant(1.); b = a + 1; c = tf.constant(2.)
        >>> dependency_of_targets(b, a.op), dependency_of_targets(b, c.op)
        (True, False)
    """
    listed = list(targets) if isinstance(targets, (list, tuple, set)) else [targets]
    return _op_of(op) in operations_before(listed)


def dependency_of_fetches(fetches: Any, op: Any) -> bool:
    """Return whether ``session.run(fetches)`` runs ``op``.

    Args:
        fetches: as ``session.run`` takes them: nested, or names.
        op: an operation or a tensor.
    """
    return dependency_of_targets(_elements(fetches), op)


def _elements(fetches: Any) -> Sequence[Any]:
    graph = v1.get_default_graph()
    flat = tf.nest.flatten(fetches)
    return [graph.as_graph_element(x) if isinstance(x, str) else x for x in flat]
