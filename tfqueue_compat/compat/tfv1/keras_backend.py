# SPDX-License-Identifier: Apache-2.0
"""``tf.keras.backend`` and the learning phase, which Keras 3 has no more."""

from __future__ import annotations

import weakref
from typing import Any

import tensorflow as _tf

__all__ = ["learning_phase", "set_learning_phase"]

_v1 = _tf.compat.v1

_phases: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def learning_phase() -> Any:
    """Return the learning phase: 0 for inference, 1 for training.

    Returns:
        In a graph a scalar bool placeholder that is False unless fed, one per graph; 0 eagerly;
        or what ``set_learning_phase`` set. Keras 3's own layers do not read it: hand it to them
        as ``training=``.
    """
    graph = _v1.get_default_graph()
    if graph not in _phases:
        if _v1.executing_eagerly():
            return 0
        _phases[graph] = _v1.placeholder_with_default(False, [], name="keras_learning_phase")
    return _phases[graph]


def set_learning_phase(value: int | bool) -> None:
    """Fix the learning phase of the default graph to 0 or 1."""
    _phases[_v1.get_default_graph()] = int(value)


def __getattr__(name: str) -> Any:
    return getattr(_tf.keras.backend, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_tf.keras.backend)})
