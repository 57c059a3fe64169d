# SPDX-License-Identifier: Apache-2.0
"""What the GPUs do during training. Without a GPU these callbacks say so, and do nothing."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..engine.hooks import Callback
from ..utils import logger
from ..utils.gpu import get_num_gpu
from ..utils.nvml import NVMLContext

__all__ = ["GPUMemoryTracker", "GPUUtilizationTracker", "PeakMemoryTracker"]

_EVERY = 1.0  # seconds between two looks at a GPU


class GPUUtilizationTracker(Callback):
    """Reports how busy each GPU was in an epoch, in percent, as ``GPUUtil/<number>``.

    A thread asks NVML every second, between an epoch's first and last step.

    Args:
        devices: numbers of the GPUs, as ``nvidia-smi`` has them; by default those that
            ``CUDA_VISIBLE_DEVICES`` names, or else all.
    """

    _chief_only = False

    def __init__(self, devices: Sequence[int] | None = None) -> None:
        self._devices = self._guess_devices() if devices is None else list(devices)
        if not self._devices:
            logger.warning("[GPUUtilizationTracker] There is no GPU: nothing will be reported.")
        self._evt = threading.Event()
        self._stop_evt = threading.Event()
        self._queue: queue.Queue[Any] = queue.Queue()
        self._thread: threading.Thread | None = None

    @staticmethod
    def _guess_devices() -> list[int]:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            return list(range(get_num_gpu()))
        return [int(n) for n in visible.split(",") if n.strip().isdigit()]

    def _before_train(self) -> None:
        if not self._devices:
            return
        self._evt.clear()
        self._stop_evt.clear()
        self._thread = threading.Thread(
            target=self.worker, name="GPUUtilizationTracker", daemon=True,
            args=(self._evt, self._queue, self._stop_evt, self._devices))
        self._thread.start()

    def _before_epoch(self) -> None:
        self._evt.set()

    def _after_epoch(self) -> None:
        self._evt.clear()

    def _trigger_epoch(self) -> None:
        if self._thread is None:
            return
        try:
            shares = self._queue.get(timeout=60)
        except queue.Empty:
            shares = None
        if isinstance(shares, Exception):
            raise shares
        if shares is not None:
            for device, share in zip(self._devices, shares):
                self.trainer.monitors.put_scalar(f"GPUUtil/{device}", share)

    def _after_train(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._stop_evt.set()
            self._evt.set()
            thread.join(10)

    @staticmethod
    def worker(evt: Any, rst_queue: Any, stop_evt: Any, devices: Sequence[int]) -> None:
        """Ask the GPUs, again and again, and average over each epoch.

        Args:
            evt: set while an epoch runs.
            rst_queue: gets the percentages of an epoch, one for each GPU, or an error.
            stop_evt: set when it is over.
            devices: numbers of the GPUs.
        """
        try:
            with NVMLContext() as context:
                handles = [context.device(k) for k in devices]
                while True:
                    evt.wait()
                    if stop_evt.is_set():
                        return
                    seen = []
                    while evt.is_set() and not stop_evt.is_set():
                        seen.append([h.utilization()["gpu"] for h in handles])
                        stop_evt.wait(_EVERY)
                    if stop_evt.is_set():
                        return
                    rst_queue.put(np.mean(seen, axis=0) if seen else None)
        except Exception as e:  # of NVML; raised where the result is awaited
            rst_queue.put(e)


class PeakMemoryTracker(Callback):
    """Reports the most memory that was in use on each GPU, as ``PeakMemory(MB)/gpu:<number>``.

    Args:
        devices: numbers of the GPUs as TensorFlow has them, or names such as ``/gpu:0``.
    """

    _chief_only = False

    def __init__(self, devices: Sequence[int | str] = (0,)) -> None:
        self._devices = [f"gpu:{d}" if isinstance(d, int) else d.strip("/").lower()
                         for d in devices]

    def _setup_graph(self) -> None:
        there = len(tf.config.list_physical_devices("GPU"))
        missing = [d for d in self._devices if int(d.rpartition(":")[2]) >= there]
        if missing:
            logger.warning("[%s] TensorFlow sees no %s: nothing will be reported of it.",
                           type(self).__name__, ", ".join(missing))
        self._devices = [d for d in self._devices if d not in missing]

    def _trigger(self) -> None:
        for device in self._devices:
            peak = tf.config.experimental.get_memory_info(device.upper())["peak"]
            self.trainer.monitors.put_scalar(f"PeakMemory(MB)/{device}", peak / 1e6)


GPUMemoryTracker = PeakMemoryTracker
