# SPDX-License-Identifier: Apache-2.0
"""Callbacks that evaluate the graph's summaries, and keep averages up to date."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..engine.hooks import Callback
from ..tfutils.common import get_op_or_tensor_by_name, get_op_tensor_name
from ..utils import logger
from ..utils.errors import say
from ..utils.naming import MOVING_SUMMARY_OPS_KEY

__all__ = ["MergeAllSummaries", "MergeAllSummaries_RunAlone", "MergeAllSummaries_RunWithOp",
           "MovingAverageSummary", "SimpleMovingAverage"]

v1 = tf.compat.v1


class MovingAverageSummary(Callback):
    """Keeps the moving averages of ``add_moving_summary`` up to date; others report them.

    Args:
        collection: the collection of the operations that update them.
        train_op: an operation, or its name; the updates run whenever it does. By default they
            run with each step.
    """

    def __init__(self, collection: str = MOVING_SUMMARY_OPS_KEY, train_op: Any = None) -> None:
        self._collection = collection
        self._train_op = train_op
        self._fetch: Any = None

    def _setup_graph(self) -> None:
        ops = [op if isinstance(op, tf.Operation) else op.op
               for op in v1.get_collection(self._collection)]
        if self._train_op is None:
            logger.info("[MovingAverageSummary] %d operations in collection '%s' will be run with "
                        "session hooks.", len(ops), self._collection)
            if ops:
                group = tf.group(*ops, name="maintain_moving_average_summary")
                self._fetch = v1.train.SessionRunArgs(fetches=group)
            return
        train_op = self._operation()
        logger.info("[MovingAverageSummary] %d operations in collection '%s' will be run together "
                    "with operation '%s'.", len(ops), self._collection, train_op.name)
        train_op._add_control_inputs(ops)

    def _operation(self) -> Any:
        found = self._train_op
        if isinstance(found, str):
            found = get_op_or_tensor_by_name(get_op_tensor_name(found)[0])
        if isinstance(found, tf.Tensor):
            found = found.op
        if not isinstance(found, tf.Operation):
            raise TypeError(say("MovingAverageSummary", expected="train_op: an operation or its "
                                "name", received=repr(found), do="Pass trainer.train_op."))
        return found

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch


class MergeAllSummaries_RunAlone(Callback):
    """Evaluates all summaries by themselves, after each epoch and every ``period`` steps.

    Args:
        period: in steps; 0 for none.
        key: the collection of the summaries.
    """

    def __init__(self, period: int, key: str) -> None:
        self._period, self._key = period, key
        self._op: Any = None

    def _setup_graph(self) -> None:
        self._op = _merged(self._key)

    def _trigger_step(self) -> None:
        if self._period and (self.local_step + 1) % self._period == 0 \
                and self.local_step != self.trainer.steps_per_epoch - 1:  # the epoch's end does it
            self.trigger()

    def _trigger(self) -> None:
        if self._op is not None:
            self.trainer.monitors.put_summary(v1.get_default_session().run(self._op))


class MergeAllSummaries_RunWithOp(Callback):
    """Evaluates all summaries with the last step of each epoch, and every ``period`` steps.

    Args:
        period: in steps; 0 for none.
        key: the collection of the summaries.
    """

    def __init__(self, period: int, key: str) -> None:
        self._period, self._key = period, key
        self._fetch: Any = None

    def _setup_graph(self) -> None:
        op = _merged(self._key)
        self._fetch = None if op is None else v1.train.SessionRunArgs(fetches=op)

    def _before_run(self, ctx: Any) -> Any:
        step = self.local_step + 1
        due = step == self.trainer.steps_per_epoch or self._period and step % self._period == 0
        return self._fetch if due else None

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self.trainer.monitors.put_summary(run_values.results)


def MergeAllSummaries(period: int = 0, run_alone: bool = False, key: str | None = None) -> Callback:
    """Evaluate all summaries of the graph after each epoch, and hand them to the monitors.

    Args:
        period: do it every so many steps, too; 0 for not.
        run_alone: evaluate them by themselves. By default the last step of an epoch does it:
            summaries depend on the data, and by themselves take another datapoint.
        key: the collection of the summaries; by default ``tf.GraphKeys.SUMMARIES``.

    Returns:
        The callback.
    """
    if int(period) != period or period < 0:
        raise ValueError(say("MergeAllSummaries", expected="period: a whole number of at least 0",
                             received=repr(period), do="Pass a number of steps."))
    key = v1.GraphKeys.SUMMARIES if key is None else key
    kind = MergeAllSummaries_RunAlone if run_alone else MergeAllSummaries_RunWithOp
    return kind(int(period), key)


def _merged(key: str) -> Any:
    size = len(v1.get_collection(key))
    if size == 0:
        return None
    logger.info("Summarizing collection '%s' of size %d.", key, size)
    return v1.summary.merge_all(key)


class SimpleMovingAverage(Callback):
    """Reports the average of scalar tensors over the last steps, as ``<name>/SMA``.

    It does so every ``window_size`` steps.

    Args:
        tensors: names of tensors.
        window_size: steps.
    """

    def __init__(self, tensors: str | Sequence[str], window_size: int) -> None:
        self._names = [tensors] if isinstance(tensors, str) else list(tensors)
        if int(window_size) != window_size or window_size < 1:
            raise ValueError(say("SimpleMovingAverage",
                                 expected="window_size: a whole number of at least 1",
                                 received=repr(window_size), do="Pass a number of steps."))
        self._window = int(window_size)
        self._queue: deque[Any] = deque(maxlen=self._window)
        self._fetch: Any = None

    def _setup_graph(self) -> None:
        names = [get_op_tensor_name(name)[1] for name in self._names]
        tensors = self.get_tensors_maybe_in_tower(names)
        for tensor in tensors:
            if tensor.shape.rank not in (0, None):
                raise ValueError(say("SimpleMovingAverage", expected="scalar tensors",
                                     received=f"{tensor.name!r} of shape {tensor.shape}",
                                     do="Take e.g. tf.reduce_mean of it."))
        self._fetch = v1.train.SessionRunArgs(fetches=tensors)

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self._queue.append(run_values.results)

    def _trigger_step(self) -> None:
        if self.global_step % self._window == 0 and self._queue:
            for name, mean in zip(self._names, np.mean(self._queue, axis=0)):
                self.trainer.monitors.put_scalar(get_op_tensor_name(name)[0] + "/SMA", mean)
