# SPDX-License-Identifier: Apache-2.0
"""TF 1's namespace on TF 2: ``tf.compat.v1``, and what Keras 3 took away from it.

``import tfqueue_compat.compat.tfv1 as tf`` serves a script that says ``import tensorflow as tf``
and means TF 1. Names are found when first used; nothing in TensorFlow is changed.

Example:
    >>> import tfqueue_compat.compat.tfv1 as tf
    >>> with tf.Graph().as_default():
    ...     y = tf.layers.dense(tf.placeholder(tf.float32, [None, 4]), 10)
    ...     [v.name for v in tf.global_variables()]
    ['dense/kernel:0', 'dense/bias:0']
"""

from __future__ import annotations

import importlib
from typing import Any

import tensorflow.compat.v1 as _v1

from ...utils.errors import say
from .gone import NotThere, advice
from .modules import lend_modules
from .modes import (disable_eager_execution, disable_v2_behavior, enable_eager_execution,
                    reset_default_graph)

__all__ = ["compat", "contrib", "disable_eager_execution", "disable_v2_behavior",
           "enable_eager_execution", "keras", "layers", "nn", "reset_default_graph"]

#: Submodules that are names of TF 1, and loaded when asked for.
_OWN = ("compat", "contrib", "keras", "layers", "nn")

lend_modules(_v1, __name__, _OWN)


def __getattr__(name: str) -> Any:
    if name in _OWN:
        return importlib.import_module(f"{__name__}.{name}")
    try:
        value = getattr(_v1, name)
    except AttributeError:
        raise NotThere(say(f"tf.{name}", expected="a name of TF 1 that is alive today",
                           received=repr(name), do=advice(name, dir(_v1)))) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *dir(_v1)})
