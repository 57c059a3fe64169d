# SPDX-License-Identifier: Apache-2.0
"""Models as functions of arrays: predictors."""

from .base import OfflinePredictor, OnlinePredictor, PredictorBase
from .concurrency import MultiThreadAsyncPredictor
from .config import PredictConfig
from .dataset import DatasetPredictorBase, MultiProcessDatasetPredictor, SimpleDatasetPredictor
from .feedfree import FeedfreePredictor
from .multigpu import DataParallelOfflinePredictor, MultiTowerOfflinePredictor

__all__ = ["DataParallelOfflinePredictor", "DatasetPredictorBase", "FeedfreePredictor",
           "MultiProcessDatasetPredictor", "MultiThreadAsyncPredictor",
           "MultiTowerOfflinePredictor", "OfflinePredictor", "OnlinePredictor", "PredictConfig",
           "PredictorBase", "SimpleDatasetPredictor"]
