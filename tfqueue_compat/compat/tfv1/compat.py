# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.compat``: ``v1`` is this namespace, ``v2`` is TensorFlow 2."""

from __future__ import annotations

from typing import Any

import tensorflow as _tf
import tensorflow as v2

from .. import tfv1 as v1

__all__ = ["v1", "v2"]


def __getattr__(name: str) -> Any:
    return getattr(_tf.compat, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_tf.compat)})
