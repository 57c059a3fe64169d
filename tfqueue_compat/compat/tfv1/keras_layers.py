# SPDX-License-Identifier: Apache-2.0
"""``tf.keras.layers``: Keras 3's, and inputs over tensors, which Keras 3 has no more."""

from __future__ import annotations

from typing import Any

import tensorflow as _tf

__all__ = ["Input", "InputLayer"]


def _of_tensor(tensor: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The shape and dtype of a tensor, for Keras 3, which wants no tensor."""
    if tensor is None or not _tf.is_tensor(tensor):
        return kwargs if tensor is None else {**kwargs, "input_tensor": tensor}
    return {"batch_shape": tuple(tensor.shape.as_list()), "dtype": tensor.dtype.name, **kwargs}


def InputLayer(input_shape: Any = None, input_tensor: Any = None, **kwargs: Any) -> Any:
    """Return a ``keras.layers.InputLayer``.

    Args:
        input_shape: without the batch dimension.
        input_tensor: a tensor whose shape and dtype the layer takes over. The model is not bound
            to it: call the model on the tensor, as ``contrib.keras`` does.
        **kwargs: as of Keras 3.

    Example:
        >>> import tensorflow as tf
        >>> with tf.Graph().as_default():
        ...     InputLayer(input_tensor=tf.zeros([8, 3])).batch_shape
        (8, 3)
    """
    given = {} if input_shape is None else {"shape": tuple(input_shape)}
    return _tf.keras.layers.InputLayer(**given, **_of_tensor(input_tensor, kwargs))


def Input(shape: Any = None, tensor: Any = None, **kwargs: Any) -> Any:
    """Return a symbolic input of a Keras model: ``keras.Input``.

    Args:
        shape: without the batch dimension.
        tensor: as ``input_tensor`` of ``InputLayer``.
        **kwargs: as of Keras 3.
    """
    given = {} if shape is None else {"shape": tuple(shape)}
    if tensor is None or not _tf.is_tensor(tensor):
        return _tf.keras.Input(**given, **kwargs, **({} if tensor is None else {"tensor": tensor}))
    return _tf.keras.Input(**given, **_of_tensor(tensor, kwargs))


def __getattr__(name: str) -> Any:
    return getattr(_tf.keras.layers, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_tf.keras.layers)})
