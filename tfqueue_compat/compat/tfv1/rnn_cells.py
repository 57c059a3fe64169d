# SPDX-License-Identifier: Apache-2.0
"""TF 1's recurrent cells: BasicRNN, GRU, BasicLSTM and LSTM, with TF 1's weights."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .layers_shapes import static_size
from .rnn_base import LayerRNNCell, LSTMStateTuple

__all__ = ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell"]

v1 = tf.compat.v1


class BasicRNNCell(LayerRNNCell):
    """``output = state = tanh([inputs, state] . kernel + bias)``.

    Args:
        num_units: size of the state and of the output.
        activation: a function or its name in ``tf.nn``; tanh by default.
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None,
                 name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(activation, reuse, name, dtype, **kwargs)
        self._num_units = int(num_units)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth = static_size(input_shape, 1, f"{type(self).__name__} {self.name!r}")
        self._kernel = self.add_weight("kernel", [depth + self._num_units, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units],
                                     initializer=v1.zeros_initializer())

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        output = self._activation(self._linear([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """Gated recurrent unit (Cho et al. 2014, arXiv:1406.1078); the reset comes before the matmul.

    Weights: ``gates/kernel``, ``gates/bias`` (ones), ``candidate/kernel``, ``candidate/bias``.
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None,
                 kernel_initializer: Any = None, bias_initializer: Any = None,
                 name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(activation, reuse, name, dtype, **kwargs)
        self._num_units = int(num_units)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        n = self._num_units
        rows = static_size(input_shape, 1, f"GRUCell {self.name!r}") + n
        kernel, bias = self._kernel_initializer, self._bias_initializer
        self._gate_kernel = self.add_weight("gates/kernel", [rows, 2 * n], initializer=kernel)
        self._gate_bias = self.add_weight(
            "gates/bias", [2 * n],
            initializer=v1.constant_initializer(1.0) if bias is None else bias)
        self._candidate_kernel = self.add_weight("candidate/kernel", [rows, n],
                                                 initializer=kernel)
        self._candidate_bias = self.add_weight(
            "candidate/bias", [n], initializer=v1.zeros_initializer() if bias is None else bias)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        gates = tf.sigmoid(self._linear([inputs, state], self._gate_kernel, self._gate_bias))
        reset, update = tf.split(gates, 2, axis=1)
        candidate = self._activation(self._linear(
            [inputs, reset * state], self._candidate_kernel, self._candidate_bias))
        state = update * state + (1 - update) * candidate
        return state, state


class BasicLSTMCell(LayerRNNCell):
    """LSTM (Zaremba et al. 2014, arXiv:1409.2329) without peepholes, clipping or projection.

    Weights: ``kernel`` (input + units, 4 * units) and ``bias``, the gates in the order input,
    candidate, forget, output.

    Args:
        forget_bias: added to the forget gate; 0 for weights that Cudnn trained.
        state_is_tuple: False takes and gives c and h concatenated on axis 1.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True,
                 activation: Any = None, reuse: Any = None, name: str | None = None,
                 dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(activation, reuse, name, dtype, **kwargs)
        self._num_units = int(num_units)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        n = self._num_units
        depth = static_size(input_shape, 1, f"BasicLSTMCell {self.name!r}")
        self._kernel = self.add_weight("kernel", [depth + n, 4 * n])
        self._bias = self.add_weight("bias", [4 * n], initializer=v1.zeros_initializer())

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        c, h = state if self._state_is_tuple else tf.split(state, 2, axis=1)
        i, j, f, o = tf.split(self._linear([inputs, h], self._kernel, self._bias), 4, axis=1)
        c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)


class LSTMCell(LayerRNNCell):
    """LSTM with optional peepholes, clipping and projection (Sak et al. 2014).

    Weights: ``kernel``, ``bias``; with peepholes ``w_f_diag``, ``w_i_diag``, ``w_o_diag``; with
    ``num_proj`` ``projection/kernel``.

    Args:
        use_peepholes: whether the gates see the cell.
        cell_clip: bound of abs(c), before the output gate.
        initializer: of all matrices.
        num_proj: size of the projected output.
        proj_clip: bound of the projected output.
        num_unit_shards: number of variables that the kernel is split into.
        num_proj_shards: number of variables that the projection is split into.
    """

    def __init__(self, num_units: int, use_peepholes: bool = False,
                 cell_clip: float | None = None, initializer: Any = None,
                 num_proj: int | None = None, proj_clip: float | None = None,
                 num_unit_shards: int | None = None, num_proj_shards: int | None = None,
                 forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
                 reuse: Any = None, name: str | None = None, dtype: Any = None,
                 **kwargs: Any) -> None:
        super().__init__(activation, reuse, name, dtype, **kwargs)
        self._num_units = int(num_units)
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._shards = (num_unit_shards, num_proj_shards)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        n = self._num_units
        depth = static_size(input_shape, 1, f"LSTMCell {self.name!r}")
        units, proj = (None if s is None else v1.fixed_size_partitioner(s) for s in self._shards)
        self._kernel = self.add_weight("kernel", [depth + self.output_size, 4 * n],
                                       initializer=self._initializer, partitioner=units)
        self._bias = self.add_weight("bias", [4 * n], initializer=v1.zeros_initializer())
        if self._use_peepholes:
            self._w_f, self._w_i, self._w_o = (
                self.add_weight(f"w_{gate}_diag", [n], initializer=self._initializer)
                for gate in "fio")
        if self._num_proj is not None:
            self._projection = self.add_weight("projection/kernel", [n, self._num_proj],
                                               initializer=self._initializer, partitioner=proj)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        c, h = state if self._state_is_tuple else (
            tf.split(state, [self._num_units, self.output_size], axis=1))
        kernel = tf.convert_to_tensor(self._kernel)
        i, j, f, o = tf.split(self._linear([inputs, h], kernel, self._bias), 4, axis=1)
        if self._use_peepholes:
            f, i = f + self._w_f * c, i + self._w_i * c
        c = tf.sigmoid(f + self._forget_bias) * c + tf.sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = tf.clip_by_value(c, -self._cell_clip, self._cell_clip)
        h = tf.sigmoid(o + self._w_o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = tf.matmul(h, tf.convert_to_tensor(self._projection))
            if self._proj_clip is not None:
                h = tf.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._state_is_tuple else tf.concat([c, h], 1)
