# SPDX-License-Identifier: Apache-2.0
"""What TF 1's recurrent cells share: states, and layers called with (inputs, state)."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...utils.errors import say
from .layers_base import Layer
from .layers_spec import InputSpec

__all__ = ["LSTMStateTuple", "RNNCell", "LayerRNNCell", "activation_of", "states_of"]

v1 = tf.compat.v1


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """An LSTM's state: ``c`` the cell, ``h`` the output, both (batch, unit)."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both.

        Raises:
            TypeError: where they differ.
        """
        if self.c.dtype != self.h.dtype:
            raise TypeError(say("LSTMStateTuple", expected="c and h of one dtype",
                                received=f"{self.c.dtype} and {self.h.dtype}", do="Cast one."))
        return self.c.dtype


def activation_of(activation: Any, default: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function from a function, its name in ``tf.nn``, or None for ``default``."""
    if activation is None:
        return default
    return getattr(tf.nn, activation) if isinstance(activation, str) else activation


def states_of(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros of (batch_size, *size) for each size in a structure of sizes."""
    known = tf.get_static_value(batch_size) if tf.is_tensor(batch_size) else batch_size

    def zeros(one: Any) -> tf.Tensor:
        sizes = [int(one)] if hasattr(one, "__index__") else (
            tf.TensorShape(one).as_list())
        state = tf.zeros(tf.stack([batch_size, *sizes]), dtype)
        if not v1.executing_eagerly():
            state.set_shape([None if known is None else int(known), *sizes])
        return state

    if isinstance(size, tf.TensorShape):
        return zeros(size)
    return tf.nest.map_structure(zeros, size)


class RNNCell(Layer):
    """Base of recurrent cells: ``output, new_state = cell(inputs, state)``.

    A subclass gives ``state_size`` and ``output_size`` (an int, a TensorShape or a structure of
    them) and ``call(inputs, state)``; there it may create variables by ``tf.get_variable``, which
    are found again at the next time step.
    """

    def __call__(self, inputs: Any, state: Any = None, scope: Any = None,  # type: ignore[override]
                 *args: Any, **kwargs: Any) -> Any:
        """Run one time step.

        Args:
            inputs: (batch, input).
            state: a structure as ``state_size``, each (batch, size).
            scope: a VariableScope or name to create variables in.
        """
        around = v1.get_variable_scope() if scope is None else scope
        with v1.variable_scope(around, custom_getter=self._noting) as opened:
            given = {} if scope is None else {"scope": opened}
            return super().__call__(inputs, state, *args, **given, **kwargs)

    def _noting(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        mine = self._trainable_weights + self._non_trainable_weights
        if not any(variable is v for v in mine):
            trainable = kwargs.get("trainable", True) is not False
            (self._trainable_weights if trainable else self._non_trainable_weights).append(
                variable)
        return variable

    @property
    def state_size(self) -> Any:
        """Size of the state, without the batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_size")

    @property
    def output_size(self) -> Any:
        """Size of the output, without the batch."""
        raise NotImplementedError(f"{type(self).__name__} does not define output_size")

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Return a state of zeros, in the structure of ``state_size``.

        Args:
            batch_size: an int or a scalar tensor.
            dtype: dtype of the zeros.
        """
        with tf.name_scope(type(self).__name__ + "ZeroState"):
            return states_of(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None,
                          dtype: Any = None) -> Any:
        """Return ``zero_state`` for the batch of ``inputs``, or for ``batch_size`` and ``dtype``.

        Raises:
            ValueError: where neither is given.
        """
        if inputs is not None:
            inputs = tf.convert_to_tensor(inputs)
            batch_size = inputs.shape.as_list()[0] or tf.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(say("get_initial_state", expected="inputs, or batch_size and dtype",
                                 received=f"batch_size={batch_size}, dtype={dtype}",
                                 do="Pass one of the two."))
        return self.zero_state(batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that creates its weights in ``build``, as other layers do."""

    def __init__(self, activation: Any = None, reuse: Any = None, name: str | None = None,
                 dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._activation = activation_of(activation, tf.tanh)

    def __call__(self, inputs: Any, state: Any = None, scope: Any = None,  # type: ignore[override]
                 *args: Any, **kwargs: Any) -> Any:
        """Run one time step: see ``RNNCell``."""
        given = {} if scope is None else {"scope": scope}
        return Layer.__call__(self, inputs, state, *args, **given, **kwargs)

    def _linear(self, inputs: list[Any], kernel: Any, bias: Any) -> tf.Tensor:
        return tf.nn.bias_add(tf.matmul(tf.concat(inputs, 1), kernel), bias)
