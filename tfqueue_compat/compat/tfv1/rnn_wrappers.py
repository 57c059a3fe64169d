# SPDX-License-Identifier: Apache-2.0
"""TF 1's recurrent cells made of other cells: stacks, residuals, devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import say
from .rnn_base import RNNCell

__all__ = ["CellWrapper", "DeviceWrapper", "MultiRNNCell", "ResidualWrapper"]

v1 = tf.compat.v1


class MultiRNNCell(RNNCell):
    """Cells on top of each other; variables in ``multi_rnn_cell/cell_0/...``.

    Args:
        cells: the cells, the first one gets the inputs.
        state_is_tuple: False takes and gives all states concatenated on axis 1.

    Raises:
        TypeError: where ``cells`` is no sequence.
        ValueError: where it is empty, or a cell's state is a tuple and this one's is not.
    """

    def __init__(self, cells: Sequence[Any], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not isinstance(cells, (list, tuple)):
            raise TypeError(say("MultiRNNCell", expected="a list of cells",
                                received=type(cells).__name__, do="Pass [cell, ...]."))
        nested = [tf.nest.is_nested(cell.state_size) for cell in cells]
        if not cells or (not state_is_tuple and any(nested)):
            raise ValueError(say(
                "MultiRNNCell", expected="cells, with states to concatenate or to keep in a tuple",
                received=f"{len(cells)} cells, state_is_tuple={state_is_tuple}",
                do="Pass at least one cell, or state_is_tuple=True."))
        self._cells = list(cells)
        self._state_is_tuple = state_is_tuple

    @property
    def cells(self) -> list[Any]:
        """The cells, the first one gets the inputs."""
        return self._cells

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        if not self._state_is_tuple:
            return super().zero_state(batch_size, dtype)
        with tf.name_scope("MultiRNNCellZeroState"):
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    @property
    def trainable_weights(self) -> list[Any]:
        return [w for cell in self._cells for w in getattr(cell, "trainable_weights", [])]

    @property
    def non_trainable_weights(self) -> list[Any]:
        return [w for cell in self._cells for w in getattr(cell, "non_trainable_weights", [])]

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple and len(state) != len(self._cells):
            raise ValueError(say("MultiRNNCell", expected=f"{len(self._cells)} states",
                                 received=str(len(state)), do="Use zero_state()."))
        if not self._state_is_tuple:
            state = tf.split(state, [cell.state_size for cell in self._cells], axis=1)
        new = []
        for i, (cell, one) in enumerate(zip(self._cells, state)):
            with v1.variable_scope(f"cell_{i}"):
                inputs, after = cell(inputs, one)
            new.append(after)
        return inputs, tuple(new) if self._state_is_tuple else tf.concat(new, 1)


class CellWrapper(RNNCell):
    """A cell around another: no variable scope of its own, so that names stay those of the cell."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        return self.cell.zero_state(batch_size, dtype)

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self.cell.trainable_weights)

    @property
    def non_trainable_weights(self) -> list[Any]:
        return list(self.cell.non_trainable_weights)

    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    def _step(self, inputs: Any, state: Any, run: Callable[..., Any]) -> tuple[Any, Any]:
        return run(inputs, state)

    @tf.autograph.experimental.do_not_convert
    def __call__(self, inputs: Any, state: Any = None, scope: Any = None,  # type: ignore[override]
                 *args: Any, **kwargs: Any) -> Any:
        """Run one time step: see ``RNNCell``."""
        given = {} if scope is None else {"scope": scope}
        return self._step(inputs, state, lambda x, s: self.cell(x, s, **given))

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> tuple[Any, Any]:
        return self._step(inputs, state, self.cell)


class ResidualWrapper(CellWrapper):
    """Add a cell's inputs to its outputs, or ``residual_fn(inputs, outputs)``."""

    def __init__(self, cell: Any, residual_fn: Callable[[Any, Any], Any] | None = None,
                 **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _step(self, inputs: Any, state: Any, run: Callable[..., Any]) -> tuple[Any, Any]:
        outputs, state = run(inputs, state)
        if self._residual_fn is not None:
            return self._residual_fn(inputs, outputs), state
        tf.nest.map_structure(lambda x, y: x.shape.assert_is_compatible_with(y.shape),
                              inputs, outputs)
        return tf.nest.map_structure(lambda x, y: x + y, inputs, outputs), state


class DeviceWrapper(CellWrapper):
    """Run a cell, and make its zero state, on a device such as ``/gpu:0``."""

    def __init__(self, cell: Any, device: str, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with tf.device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _step(self, inputs: Any, state: Any, run: Callable[..., Any]) -> tuple[Any, Any]:
        with tf.device(self._device):
            return run(inputs, state)
