# SPDX-License-Identifier: Apache-2.0
"""Trainers: on one device, on several GPUs, on several machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..callbacks.graph import RunOp
from ..graph_builder.training import (AsyncMultiGPUBuilder, SyncMultiGPUParameterServerBuilder,
                                      SyncMultiGPUReplicatedBuilder)
from ..input_source.input_source_base import InputSource
from ..tfutils.tower import TrainTowerContext
from ..utils import logger
from ..utils.errors import say
from .cluster import (BytePSTrainer, DistributedTrainerBase, DistributedTrainerParameterServer,
                      DistributedTrainerReplicated, HorovodTrainer)
from .config import TrainConfig
from .tower import SingleCostTrainer

__all__ = ["AsyncMultiGPUTrainer", "BytePSTrainer", "DistributedTrainerBase",
           "DistributedTrainerParameterServer", "DistributedTrainerReplicated", "HorovodTrainer",
           "NoOpTrainer", "QueueInputTrainer", "SimpleTrainer", "SyncMultiGPUTrainer",
           "SyncMultiGPUTrainerParameterServer", "SyncMultiGPUTrainerReplicated", "logger"]

v1 = tf.compat.v1
_MANY_GPUS = 8  # from here on variables on the CPU are shared by too many


class SimpleTrainer(SingleCostTrainer):
    """Trains in one tower, on the default device.

    Args:
        *args: nothing, or a TrainConfig, as before 0.8.
    """

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        logger.info("Building graph for a single training tower ...")
        with TrainTowerContext(""):
            grads = self._make_get_grad_fn(input, get_cost_fn, get_opt_fn)()
            self.train_op = get_opt_fn().apply_gradients(grads, name="train_op")
        return []


class QueueInputTrainer(SimpleTrainer):
    """SimpleTrainer; a dataflow given to it is put behind a queue.

    Args:
        *args: nothing, or a TrainConfig: ``QueueInputTrainer(config).train()``.
    """


class NoOpTrainer(SimpleTrainer):
    """Builds the graph of a SimpleTrainer, and runs the callbacks, but no step."""

    def run_step(self) -> None:
        """Run the callbacks' part of a step."""
        self.hooked_sess.run([])


class _MultiGPU(SingleCostTrainer):
    """What trainers on several GPUs share.

    Attributes:
        devices: the GPUs' numbers, one for each tower.
    """

    devices: list[int]

    def _set_devices(self, gpus: Any) -> None:
        """From a list, a number of GPUs, or the TrainConfig of old."""
        config = gpus if isinstance(gpus, TrainConfig) else None
        self.devices = _numbers(type(self).__name__, gpus.tower if config else gpus)
        super().__init__(*([config] if config else []))


def _numbers(who: str, gpus: Any) -> list[int]:
    numbers = list(range(gpus)) if isinstance(gpus, int) else [int(g) for g in gpus]
    if not numbers or len(set(numbers)) != len(numbers):
        raise ValueError(say(who, expected="GPU numbers, each once", received=repr(gpus),
                             do="Pass e.g. [0, 1], or how many."))
    return numbers


class SyncMultiGPUTrainerParameterServer(_MultiGPU):
    """Trains in several towers with shared variables, on the average of their gradients.

    A step takes one datapoint for each tower.

    Args:
        gpus: GPU numbers, or how many.
        ps_device: ``"gpu"``: variables are spread over the GPUs; ``"cpu"``: they are on the CPU.
            By default the first, for less than 8 GPUs.
        predict_tower: of old; not needed any more.
    """

    def __init__(self, gpus: Any, ps_device: str | None = None, predict_tower: Any = None) -> None:
        self._set_devices(gpus)
        if ps_device is None:
            ps_device = "gpu" if len(self.devices) < _MANY_GPUS else "cpu"
        self._builder = SyncMultiGPUParameterServerBuilder(self.devices, ps_device)

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        grads = self._builder.call_for_each_tower(
            self._make_get_grad_fn(input, get_cost_fn, get_opt_fn))
        self.train_op = self._builder.build(grads, get_opt_fn)
        return []


class AsyncMultiGPUTrainer(_MultiGPU):
    """Trains in several towers with shared variables, each applying its gradients by itself.

    A step is one update by each tower, in any order.

    Args:
        gpus: GPU numbers, or how many.
        scale_gradient: whether gradients are divided by the number of towers.
        predict_tower: of old; not needed any more.
    """

    def __init__(self, gpus: Any, scale_gradient: bool = True, predict_tower: Any = None) -> None:
        self._set_devices(gpus)
        self._builder = AsyncMultiGPUBuilder(self.devices, scale_gradient)

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        grads = self._builder.call_for_each_tower(
            self._make_get_grad_fn(input, get_cost_fn, get_opt_fn))
        self.train_op = self._builder.build(grads, get_opt_fn)
        return []


class SyncMultiGPUTrainerReplicated(_MultiGPU):
    """Trains in several towers with variables of their own, kept equal.

    A step takes one datapoint for each tower.

    Args:
        gpus: GPU numbers, or how many.
        average: whether gradients are averaged, or summed.
        mode: how they are summed: ``"nccl"``, ``"collective"``, ``"hierarchical"`` (8 GPUs),
            ``"cpu"`` or ``"gpu"``. By default ``"hierarchical"`` on 8 GPUs, ``"nccl"`` on some,
            ``"cpu"`` without any.

    Attributes:
        BROADCAST_EVERY_EPOCH: whether the first tower's variables are copied to the others' at
            the end of each epoch. It evens out what gradients don't move: statistics.
    """

    BROADCAST_EVERY_EPOCH = True

    def __init__(self, gpus: Any, average: bool = True, mode: str | None = None) -> None:
        self._set_devices(gpus)
        if mode is None:
            mode = _default_mode(len(self.devices))
        self._builder = SyncMultiGPUReplicatedBuilder(self.devices, average, mode.lower())

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        grads = self._builder.call_for_each_tower(
            self._make_get_grad_fn(input, get_cost_fn, get_opt_fn))
        self.train_op, post_init_op = self._builder.build(grads, get_opt_fn)
        if len(self.devices) == 1:
            return []
        broadcast = RunOp(post_init_op, run_before=True,
                          run_as_trigger=self.BROADCAST_EVERY_EPOCH, verbose=True)
        return [broadcast.set_chief_only(False)]


def _default_mode(towers: int) -> str:
    if not tf.config.list_physical_devices("GPU"):
        return "cpu"
    return "hierarchical" if towers == 8 else "nccl"


def SyncMultiGPUTrainer(gpus: Any, predict_tower: Any = None) -> SingleCostTrainer:
    """Return a trainer for these GPUs: a SimpleTrainer for one, else a synchronous one.

    Args:
        gpus: GPU numbers, how many, or a TrainConfig, as before 0.8.
        predict_tower: of old; not needed any more.

    Example:
        >>> type(SyncMultiGPUTrainer([0])).__name__
        'SimpleTrainer'
    """
    numbers = _numbers("SyncMultiGPUTrainer",
                       gpus.tower if isinstance(gpus, TrainConfig) else gpus)
    if len(numbers) == 1:
        return SimpleTrainer(*([gpus] if isinstance(gpus, TrainConfig) else []))
    return SyncMultiGPUTrainerParameterServer(gpus, ps_device="gpu")
