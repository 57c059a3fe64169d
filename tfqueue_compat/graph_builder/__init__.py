# SPDX-License-Identifier: Apache-2.0
"""From one tower to many: model descriptions, and how towers' gradients become one step."""

from __future__ import annotations

import importlib

from . import distributed
from .model_desc import InputDesc, ModelDesc, ModelDescBase
from .training import DataParallelBuilder
from .utils import LeastLoadedDeviceSetter, allreduce_grads

__all__ = ["DataParallelBuilder", "InputDesc", "LeastLoadedDeviceSetter", "ModelDesc",
           "ModelDescBase", "allreduce_grads", "distributed",
           "global_import"]


def global_import(name: str) -> None:
    """Import a module of this package now, and put its public names here.

    Args:
        name: e.g. ``"training"``.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    globals().update({n: getattr(module, n) for n in module.__all__})
