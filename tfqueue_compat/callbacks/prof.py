# SPDX-License-Identifier: Apache-2.0
"""How fast training is, and what it uses: throughput, memory, GPUs, single operations."""

from __future__ import annotations

import os
import time
from typing import Any

import tensorflow as tf

from ..compat.internals import chrome_trace
from ..engine.hooks import Callback
from ..utils import logger
from ..utils.errors import require, say
from .gpu import GPUMemoryTracker, GPUUtilizationTracker, PeakMemoryTracker
from .graph import log_dir_of

__all__ = ["GPUMemoryTracker", "GPUUtilizationTracker", "GraphProfiler", "HostMemoryTracker",
           "PeakMemoryTracker", "ThroughputTracker"]

v1 = tf.compat.v1


class GraphProfiler(Callback):
    """Traces each step, and writes what it took to the log directory.

    Tracing is slow. To trace some steps only, wrap it:
    ``EnableCallbackIf(GraphProfiler(), lambda self: 20 < self.global_step < 30)``.

    Args:
        dump_metadata: write the ``tf.compat.v1.RunMetadata`` to ``runmetadata-<global_step>.pb``.
        dump_tracing: write ``chrome-trace-<global_step>.json``, for ``chrome://tracing``.
        dump_event: hand it to the monitors, for TensorBoard.
    """

    def __init__(self, dump_metadata: bool = False, dump_tracing: bool = True,
                 dump_event: bool = False) -> None:
        self._dir = log_dir_of("GraphProfiler", None)
        self._dump_meta = bool(dump_metadata)
        self._dump_tracing = bool(dump_tracing)
        self._dump_event = bool(dump_event)
        if os.path.isdir(self._dir) is False:
            raise ValueError(say("GraphProfiler", expected="a log directory that exists",
                                 received=self._dir, do="Call logger.set_logger_dir(dir)."))

    def _before_run(self, ctx: Any) -> Any:
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        return v1.train.SessionRunArgs(fetches=[], options=options)

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        metadata = run_values.run_metadata
        if self._dump_meta:
            with open(self._path("runmetadata-{}.pb"), "wb") as f:
                f.write(metadata.SerializeToString())
        if self._dump_tracing:
            with open(self._path("chrome-trace-{}.json"), "w", encoding="utf-8") as t:
                t.write(chrome_trace(metadata.step_stats))
        if self._dump_event:
            event = v1.Event()
            event.tagged_run_metadata.tag = f"global_step-{self.global_step}"
            event.tagged_run_metadata.run_metadata = metadata.SerializeToString()
            self.trainer.monitors.put_event(event)

    def _path(self, pattern: str) -> str:
        return os.path.join(self._dir, pattern.format(self.global_step))


class HostMemoryTracker(Callback):
    """Reports the memory that the machine has left, as ``HostFreeMemory (GB)``."""

    _chief_only = False

    def __init__(self) -> None:
        self._psutil = require("psutil", "psutil", "HostMemoryTracker")

    def _setup_graph(self) -> None:
        logger.info("[HostMemoryTracker] Free RAM in setup_graph() is %.2f GB.", self._free_ram())

    def _before_train(self) -> None:
        logger.info("[HostMemoryTracker] Free RAM in before_train() is %.2f GB.",
                    self._free_ram())

    def _free_ram(self) -> float:
        return float(self._psutil.virtual_memory().available) / 1024**3

    def _trigger(self) -> None:
        self.trainer.monitors.put_scalar("HostFreeMemory (GB)", self._free_ram())


class ThroughputTracker(Callback):
    """Reports how many steps or samples a second training does, each time it is triggered.

    The time that callbacks take after an epoch is left out.

    Args:
        samples_per_step: samples in a step; then ``Throughput (samples/sec)`` is reported, and
            otherwise ``Throughput (steps/sec)``.
    """

    _chief_only = False

    def __init__(self, samples_per_step: int | None = None) -> None:
        if samples_per_step is not None:
            samples_per_step = int(samples_per_step)
        self._samples_per_step = samples_per_step
        self._begin = self._left_out = 0.0
        self._epoch_end: float | None = None
        self._step = 0

    def _start_anew(self) -> None:
        self._begin = time.perf_counter()
        self._left_out = 0.0
        self._step = self.global_step

    def _before_train(self) -> None:
        self._epoch_end = None
        self._start_anew()

    def _before_epoch(self) -> None:
        if self._epoch_end is not None:
            self._left_out += time.perf_counter() - max(self._epoch_end, self._begin)
            self._epoch_end = None

    def _after_epoch(self) -> None:
        self._epoch_end = time.perf_counter()

    def _trigger(self) -> None:
        now = time.perf_counter() if self._epoch_end is None else self._epoch_end
        seconds = now - self._begin - self._left_out
        steps = self.global_step - self._step
        self._start_anew()
        if steps <= 0 or seconds <= 0:
            return
        rate = steps / seconds
        if self._samples_per_step is None:
            self.trainer.monitors.put_scalar("Throughput (steps/sec)", rate)
        else:
            self.trainer.monitors.put_scalar("Throughput (samples/sec)",
                                             rate * self._samples_per_step)
