# SPDX-License-Identifier: Apache-2.0
"""Callbacks that have to do with each step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..engine.hooks import Callback
from ..tfutils.common import get_global_step_var, get_op_tensor_name
from ..utils import logger
from ..utils.errors import say
from ..utils.naming import GLOBAL_STEP_INCR_OP_NAME
from ..utils.utils import get_tqdm, get_tqdm_kwargs

__all__ = ["MaintainStepCounter", "ProgressBar", "SessionRunTimeout", "TensorPrinter"]

v1 = tf.compat.v1


class TensorPrinter(Callback):
    """Logs the values of tensors with each step.

    Args:
        names: names of tensors.
    """

    def __init__(self, names: str | Sequence[str]) -> None:
        self._names = [names] if isinstance(names, str) else list(names)
        self._fetch: Any = None

    def _setup_graph(self) -> None:
        names = [get_op_tensor_name(name)[1] for name in self._names]
        self._fetch = v1.train.SessionRunArgs(fetches=self.get_tensors_maybe_in_tower(names))

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        for name, value in zip(self._names, run_values.results):
            logger.info("%s: %s", name, value)


class ProgressBar(Callback):
    """A progress bar of the epoch's steps.

    It shows the values of some tensors, and, where the data comes through a queue, how many
    datapoints wait in it: near 0 the data is the bottleneck, near its size the model.

    Args:
        names: names of scalar tensors to show.
    """

    _chief_only = False

    def __init__(self, names: str | Sequence[str] = ()) -> None:
        super().__init__()
        self._names = [names] if isinstance(names, str) else list(names)
        self._tags = [get_op_tensor_name(name)[0].rpartition("/")[2] for name in self._names]
        self._bar: Any = None
        self._fetch: Any = None
        self._interval = float(get_tqdm_kwargs()["mininterval"])
        self._shown = 0.0
        self._values: dict[str, Any] = {}

    def _setup_graph(self) -> None:
        names = [get_op_tensor_name(name)[1] for name in self._names]
        if names:
            self._fetch = v1.train.SessionRunArgs(fetches=self.get_tensors_maybe_in_tower(names))

    def _before_epoch(self) -> None:
        self._bar = get_tqdm(
            total=self.trainer.steps_per_epoch, leave=True,
            bar_format="{l_bar}{bar}|{n_fmt}/{total_fmt}"
                       "[{elapsed}<{remaining},{rate_noinv_fmt}{postfix}]")
        self._shown = time.monotonic()

    def _due(self) -> bool:
        last = self.local_step == self.trainer.steps_per_epoch - 1
        return last or time.monotonic() - self._shown >= self._interval

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch if self._due() else None

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results is not None:
            self._values = {t: f"{float(v):.3g}" for t, v in zip(self._tags, run_values.results)}

    def _trigger_step(self) -> None:
        if self._due():
            self._show()
        self._bar.update(1)

    def _show(self) -> None:
        self._shown = time.monotonic()
        meter = getattr(self.trainer, "input_meter", None)
        shown = dict(self._values)
        if meter is not None:
            shown["queue"] = f"{meter.occupancy}/{meter.capacity}"
        if shown:
            self._bar.set_postfix(shown, refresh=False)

    def _after_epoch(self) -> None:
        self._close()

    def _after_train(self) -> None:
        self._close()

    def _close(self) -> None:
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()

    def _hears(self, *events: str) -> bool:
        if "before_run" in events and not self._names and type(self) is ProgressBar:
            return False
        return super()._hears(*events)


class MaintainStepCounter(Callback):
    """Counts the steps: the graph's ``global_step``, and the trainer's.

    A trainer has one of these, before all other callbacks: each run of its hooked session is a
    step.
    """

    _chief_only = False

    def _setup_graph(self) -> None:
        step = get_global_step_var()
        with v1.name_scope(None), tf.device(step.device):
            increment = v1.assign_add(step, 1, name=GLOBAL_STEP_INCR_OP_NAME)
        self._fetch = v1.train.SessionRunArgs(fetches=increment.op)

    def _before_train(self) -> None:
        self.trainer.loop.update_global_step()
        if self.trainer.global_step != 0:
            logger.info("Start training with global_step=%d", self.trainer.global_step)

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self.trainer.loop.count_step()


class SessionRunTimeout(Callback):
    """Ends training where a step takes too long.

    Args:
        timeout_in_ms: milliseconds.

    Raises:
        tf.errors.DeadlineExceededError: in training.
    """

    _chief_only = False

    def __init__(self, timeout_in_ms: int) -> None:
        self._timeout = int(timeout_in_ms)
        if self._timeout <= 0:
            raise ValueError(say("SessionRunTimeout", expected="milliseconds above 0",
                                 received=repr(timeout_in_ms), do="Pass e.g. 60000."))
        self._args = v1.train.SessionRunArgs(
            fetches=[], options=v1.RunOptions(timeout_in_ms=self._timeout))

    def _before_run(self, ctx: Any) -> Any:
        return self._args
