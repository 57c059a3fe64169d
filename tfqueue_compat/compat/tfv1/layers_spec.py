# SPDX-License-Identifier: Apache-2.0
"""What inputs a TF 1 layer takes: ``tf.layers.InputSpec`` and its check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import say

__all__ = ["InputSpec", "check_inputs"]


class InputSpec:
    """Rank, shape, dtype and fixed axes that a layer asks of one input.

    Args:
        dtype: dtype expected.
        shape: shape expected, None where open; gives ``ndim`` too.
        ndim: rank expected.
        max_ndim: highest rank.
        min_ndim: lowest rank.
        axes: axis -> size.
    """

    def __init__(self, dtype: Any = None, shape: Sequence[int | None] | None = None,
                 ndim: int | None = None, max_ndim: int | None = None,
                 min_ndim: int | None = None, axes: Mapping[int, int] | None = None,
                 allow_last_axis_squeeze: bool = False, name: str | None = None,
                 optional: bool = False) -> None:
        self.dtype = dtype
        self.shape = shape
        self.ndim = len(shape) if shape is not None else ndim
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = {int(k): v for k, v in (axes or {}).items()}
        self.allow_last_axis_squeeze = allow_last_axis_squeeze
        self.name = name
        self.optional = optional

    def __repr__(self) -> str:
        shown = [f"{k}={v!r}" for k, v in vars(self).items() if v]
        return f"InputSpec({', '.join(shown)})"

    def fault(self, tensor: Any) -> str | None:
        """Return what was expected of ``tensor`` where it does not fit, else None."""
        shape = tensor.shape
        if self.dtype is not None and tf.as_dtype(self.dtype) != tensor.dtype:
            return f"dtype {self.dtype}"
        if shape.rank is None:
            return None
        if self.ndim is not None and shape.rank != self.ndim:
            return f"rank {self.ndim}"
        if self.max_ndim is not None and shape.rank > self.max_ndim:
            return f"rank <= {self.max_ndim}"
        if self.min_ndim is not None and shape.rank < self.min_ndim:
            return f"rank >= {self.min_ndim}"
        sizes = shape.as_list()
        wanted = dict(self.axes)
        if self.shape is not None:
            wanted |= {i: n for i, n in enumerate(self.shape) if n is not None}
        for axis, size in wanted.items():
            if size is not None and sizes[axis] not in (None, size):
                return f"size {size} in axis {axis}"
        return None


def check_inputs(name: str, spec: InputSpec | Sequence[InputSpec] | None, inputs: Any) -> None:
    """Compare inputs with a layer's ``input_spec``.

    Raises:
        ValueError: where an input has another rank, size or dtype, or their number differs.
    """
    if spec is None:
        return
    specs = [spec] if isinstance(spec, InputSpec) else list(spec)
    flat = tf.nest.flatten(inputs)
    if len(flat) != len(specs):
        raise ValueError(say(f"layer {name!r}", expected=f"{len(specs)} inputs",
                             received=f"{len(flat)}", do="Pass one tensor per input."))
    for one, tensor in zip(specs, flat):
        expected = one.fault(tensor)
        if expected:
            raise ValueError(say(
                f"layer {name!r}", expected=f"an input of {expected}",
                received=f"shape {tensor.shape}, dtype {tensor.dtype.name}",
                do="Reshape or cast the input, or use another layer (a new name) for it."))
