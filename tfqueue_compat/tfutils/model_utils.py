# SPDX-License-Identifier: Apache-2.0
"""Describes a model: its trainable variables, the shapes of its tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import tabulate
import tensorflow as tf

from ..utils import logger
from ..utils.errors import say

__all__ = ["describe_trainable_vars", "get_shape_str"]

v1 = tf.compat.v1


def describe_trainable_vars() -> None:
    """Log a table of the trainable variables: name, shape, number of scalars, dtype, device."""
    variables = v1.trainable_variables()
    if not variables:
        logger.warning("The graph has no trainable variables!")
        return
    total = bytes_ = 0
    rows = []
    devices = {v.device for v in variables}
    for v in variables:
        size = int(np.prod(v.shape.as_list()))
        total += size
        bytes_ += size * v.dtype.base_dtype.size
        rows.append([v.op.name, v.shape.as_list(), size, v.dtype.base_dtype.name, v.device])
    columns = 5 if len(devices) > 1 else 4
    table = tabulate.tabulate([row[:columns] for row in rows],
                              headers=["name", "shape", "#elements", "dtype", "device"][:columns])
    logger.info("List of trainable variables:\n%s\nNumber of trainable variables: %d\n"
                "Number of parameters (elements): %d\nStorage space needed for all of them: "
                "%.02fMB", table, len(variables), total, bytes_ / 1024 ** 2)


def get_shape_str(tensors: Any) -> str:
    """Return the shape of a tensor, or the shapes of several, as text.

    Example:
        >>> get_shape_str(tf.zeros([2, 3]))
        '[2, 3]'
    """
    if isinstance(tensors, (list, tuple)):
        for t in tensors:
            if not hasattr(t, "shape"):
                raise TypeError(say("get_shape_str", expected="tensors", received=repr(t),
                                    do="Pass tensors."))
        return ", ".join(get_shape_str(t) for t in tensors)
    shape = tf.TensorShape(tensors.shape)
    return str(shape.as_list()) if shape.rank is not None else str(shape)
