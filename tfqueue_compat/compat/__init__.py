# SPDX-License-Identifier: Apache-2.0
"""Which TensorFlow we speak: TF 1's names on TF 2. Importing this loads no TensorFlow."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["TensorSpec", "enter_graph", "graph_mode", "is_tfv2", "leave_graph", "tensor_spec",
           "tfv1", "tfv1_import", "tfv1_target"]

_MODULES = ("graph_mode_", "internals", "targets", "tensor_spec", "tfv1")
_HOMES = {"TensorSpec": "tensor_spec", "enter_graph": "graph_mode_", "graph_mode": "graph_mode_",
          "leave_graph": "graph_mode_", "tfv1_import": "targets", "tfv1_target": "targets"}


def is_tfv2() -> bool:
    """Return whether TensorFlow's v2 behavior is on, as it is by default.

    It is off after ``tf.compat.v1.disable_v2_behavior()``. A graph does not change it.
    """
    from .internals import v2_behavior
    return v2_behavior()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
