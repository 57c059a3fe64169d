# SPDX-License-Identifier: Apache-2.0
"""The clock of training: epochs, steps, and the callbacks at each of their ends.

It knows no machine: whoever trains hands in what runs a step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from ..utils.utils import humanize_time_delta
from .hooks import Callback

__all__ = ["StopTraining", "TrainLoop"]


class StopTraining(Exception):
    """Raise it, from a callback or in a step, to end training as if it were done."""


class TrainLoop:
    """Counts epochs and steps, and calls the callbacks.

    Attributes:
        steps_per_epoch: steps in an epoch.
        starting_epoch: number of the first epoch; above 1 where an earlier training goes on.
        max_epoch: number of the last epoch.

    Example:
        >>> from tfqueue_compat.engine.group import Callbacks
        >>> loop, seen = TrainLoop(), []
        >>> loop.config(2, 1, 2)
        >>> step = lambda: seen.append((loop.epoch_num, loop.local_step))
        >>> loop.run(step, Callbacks([]))  # doctest: +ELLIPSIS
        [...Training has finished!
        >>> seen
        [(1, 0), (1, 1), (2, 0), (2, 1)]
    """

    def __init__(self) -> None:
        self.steps_per_epoch = 0
        self.starting_epoch = 1
        self.max_epoch = 0
        self._epoch_num = 0
        self._local_step = -1
        self._global_step = 0
        self._epoch_began = 0.0

    def config(self, steps_per_epoch: int, starting_epoch: int, max_epoch: int) -> None:
        """Say how long to train.

        Args:
            steps_per_epoch: steps in an epoch, at least 1.
            starting_epoch: number of the first epoch, at least 1.
            max_epoch: number of the last; below ``starting_epoch`` there is nothing to do.

        Raises:
            ValueError: where one of them is no such number.
        """
        self.steps_per_epoch = _whole("steps_per_epoch", steps_per_epoch, 1)
        self.starting_epoch = _whole("starting_epoch", starting_epoch, 1)
        self.max_epoch = _whole("max_epoch", max_epoch, 0)
        self._epoch_num = self.starting_epoch - 1
        self._local_step = -1

    @property
    def epoch_num(self) -> int:
        """The number of the epoch that runs, or ran last; before the first, one less than it."""
        return self._epoch_num

    @property
    def local_step(self) -> int:
        """The number of the step in its epoch, from 0; -1 before the first."""
        return self._local_step

    @property
    def global_step(self) -> int:
        """Steps done since the model was new, in this training and those before."""
        return self._global_step

    def update_global_step(self, value: int | None = None) -> None:
        """Set ``global_step``.

        Args:
            value: steps; by default what the graph's own counter says in the default session.
        """
        if value is None:
            v1 = tf.compat.v1
            value = v1.train.global_step(v1.get_default_session(), v1.train.get_global_step())
        self._global_step = int(value)

    def count_step(self) -> None:
        """Count one more step into ``global_step``; the machine does it when a step has run."""
        self._global_step += 1

    # ---- the turns of the clock, for a machine that has a loop of its own

    @contextmanager
    def training(self, callbacks: Callback) -> Iterator[None]:
        """A block in which training happens, between ``before_train`` and ``after_train``.

        StopTraining, and the end of the data, end the block. Any other error goes through it,
        after the callbacks' ``after_train``.
        """
        try:
            callbacks.before_train()
            yield
        except (StopTraining, tf.errors.OutOfRangeError) as e:
            logger.info("Training was stopped: %s %s", type(e).__name__,
                        str(getattr(e, "message", e)).partition("\n")[0])
            callbacks.after_train()
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                logger.info("Interrupted: training ends here.")
            _after_failure(callbacks)
            raise
        else:
            callbacks.after_train()

    def begin_epoch(self, callbacks: Callback) -> None:
        """Turn to the next epoch."""
        self._epoch_num += 1
        logger.info("Start Epoch %d ...", self._epoch_num)
        callbacks.before_epoch()
        self._epoch_began = time.perf_counter()

    def begin_step(self, local_step: int) -> None:
        """Turn to a step of the epoch.

        Args:
            local_step: its number in the epoch, from 0.
        """
        self._local_step = local_step

    def end_epoch(self, callbacks: Callback) -> None:
        """Close the epoch, and trigger the callbacks."""
        callbacks.after_epoch()
        logger.info("Epoch %d (global_step %d) finished, time:%s.", self._epoch_num,
                    self._global_step,
                    humanize_time_delta(time.perf_counter() - self._epoch_began))
        callbacks.trigger_epoch()

    # ---- the loop

    def run(self, run_step: Callable[[], Any], callbacks: Callback,
            should_stop: Callable[[], bool] | None = None) -> None:
        """Train: all epochs that ``config`` asked for.

        Args:
            run_step: runs one step.
            callbacks: all callbacks, e.g. a ``Callbacks``.
            should_stop: asked before each step; where it returns True, training ends.
        """
        with self.training(callbacks):
            while self._epoch_num < self.max_epoch:
                self.begin_epoch(callbacks)
                for self._local_step in range(self.steps_per_epoch):
                    if should_stop is not None and should_stop():
                        return
                    run_step()
                    callbacks.trigger_step()
                self.end_epoch(callbacks)
            logger.info("Training has finished!")


def _after_failure(callbacks: Callback) -> None:
    """Call ``after_train`` where an error is on its way: it must not be lost to another."""
    try:
        callbacks.after_train()
    except Exception as e:
        logger.error("after_train failed, too: %r", e)


def _whole(name: str, value: Any, least: int) -> int:
    try:
        number = int(value)
        valid = number == value and number >= least
    except (TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        raise ValueError(say("training", expected=f"{name}: a whole number of at least {least}",
                             received=repr(value), do=f"Pass {name}, e.g. len(dataflow)."
                             if name == "steps_per_epoch" else f"Pass another {name}."))
    return number
