# SPDX-License-Identifier: Apache-2.0
"""contrib.layers without a kernel window: fully connected, dropout, reshapes, stacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from .. import layers as core
from .arg_scope_ import add_arg_scope
from .initializers import xavier_initializer
from .layer_scope import Collections, collect, finish, layer_scope

__all__ = ["bias_add", "dropout", "flatten", "fully_connected", "linear", "one_hot_encoding",
           "relu", "relu6", "repeat", "softmax", "stack", "unit_norm"]

v1 = tf.compat.v1
Function = Callable[..., Any] | None
_ZEROS = v1.zeros_initializer()
_XAVIER = xavier_initializer()


@add_arg_scope
def fully_connected(inputs: Any, num_outputs: int, activation_fn: Function = tf.nn.relu,
                    normalizer_fn: Function = None,
                    normalizer_params: Mapping[str, Any] | None = None,
                    weights_initializer: Any = _XAVIER, weights_regularizer: Any = None,
                    biases_initializer: Any = _ZEROS, biases_regularizer: Any = None,
                    reuse: Any = None, variables_collections: Collections = None,
                    outputs_collections: Any = None, trainable: bool = True,
                    scope: Any = None) -> Any:
    """Multiply the last axis by ``weights`` and add ``biases``; scope ``fully_connected``.

    There are no biases where ``normalizer_fn`` is given.
    """
    inputs = tf.convert_to_tensor(inputs)
    names = {"kernel": "weights", "bias": "biases"}
    with layer_scope(scope, "fully_connected", inputs, reuse, names,
                     variables_collections) as opened:
        use_bias = normalizer_fn is None and biases_initializer is not None
        layer = core.Dense(
            num_outputs, use_bias=use_bias, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, trainable=trainable, name=opened.name,
            _scope=opened, _reuse=reuse)
        return finish(layer(inputs), opened, normalizer_fn, normalizer_params, activation_fn,
                      outputs_collections)


def linear(*args: Any, **kwargs: Any) -> Any:
    """Return ``fully_connected`` without an activation."""
    return fully_connected(*args, **{"activation_fn": None, **kwargs})


def relu(*args: Any, **kwargs: Any) -> Any:
    """Return ``fully_connected`` with relu."""
    return fully_connected(*args, **{"activation_fn": tf.nn.relu, **kwargs})


def relu6(*args: Any, **kwargs: Any) -> Any:
    """Return ``fully_connected`` with relu6."""
    return fully_connected(*args, **{"activation_fn": tf.nn.relu6, **kwargs})


@add_arg_scope
def bias_add(inputs: Any, activation_fn: Function = None, initializer: Any = _ZEROS,
             regularizer: Any = None, reuse: Any = None,
             variables_collections: Collections = None, outputs_collections: Any = None,
             trainable: bool = True, data_format: str = "NHWC", scope: Any = None) -> Any:
    """Add ``biases``, one per channel; scope ``BiasAdd``."""
    inputs = tf.convert_to_tensor(inputs)
    with layer_scope(scope, "BiasAdd", inputs, reuse, None, variables_collections) as opened:
        size = inputs.shape.as_list()[1 if data_format.startswith("NC") else -1]
        biases = v1.get_variable("biases", [size], inputs.dtype.base_dtype, initializer,
                                 regularizer, trainable)
        outputs = v1.nn.bias_add(inputs, biases, data_format=data_format)
        return finish(outputs, opened, None, None, activation_fn, outputs_collections)


@add_arg_scope
def dropout(inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
            outputs_collections: Any = None, scope: Any = None, seed: int | None = None) -> Any:
    """Keep a share ``keep_prob`` of the inputs, scaled up, where ``is_training``."""
    with v1.variable_scope(scope, "Dropout", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        outputs = core.Dropout(1 - keep_prob, noise_shape, seed).call(inputs, is_training)
        return collect(outputs_collections, opened.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """Reshape to (batch, everything else)."""
    with tf.name_scope(scope or "Flatten") as name:
        outputs = core.Flatten().call(tf.convert_to_tensor(inputs))
        return collect(outputs_collections, name.rstrip("/"), outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last axis."""
    with v1.variable_scope(scope, "softmax", [logits]):
        return tf.nn.softmax(logits)


@add_arg_scope
def one_hot_encoding(labels: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0,
                     outputs_collections: Any = None, scope: Any = None) -> Any:
    """Labels as rows of zeros with a one (int64 labels, as contrib's)."""
    with tf.name_scope(scope or "OneHotEncoding") as name:
        labels = tf.cast(tf.convert_to_tensor(labels), tf.int64)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect(outputs_collections, name.rstrip("/"), outputs)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Divide by the Euclidean length along an axis."""
    with v1.variable_scope(scope, "UnitNorm", [inputs]):
        return inputs / tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, keepdims=True))


def _label(layer: Callable[..., Any], default: str) -> str:
    return getattr(layer, "__name__", default)


@add_arg_scope
def repeat(inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any,
           **kwargs: Any) -> Any:
    """Apply a layer several times in a row; scopes ``scope/scope_1``, ``scope/scope_2``, ..."""
    scope = kwargs.pop("scope", None)
    with v1.variable_scope(scope, "Repeat", [inputs]):
        name = _label(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            inputs = layer(inputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
    return inputs


@add_arg_scope
def stack(inputs: Any, layer: Callable[..., Any], stack_args: Sequence[Any],
          **kwargs: Any) -> Any:
    """Apply a layer in a row with other arguments each time; scopes ``scope/scope_1``, ..."""
    scope = kwargs.pop("scope", None)
    with v1.variable_scope(scope, "Stack", [inputs]):
        name = _label(layer, "stack") if scope is None else scope
        for i, given in enumerate(stack_args):
            given = given if isinstance(given, (list, tuple)) else [given]
            inputs = layer(inputs, *given, **{**kwargs, "scope": f"{name}_{i + 1}"})
    return inputs
