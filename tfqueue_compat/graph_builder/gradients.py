# SPDX-License-Identifier: Apache-2.0
"""The gradients of a tower's cost, as any machine that trains wants them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.gradproc import FilterNoneGrad
from ..utils.errors import say

__all__ = ["gradients_of"]

v1 = tf.compat.v1


def gradients_of(cost: Any, optimizer: Any, variables: Sequence[Any], *, tower: str = "",
                 **kwargs: Any) -> list[tuple[Any, Any]]:
    """Return the (gradient, variable) pairs of a cost; computing them fails where it is no number.

    Variables without a gradient are left out, with a warning.

    Args:
        cost: a scalar tensor.
        optimizer: a ``tf.compat.v1.train.Optimizer``.
        variables: those to train.
        tower: name of the tower, for messages.
        **kwargs: as for ``Optimizer.compute_gradients``.

    Raises:
        ValueError: where the cost is no scalar tensor.
        TypeError: where the optimizer is none.
    """
    if not tf.is_tensor(cost) or cost.shape.rank not in (0, None):
        raise ValueError(say(f"build_graph in tower {tower!r}", expected="the cost, a "
                             "scalar tensor", received="None" if cost is None else repr(cost),
                             do="Return it from build_graph."))
    if not isinstance(optimizer, v1.train.Optimizer):
        raise TypeError(say("the model's optimizer", expected="a tf.compat.v1.train.Optimizer",
                            received=repr(optimizer),
                            do="Return e.g. tf.compat.v1.train.AdamOptimizer(1e-3)."))
    grads = optimizer.compute_gradients(cost, var_list=list(variables), **kwargs)
    return _checked(cost, FilterNoneGrad().process(grads))


def _checked(cost: Any, grads: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Let a step fail where its cost is no number: nothing good comes of going on."""
    if not cost.dtype.is_floating or not grads:
        return grads
    with v1.name_scope("check_cost"):
        check = tf.debugging.check_numerics(cost, say(
            f"the cost {cost.op.name!r}", expected="a finite number", received="NaN or Inf",
            do="Lower the learning rate, look at the data, or add the callback CheckNumerics()"))
        # one gradient that waits for the check is enough for the check to be made
        (gradient, variable), *others = grads
        with tf.control_dependencies([check]), v1.get_default_graph().colocate_with(variable):
            return [(tf.identity(gradient), variable), *others]
