# SPDX-License-Identifier: Apache-2.0
"""Callbacks that set hyperparameters: by a schedule, by hand, by a function, by statistics."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine.hooks import Callback
from ..utils import logger
from ..utils.errors import near, say
from .hyperparam import GraphVarParam, HyperParam, ObjAttrParam

__all__ = ["GraphVarParam", "HumanHyperParamSetter", "HyperParam", "HyperParamSetter",
           "HyperParamSetterWithFunc", "ObjAttrParam", "ScheduledHyperParamSetter",
           "StatMonitorParamSetter"]


class HyperParamSetter(Callback):
    """Sets a hyperparameter each time it is triggered.

    A subclass writes ``_get_value_to_set``, which returns the new value, or None for no change.

    Args:
        param: a ``HyperParam``, or the name of a variable in the graph.
    """

    _chief_only = False
    _enable_before_train = True

    def __init__(self, param: str | HyperParam) -> None:
        if isinstance(param, str):
            param = GraphVarParam(param)
        if not isinstance(param, HyperParam):
            raise TypeError(say(type(self).__name__, expected="a HyperParam, or the name of a "
                                "variable", received=f"{type(param).__name__} {param!r}",
                                do="Pass e.g. 'learning_rate' or ObjAttrParam(obj, 'name')."))
        self.param = param
        self._last_value: Any = None

    def _setup_graph(self) -> None:
        self.param.setup_graph()

    def get_value_to_set(self) -> Any:
        """Return the value to set now, or None for no change; a change is logged."""
        value = self._get_value_to_set()
        if value is not None and (self._last_value is None
                                  or np.any(np.not_equal(value, self._last_value))):
            name = self.param.readable_name
            if self._last_value is None:
                logger.info("[HyperParamSetter] At global_step=%d, %s is set to %s",
                            self.global_step, name, _text(value))
            else:
                logger.info("[HyperParamSetter] At global_step=%d, %s changes from %s to %s",
                            self.global_step, name, _text(self._last_value), _text(value))
            self._last_value = value
        return value

    def _get_value_to_set(self) -> Any:
        raise NotImplementedError(say(type(self).__name__, expected="a _get_value_to_set method",
                                      received="none", do="Write it in the subclass."))

    def get_current_value(self) -> Any:
        """Return the hyperparameter's value."""
        return self.param.get_value()

    def _trigger(self) -> None:
        self._set_param()

    def _before_train(self) -> None:
        if self._enable_before_train:
            self._set_param()

    def _set_param(self) -> None:
        value = self.get_value_to_set()
        if value is not None:
            self.param.set_value(value)


def _text(value: Any) -> str:
    return f"{float(value):f}" if np.ndim(value) == 0 else str(value)


class HumanHyperParamSetter(HyperParamSetter):
    """Sets a hyperparameter to what a file says, so that a person can tune it in training.

    Each line of the file is ``name:value``, e.g. ``learning_rate:1e-4``. Where the file or the
    name is missing, nothing changes; a line that can't be read is logged.

    Args:
        param: a ``HyperParam``, or the name of a variable in the graph.
        file_name: the file, in the log directory.
    """

    def __init__(self, param: str | HyperParam, file_name: str = "hyper.txt") -> None:
        super().__init__(param)
        folder = logger.get_logger_dir()
        if folder is None and not os.path.isabs(file_name):
            raise ValueError(say("HumanHyperParamSetter", expected="a log directory",
                                 received="none", do="Call logger.set_logger_dir(dir) first."))
        self.file_name = os.path.join(folder or "", file_name)
        logger.info("Use %s to set hyperparam: '%s'.", self.file_name, self.param.readable_name)

    def _get_value_to_set(self) -> float | None:
        try:
            with open(self.file_name, encoding="utf-8") as f:
                lines = [line.strip() for line in f if line.strip()]
        except FileNotFoundError:
            return None
        names = []
        for line in lines:
            name, _, value = line.partition(":")
            names.append(name.strip())
            if names[-1] == self.param.readable_name:
                return self._number(line, value)
        hint = near(self.param.readable_name, names)
        if hint:
            logger.warning("%s has no line '%s:<value>'.%s", self.file_name,
                           self.param.readable_name, hint)
        return None

    def _number(self, line: str, value: str) -> float | None:
        try:
            return float(value)
        except ValueError:
            logger.warning("%s: Expected lines 'name:value'. Received %r. Do: correct it.",
                           self.file_name, line)
            return None


class HyperParamSetterWithFunc(HyperParamSetter):
    """Sets a hyperparameter to what a function returns.

    Args:
        param: a ``HyperParam``, or the name of a variable in the graph.
        func: called as ``func(epoch_num, value)`` with the number of epochs done and the current
            value; returns the new value, or None for no change.
    """

    def __init__(self, param: str | HyperParam, func: Callable[[int, Any], Any]) -> None:
        super().__init__(param)
        self.f = func

    def _get_value_to_set(self) -> Any:
        return self.f(self.epoch_num, self.get_current_value())


class ScheduledHyperParamSetter(HyperParamSetter):
    """Sets a hyperparameter by a schedule.

    Args:
        param: a ``HyperParam``, or the name of a variable in the graph.
        schedule: pairs (epoch, value), with increasing epochs: the value is set when that epoch
            is done. Epoch 0 is before the first.
        interp: None: set a value when its epoch is reached; ``"linear"``: between two epochs of
            the schedule, set what lies on the line between their values, at each trigger.
        step_based: the schedule is of pairs (step, value), with ``global_step``.
        set_at_beginning: where training begins in the middle of the schedule, set the value that
            belongs there. By ``False`` only what is due exactly then is set.

    Example:
        .. code-block:: python

            ScheduledHyperParamSetter("learning_rate", [(30, 1e-2), (60, 1e-3), (85, 1e-4)])
    """

    def __init__(self, param: str | HyperParam, schedule: Sequence[tuple[float, float]],
                 interp: str | None = None, step_based: bool = False,
                 set_at_beginning: bool = True) -> None:
        points = [(int(point), float(value)) for point, value in schedule]
        if [p for p, _ in points] != sorted({p for p, _ in points}):
            raise ValueError(say("ScheduledHyperParamSetter",
                                 expected="a schedule with increasing epochs",
                                 received=str(list(schedule)), do="Sort it, and name none twice."))
        if interp not in (None, "linear"):
            raise ValueError(say("ScheduledHyperParamSetter", expected="interp: None or 'linear'",
                                 received=repr(interp), do="Pass one of them."))
        self.schedule = points
        self.interp = interp
        self._step = step_based
        self._set_at_beginning = set_at_beginning
        super().__init__(param)

    def _current_point(self) -> int:
        return self.global_step if self._step else self.epoch_num

    def _get_value_to_set(self) -> float | None:
        return self._get_value_to_set_at_point(self._current_point())

    def _get_value_to_set_at_point(self, point: int) -> float | None:
        before = after = None
        for at, value in self.schedule:
            if at == point:
                return value
            if at < point:
                before = (at, value)
            elif after is None:
                after = (at, value)
        if self.interp is None or before is None or after is None:
            return None
        share = (point - before[0]) / (after[0] - before[0])
        return before[1] + share * (after[1] - before[1])

    def _value_in_force(self, point: int) -> float | None:
        """What the schedule has set by then, whether or not something is due just then."""
        due = self._get_value_to_set_at_point(point)
        past = [value for at, value in self.schedule if at <= point]
        return due if due is not None else (past[-1] if past else None)

    def _before_train(self) -> None:
        if self._set_at_beginning:
            self._check_value_at_beginning()
        super()._before_train()

    def _check_value_at_beginning(self) -> None:
        point = self._current_point()
        value = self._value_in_force(point)
        if value is None or self._get_value_to_set_at_point(point) is not None:
            return  # nothing yet, or about to be set
        current = self.get_current_value()
        if not np.allclose(current, value):
            word = "step" if self._step else "epoch"
            logger.warning("The schedule %s says that '%s' is %.8g at %s %d; it is %s, and is "
                           "set to it.", self.schedule, self.param.readable_name, value, word,
                           point, current)
            self.param.set_value(value)

    def _trigger_epoch(self) -> None:
        if not self._step:
            self.trigger()

    def _trigger_step(self) -> None:
        if self._step:
            self.trigger()

    def _hears(self, *events: str) -> bool:
        if events == ("trigger_step",) and type(self) is ScheduledHyperParamSetter:
            return self._step
        return super()._hears(*events)

    def __str__(self) -> str:
        return f"ScheduledHyperParamSetter(schedule={self.schedule})"


class StatMonitorParamSetter(HyperParamSetter):
    """Changes a hyperparameter when some statistics stop getting better.

    Each time it is triggered it looks at the last value reported. When it has seen ``last_k``
    since the last change, and the smallest of the last ``last_k`` is not below the first of them
    by more than ``threshold``, the hyperparameter becomes ``value_func(old)``.

    Args:
        param: a ``HyperParam``, or the name of a variable in the graph.
        stat_name: name of the statistics.
        value_func: from the old value to the new.
        threshold: how much better is better.
        last_k: how many values to look at.
        reverse: the statistics should grow, not fall.

    Example:
        .. code-block:: python

            # no better for 5 epochs: a fifth of the learning rate
            StatMonitorParamSetter("learning_rate", "val_error", lambda x: x * 0.2, 0, 5)
    """

    _enable_before_train = False

    def __init__(self, param: str | HyperParam, stat_name: str,
                 value_func: Callable[[Any], Any], threshold: float, last_k: int,
                 reverse: bool = False) -> None:
        super().__init__(param)
        if int(last_k) != last_k or last_k < 1:
            raise ValueError(say("StatMonitorParamSetter", expected="last_k: at least 1",
                                 received=repr(last_k), do="Say how many values to look at."))
        self.stat_name = stat_name
        self.value_func = value_func
        self.history: deque[float] = deque(maxlen=int(last_k))
        self.threshold = threshold
        self.reverse = reverse

    def _get_value_to_set(self) -> Any:
        try:
            self.history.append(self.trainer.monitors.get_latest(self.stat_name))
        except KeyError as e:
            logger.warning("[StatMonitorParamSetter] %s", e.args[0])
            return None
        if len(self.history) < (self.history.maxlen or 1) or self._improved():
            return None
        logger.info("[StatMonitorParamSetter] Triggered, history of %s: %s", self.stat_name,
                    ",".join(f"{h:.4g}" for h in self.history))
        self.history.clear()
        return self.value_func(self.get_current_value())

    def _improved(self) -> bool:
        first = self.history[0]
        if self.reverse:
            return max(self.history) > first + self.threshold
        return min(self.history) < first - self.threshold
