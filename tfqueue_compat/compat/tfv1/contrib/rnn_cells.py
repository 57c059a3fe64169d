# SPDX-License-Identifier: Apache-2.0
"""contrib.rnn's own cells: layer-normalized LSTM, block cells, projections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..layers_shapes import static_size
from ..rnn_base import LSTMStateTuple, RNNCell
from ..rnn_cells import GRUCell, LSTMCell
from .layers_norm import layer_norm

__all__ = ["GRUBlockCell", "GRUBlockCellV2", "InputProjectionWrapper", "LSTMBlockCell",
           "LayerNormBasicLSTMCell", "OutputProjectionWrapper"]

v1 = tf.compat.v1


class LSTMBlockCell(LSTMCell):
    """``LSTMCell`` under the block cell's arguments; its weights are the same (``lstm_cell``)."""

    def __init__(self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None,
                 use_peephole: bool = False, dtype: Any = None, reuse: Any = None,
                 name: str = "lstm_cell") -> None:
        # The fused op read a clip of 0 or less as none.
        clip = cell_clip if cell_clip is not None and cell_clip > 0 else None
        super().__init__(num_units, use_peephole, clip, forget_bias=forget_bias, dtype=dtype,
                         reuse=reuse, name=name)


class GRUBlockCell(GRUCell):
    """``GRUCell`` under the block cell's arguments; its weights are the same (``gru_cell``)."""

    def __init__(self, num_units: int | None = None, cell_size: int | None = None,
                 reuse: Any = None, name: str = "gru_cell") -> None:
        super().__init__(num_units if num_units is not None else cell_size or 0, reuse=reuse,
                         name=name)


GRUBlockCellV2 = GRUBlockCell


class LayerNormBasicLSTMCell(RNNCell):
    """LSTM with layer normalization (Ba et al. 2016) and recurrent dropout (Semeniuta 2016).

    Weights in ``layer_norm_basic_lstm_cell``: ``kernel``, ``bias`` where ``layer_norm`` is False,
    else ``gamma`` and ``beta`` in ``input``, ``transform``, ``forget``, ``output``, ``state``.

    Args:
        num_units: size of the state and of the output.
        forget_bias: added to the forget gate.
        input_size: not used.
        activation: tanh by default.
        layer_norm: whether to normalize.
        norm_gain: initial ``gamma``.
        norm_shift: initial ``beta``.
        dropout_keep_prob: share of the candidate kept, a number or a scalar tensor.
        dropout_prob_seed: seed of the mask.
    """

    def __init__(self, num_units: int, forget_bias: float = 1.0, input_size: Any = None,
                 activation: Callable[[Any], Any] = tf.tanh, layer_norm: bool = True,
                 norm_gain: float = 1.0, norm_shift: float = 0.0, dropout_keep_prob: Any = 1.0,
                 dropout_prob_seed: int | None = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = int(num_units)
        self._forget_bias = forget_bias
        self._activation = activation
        self._layer_norm = layer_norm
        self._gain, self._shift = norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _normed(self, x: Any, scope: str) -> Any:
        if not self._layer_norm:
            return x
        with v1.variable_scope(scope):
            # Created first, so that layer_norm finds them with these initial values.
            for name, value in (("gamma", self._gain), ("beta", self._shift)):
                v1.get_variable(name, x.shape.as_list()[-1:],
                                initializer=v1.constant_initializer(value))
        return layer_norm(x, reuse=True, scope=scope)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        c, h = state
        args = tf.concat([inputs, h], 1)
        depth = static_size(args.shape, 1, "LayerNormBasicLSTMCell")
        kernel = v1.get_variable("kernel", [depth, 4 * self._num_units], dtype=args.dtype)
        gates = tf.matmul(args, kernel)
        if not self._layer_norm:
            gates = tf.nn.bias_add(gates, v1.get_variable(
                "bias", [4 * self._num_units], args.dtype, v1.zeros_initializer()))
        i, j, f, o = tf.split(gates, 4, axis=1)
        i, j = self._normed(i, "input"), self._normed(j, "transform")
        f, o = self._normed(f, "forget"), self._normed(o, "output")
        candidate = self._activation(j)
        if tf.is_tensor(self._keep_prob) or self._keep_prob < 1:
            candidate = v1.nn.dropout(candidate, rate=1 - self._keep_prob, seed=self._seed)
        c = c * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * candidate
        c = self._normed(c, "state")
        h = self._activation(c) * tf.sigmoid(o)
        return h, LSTMStateTuple(c, h)


def _projected(x: Any, size: int) -> Any:
    depth = static_size(x.shape, 1, "projection")
    kernel = v1.get_variable("kernel", [depth, size], dtype=x.dtype)
    bias = v1.get_variable("bias", [size], x.dtype, v1.zeros_initializer())
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


class InputProjectionWrapper(RNNCell):
    """A cell whose inputs are first projected to ``num_proj``."""

    def __init__(self, cell: Any, num_proj: int, activation: Callable[[Any], Any] | None = None,
                 input_size: Any = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._cell, self._num_proj, self._activation = cell, num_proj, activation

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        inputs = _projected(inputs, self._num_proj)
        return self._cell(inputs if self._activation is None else self._activation(inputs), state)


class OutputProjectionWrapper(RNNCell):
    """A cell whose outputs are projected to ``output_size``."""

    def __init__(self, cell: Any, output_size: int,
                 activation: Callable[[Any], Any] | None = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self._cell, self._size, self._activation = cell, output_size, activation

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> int:
        return self._size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        output, state = self._cell(inputs, state)
        output = _projected(output, self._size)
        return output if self._activation is None else self._activation(output), state
