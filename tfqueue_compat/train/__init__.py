# SPDX-License-Identifier: Apache-2.0
"""The graph machine: trainers, and what a training is described by."""

from __future__ import annotations

import importlib

from .base import StopTraining, Trainer
from .config import AutoResumeTrainConfig, DEFAULT_CALLBACKS, DEFAULT_MONITORS, TrainConfig
from .interface import launch_train_with_config
from .model_desc import InputDesc, ModelDesc, ModelDescBase
from .tower import SingleCostTrainer, TowerTrainer
from .trainers import (AsyncMultiGPUTrainer, BytePSTrainer, DistributedTrainerParameterServer,
                       DistributedTrainerReplicated, HorovodTrainer, NoOpTrainer,
                       QueueInputTrainer, SimpleTrainer, SyncMultiGPUTrainer,
                       SyncMultiGPUTrainerParameterServer, SyncMultiGPUTrainerReplicated)

__all__ = ["AsyncMultiGPUTrainer", "AutoResumeTrainConfig", "BytePSTrainer", "DEFAULT_CALLBACKS",
           "DEFAULT_MONITORS", "DistributedTrainerParameterServer", "DistributedTrainerReplicated",
           "HorovodTrainer", "InputDesc", "ModelDesc", "ModelDescBase", "NoOpTrainer",
           "QueueInputTrainer", "SimpleTrainer", "SingleCostTrainer", "StopTraining",
           "SyncMultiGPUTrainer", "SyncMultiGPUTrainerParameterServer",
           "SyncMultiGPUTrainerReplicated", "TowerTrainer", "TrainConfig", "Trainer",
           "launch_train_with_config", "global_import"]


def global_import(name: str) -> None:
    """Import a module of this package now, and put its public names here.

    Args:
        name: e.g. ``"trainers"``.
    """
    module = importlib.import_module(f"{__name__}.{name}")
    globals().update({n: getattr(module, n) for n in module.__all__})
