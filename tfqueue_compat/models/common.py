# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of what layers are made with."""

from __future__ import annotations

from .registry import disable_layer_logging, layer_register
from .tflayer import rename_tflayer_get_variable
from .utils import VariableHolder

__all__ = ["VariableHolder", "disable_layer_logging", "layer_register",
           "rename_tflayer_get_variable"]
