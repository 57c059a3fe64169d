# SPDX-License-Identifier: Apache-2.0
"""TF 1's recurrent cells made of other cells: stacks, dropout, residuals, devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import say
from .rnn_base import LSTMStateTuple, RNNCell

__all__ = ["DeviceWrapper", "DropoutWrapper", "MultiRNNCell", "ResidualWrapper"]

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


class _Wrapper(RNNCell):
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


class DropoutWrapper(_Wrapper):
    """Dropout on a cell's inputs, outputs and states.

    Args:
        cell: the cell.
        input_keep_prob: share of the inputs kept, a number or a scalar tensor.
        output_keep_prob: share of the outputs kept.
        state_keep_prob: share of the states kept; by default an LSTM's ``c`` is spared.
        variational_recurrent: use one mask for all time steps (Gal & Ghahramani 2015,
            arXiv:1512.05287); needs ``dtype``, and ``input_size`` where inputs are dropped.
        seed: seed of the masks.
        dropout_state_filter_visitor: maps a state to the structure of bools to drop.

    Raises:
        ValueError: for a number outside (0, 1], or a missing ``dtype`` or ``input_size``.
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0,
                 state_keep_prob: Any = 1.0, variational_recurrent: bool = False,
                 input_size: Any = None, dtype: Any = None, seed: int | None = None,
                 dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
                 **kwargs: Any) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        self._keep = {"input": input_keep_prob, "state": state_keep_prob,
                      "output": output_keep_prob}
        for part, keep in self._keep.items():
            if not tf.is_tensor(keep) and not 0 < keep <= 1:
                raise ValueError(say(f"DropoutWrapper {part}_keep_prob", expected="0 < p <= 1",
                                     received=repr(keep), do="Pass the share to keep."))
        self._seed = seed
        self._filter = dropout_state_filter_visitor or _all_but_c
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _drops(self, part: str) -> bool:
        keep = self._keep[part]
        return tf.is_tensor(keep) or keep < 1

    def _seed_of(self, part: str) -> int | None:
        # Another mask for each part, the same one in each run.
        return None if self._seed is None else self._seed + sum(part.encode())

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None or (self._drops("input") and input_size is None):
            raise ValueError(say(
                "DropoutWrapper with variational_recurrent", expected="dtype and input_size",
                received=f"dtype={dtype}, input_size={input_size}", do="Pass both."))
        sizes = {"input": input_size, "state": self.state_size, "output": self.output_size}
        for part, size in sizes.items():
            if self._drops(part):
                self._noise[part] = _map_sizes(
                    lambda shape, part=part: tf.random.uniform(
                        [1, *shape], seed=self._seed_of(part), dtype=dtype), size)

    def _dropped(self, part: str, values: Any, which: Any = True) -> Any:
        def one(drop: Any, value: Any, noise: Any = None) -> Any:
            if not drop or isinstance(value, tf.TensorArray):
                return value
            keep = tf.cast(self._keep[part], value.dtype)
            if noise is None:
                return v1.nn.dropout(value, rate=1 - keep, seed=self._seed_of(part))
            kept = value / keep * tf.floor(keep + noise)
            kept.set_shape(value.shape)
            return kept

        flat = tf.nest.flatten(values)
        which = tf.nest.flatten(which) if tf.nest.is_nested(which) else [which] * len(flat)
        noise = tf.nest.flatten(self._noise[part]) if part in self._noise else [None] * len(flat)
        return tf.nest.pack_sequence_as(values, [one(*z) for z in zip(which, flat, noise)])

    def _step(self, inputs: Any, state: Any, run: Callable[..., Any]) -> tuple[Any, Any]:
        if self._drops("input"):
            inputs = self._dropped("input", inputs)
        output, state = run(inputs, state)
        if self._drops("state"):
            state = self._dropped("state", state, _spread(self._filter, state))
        if self._drops("output"):
            output = self._dropped("output", output)
        return output, state


def _all_but_c(state: Any) -> Any:
    return LSTMStateTuple(c=False, h=True) if isinstance(state, LSTMStateTuple) else True


def _spread(decide: Callable[[Any], Any], state: Any) -> Any:
    """Ask about a state, and about its parts where the answer for a plain tuple is just True."""
    answer = decide(state)
    if isinstance(state, (list, tuple)) and answer is True:
        return tuple(_spread(decide, part) for part in state)
    return answer


def _map_sizes(make: Callable[..., Any], size: Any) -> Any:
    def one(s: Any) -> Any:
        return make([int(s)] if isinstance(s, int) else tf.TensorShape(s).as_list())

    return one(size) if isinstance(size, tf.TensorShape) else tf.nest.map_structure(one, size)


class ResidualWrapper(_Wrapper):
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


class DeviceWrapper(_Wrapper):
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
