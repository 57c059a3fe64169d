# SPDX-License-Identifier: Apache-2.0
"""Models as functions of arrays: predictors."""

from __future__ import annotations

import importlib

from .base import OfflinePredictor, OnlinePredictor, PredictorBase
from .concurrency import MultiThreadAsyncPredictor
from .config import PredictConfig
from .dataset import DatasetPredictorBase, MultiProcessDatasetPredictor, SimpleDatasetPredictor
from .feedfree import FeedfreePredictor
from .multigpu import DataParallelOfflinePredictor, MultiTowerOfflinePredictor

__all__ = ["DataParallelOfflinePredictor", "DatasetPredictorBase", "FeedfreePredictor",
           "MultiProcessDatasetPredictor", "MultiThreadAsyncPredictor",
           "MultiTowerOfflinePredictor", "OfflinePredictor", "OnlinePredictor", "PredictConfig",
           "PredictorBase", "SimpleDatasetPredictor", "global_import"]


def global_import(name: str) -> None:
    """Import a module of this package now, and put its public names here.

    Args:
        name: e.g. ``"base"``.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    globals().update({n: getattr(module, n) for n in module.__all__})
