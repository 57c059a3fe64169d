# SPDX-License-Identifier: Apache-2.0
"""What training reports, and who listens: scalars, images, summaries, events."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..engine.hooks import Callback
from ..tfutils.summary import create_image_summary, create_scalar_summary
from ..utils.errors import near, say

__all__ = ["MonitorBase", "Monitors", "NoOpMonitor", "ScalarHistory", "image_to_nhwc"]

v1 = tf.compat.v1
_TOWER = re.compile(r"^tower[0-9]+/")
_SUMMARY = "-summary"


def image_to_nhwc(arr: Any) -> np.ndarray:
    """Return an image or images as (batch, height, width, channel).

    Args:
        arr: (height, width), (height, width, channel) or (batch, height, width, channel), with 1,
            3 or 4 channels.

    Raises:
        ValueError: for another shape.

    Example:
        >>> image_to_nhwc(np.zeros((4, 5))).shape
        (1, 4, 5, 1)
    """
    images = np.asarray(arr)
    if images.ndim == 2:
        return images[None, :, :, None]
    if images.ndim == 3 and images.shape[-1] in (1, 3, 4):
        return images[None]
    if images.ndim == 4 and images.shape[-1] in (1, 3, 4):
        return images
    raise ValueError(say("image", expected="(height, width), (height, width, channel) or (batch, "
                         "height, width, channel), with 1, 3 or 4 channels",
                         received=f"the shape {images.shape}", do="Transpose or reshape it."))


class MonitorBase(Callback):
    """Listens to what training reports. A subclass writes the ``process_...`` that it needs."""

    _chief_only = False

    def setup_graph(self, trainer: Any) -> None:
        """Prepare; a monitor has nothing in the graph, and no name scope.

        Args:
            trainer: who trains.
        """
        self.trainer = trainer
        self.graph = v1.get_default_graph()
        self._setup_graph()

    def process_summary(self, summary: Any) -> None:
        """Take a ``tf.compat.v1.Summary``, scalars and images included."""

    def process(self, name: str, val: Any) -> None:
        """Take a name and a value: whatever no other method of the subclass takes."""

    def process_scalar(self, name: str, val: Any) -> None:
        """Take a number; by default ``process`` gets it."""
        self.process(name, val)

    def process_image(self, name: str, val: np.ndarray) -> None:
        """Take images, (batch, height, width, channel), in [0, 255], RGB; by default ``process``
        gets them."""
        self.process(name, val)

    def process_event(self, evt: Any) -> None:
        """Take a ``tf.compat.v1.Event``."""


class NoOpMonitor(MonitorBase):
    """Listens to nothing: it stands in for a monitor that has nowhere to write to.

    Args:
        name: of the monitor it stands in for.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name

    def __str__(self) -> str:
        return "NoOpMonitor" if self._name is None else f"NoOpMonitor({self._name})"


class ScalarHistory(MonitorBase):
    """Remembers all numbers."""

    def __init__(self) -> None:
        self._history: dict[str, list[tuple[int, Any]]] = {}

    def process_scalar(self, name: str, val: Any) -> None:
        """Remember a number, and the global step."""
        self._history.setdefault(name, []).append((self.global_step, val))

    def get_latest(self, name: str) -> Any:
        """Return the last number of a name.

        Raises:
            KeyError: where there is none; near names are suggested.
        """
        if name not in self._history:
            raise KeyError(say(f"monitor {name!r}", expected="a name that something has reported",
                               received="nothing under it yet",
                               do="Report it first, e.g. with add_moving_summary or an "
                                  "InferenceRunner earlier in the callbacks."
                                  + near(name, self._history)))
        return self._history[name][-1][1]

    def get_history(self, name: str) -> list[tuple[int, Any]]:
        """Return all numbers of a name, as pairs (global step, number); none gives []."""
        return list(self._history.get(name, ()))

    def get_all_latest(self) -> dict[str, Any]:
        """Return the last number of each name."""
        return {name: history[-1][1] for name, history in self._history.items()}


class Monitors(Callback):
    """All monitors of a training, as ``trainer.monitors``: what is put here goes to each.

    The monitors are callbacks of the trainer on their own, before this one.

    Args:
        monitors: the monitors.
    """

    _chief_only = False

    def __init__(self, monitors: Sequence[MonitorBase]) -> None:
        for monitor in monitors:
            if not isinstance(monitor, MonitorBase):
                raise TypeError(say("monitors", expected="a MonitorBase",
                                    received=f"{type(monitor).__name__} {monitor!r}",
                                    do="Pass callbacks as callbacks=, monitors as monitors=."))
        self._scalar_history = ScalarHistory()
        self._monitors = [*monitors, self._scalar_history]

    def _setup_graph(self) -> None:
        self._scalar_history.setup_graph(self.trainer)

    def put_summary(self, summary: Any) -> None:
        """Report a summary.

        Tags lose a tower's name in front and ``-summary`` at their end; its numbers are reported
        as scalars, too.

        Args:
            summary: a ``tf.compat.v1.Summary``, or its bytes.
        """
        if isinstance(summary, bytes):
            summary = v1.Summary.FromString(summary)
        if not isinstance(summary, v1.Summary):
            raise TypeError(say("put_summary", expected="a tf.compat.v1.Summary, or its bytes",
                                received=type(summary).__name__, do="Fetch a summary op's value."))
        for value in summary.value:
            value.tag = _TOWER.sub("", value.tag)
            if value.tag.endswith(_SUMMARY):
                value.tag = value.tag[:-len(_SUMMARY)]
            if value.WhichOneof("value") == "simple_value":
                self._scalar(value.tag, value.simple_value)
        self._summary(summary)

    def put_scalar(self, name: str, val: Any) -> None:
        """Report a number.

        Args:
            name: its name.
            val: a number, or an array of one.
        """
        number = val.item() if isinstance(val, (np.generic, np.ndarray)) else val
        if not isinstance(number, (int, float)):
            try:
                number = float(number)
            except (TypeError, ValueError):
                raise TypeError(say(f"put_scalar({name!r})", expected="a number",
                                    received=f"{type(val).__name__} {val!r}",
                                    do="Pass one number.")) from None
        self._scalar(name, number)
        self._summary(create_scalar_summary(name, number))

    def put_image(self, name: str, val: Any) -> None:
        """Report images.

        Args:
            name: their name.
            val: (height, width), (height, width, channel) or (batch, height, width, channel), in
                [0, 255], RGB.
        """
        images = image_to_nhwc(val)
        for monitor in self._monitors:
            monitor.process_image(name, images)
        self._summary(create_image_summary(name, images))

    def put_event(self, evt: Any) -> None:
        """Report an event; its step and its time are set here.

        Args:
            evt: a ``tf.compat.v1.Event``.
        """
        evt.step = self.global_step
        evt.wall_time = time.time()
        for monitor in self._monitors:
            monitor.process_event(evt)

    def get_latest(self, name: str) -> Any:
        """Return the last number reported under a name.

        Raises:
            KeyError: where there is none; near names are suggested.
        """
        return self._scalar_history.get_latest(name)

    def get_history(self, name: str) -> list[tuple[int, Any]]:
        """Return all numbers of a name, as pairs (global step, number); none gives []."""
        return self._scalar_history.get_history(name)

    def get_all_latest(self) -> dict[str, Any]:
        """Return the last number reported under each name."""
        return self._scalar_history.get_all_latest()

    def _scalar(self, name: str, number: Any) -> None:
        for monitor in self._monitors:
            monitor.process_scalar(name, number)

    def _summary(self, summary: Any) -> None:
        for monitor in self._monitors:
            monitor.process_summary(summary)
