# SPDX-License-Identifier: Apache-2.0
"""From one tower to many: model descriptions, and how towers' gradients become one step."""

from __future__ import annotations

from . import distributed
from .model_desc import InputDesc, ModelDesc, ModelDescBase
from .training import DataParallelBuilder
from .utils import LeastLoadedDeviceSetter, allreduce_grads

__all__ = ["DataParallelBuilder", "InputDesc", "LeastLoadedDeviceSetter", "ModelDesc",
           "ModelDescBase", "allreduce_grads", "distributed"]
