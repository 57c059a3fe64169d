# SPDX-License-Identifier: Apache-2.0
"""Several callbacks, called as one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ..utils import logger
from .hooks import Callback, CallbackToHook, require_callback

__all__ = ["CallbackTimeLogger", "Callbacks"]

_WORTH_A_LINE = 1.0  # seconds that callbacks take in one epoch
_WORTH_A_NAME = 0.03  # of these seconds


class CallbackTimeLogger:
    """Notes how long each callback takes in an epoch's end, and logs it if it is long."""

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []
        self.tot = 0.0

    def add(self, name: str, time: float) -> None:
        """Note that a callback took ``time`` seconds."""
        self.tot += time
        self.times.append((name, time))

    @contextmanager
    def timed_callback(self, name: str) -> Iterator[None]:
        """Note how long the block takes."""
        start = time.perf_counter()
        yield
        self.add(name, time.perf_counter() - start)

    def log(self) -> None:
        """Log the total, and those that make it up, where it is a second or more."""
        if self.tot < _WORTH_A_LINE:
            return
        parts = [f"{name}: {seconds:.3g} sec" for name, seconds in self.times
                 if seconds > self.tot * _WORTH_A_NAME]
        logger.info("Callbacks took %.3f sec in total. %s", self.tot, "; ".join(parts))


class Callbacks(Callback):
    """Calls each of several callbacks, in order.

    An error in one of them is raised at once, except in ``after_train``, which all get that got
    ``before_train``: there the first error is raised at the end, and later ones are logged.

    Args:
        cbs: the callbacks.

    Example:
        >>> from tfqueue_compat.engine.hooks import CallbackFactory
        >>> say = lambda text: CallbackFactory(trigger=lambda self: print(text))
        >>> Callbacks([say("one"), say("two")]).trigger_epoch()
        one
        two
    """

    def __init__(self, cbs: Sequence[Callback]) -> None:
        self.cbs = list(cbs)
        for cb in self.cbs:
            require_callback("Callbacks", cb)
        self._started = 0
        self._steppers: list[Callable[[], None]] | None = None

    def get_hooks(self) -> list[CallbackToHook]:
        """Return a session hook for each callback that takes part in ``session.run``."""
        return [CallbackToHook(cb) for cb in self.cbs if cb._hears("before_run", "after_run")]

    def setup_graph(self, trainer: Any) -> None:
        """Set up each, in its own name scope."""
        self.trainer = trainer
        self.graph = tf.compat.v1.get_default_graph()
        with tf.compat.v1.name_scope(None):
            for cb in self.cbs:
                cb.setup_graph(trainer)

    def _before_train(self) -> None:
        self._started = 0
        self._steppers = None
        for cb in self.cbs:
            self._started += 1
            cb.before_train()

    def _after_train(self) -> None:
        first: Exception | None = None
        started, self._started = self.cbs[:self._started], 0
        for cb in started:
            try:
                cb.after_train()
            except Exception as e:
                if first is None:
                    first = e
                else:
                    logger.error("%s: after_train failed, too: %r", cb, e)
        if first is not None:
            raise first

    def _before_epoch(self) -> None:
        for cb in self.cbs:
            cb.before_epoch()

    def _after_epoch(self) -> None:
        for cb in self.cbs:
            cb.after_epoch()

    def before_run(self, ctx: Any) -> Any:
        """Not for a group: its members have hooks of their own, see ``get_hooks``."""
        raise NotImplementedError("Callbacks: Expected get_hooks(), which makes a hook of each "
                                  "callback. Received before_run. Do: Use the hooks.")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Not for a group: see ``before_run``."""
        raise NotImplementedError("Callbacks: Expected get_hooks(), which makes a hook of each "
                                  "callback. Received after_run. Do: Use the hooks.")

    def _trigger_step(self) -> None:
        if self._steppers is None:  # looked up once: most callbacks have nothing to do in a step
            self._steppers = [cb.trigger_step for cb in self.cbs if cb._hears("trigger_step")]
        for step in self._steppers:
            step()

    def _trigger_epoch(self) -> None:
        times = CallbackTimeLogger()
        for cb in self.cbs:
            with times.timed_callback(str(cb)):
                cb.trigger_epoch()
        times.log()

    def _trigger(self) -> None:
        for cb in self.cbs:
            cb.trigger()
