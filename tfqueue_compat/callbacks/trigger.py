# SPDX-License-Identifier: Apache-2.0
"""Callbacks that run more or less often than they would by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine.hooks import Callback, ProxyCallback
from ..utils.errors import say

__all__ = ["EnableCallbackIf", "PeriodicCallback", "PeriodicRunHooks", "PeriodicTrigger"]


def _period(who: str, name: str, k: int | None) -> int | None:
    if k is None:
        return None
    if int(k) != k or k < 1:
        raise ValueError(say(who, expected=f"{name}: a whole number of at least 1, or None",
                             received=repr(k), do="Pass how many."))
    return int(k)


def _some_period(who: str, *periods: int | None) -> None:
    if all(p is None for p in periods):
        raise ValueError(say(who, expected="every_k_steps or every_k_epochs",
                             received="neither", do="Pass at least one of them."))


class PeriodicTrigger(ProxyCallback):
    """Calls a callback's ``trigger()`` every so often.

    It takes the place of the callback's ``trigger_epoch``; all its other methods are called as
    ever.

    Args:
        triggerable: the callback.
        every_k_steps: trigger when ``global_step`` is a multiple of it.
        every_k_epochs: trigger when ``epoch_num`` is a multiple of it.
        before_train: trigger in ``before_train``, too.

    Example:
        .. code-block:: python

            PeriodicTrigger(ModelSaver(), every_k_epochs=5)
    """

    def __init__(self, triggerable: Callback, every_k_steps: int | None = None,
                 every_k_epochs: int | None = None, before_train: bool = False) -> None:
        super().__init__(triggerable)
        self._step_k = _period("PeriodicTrigger", "every_k_steps", every_k_steps)
        self._epoch_k = _period("PeriodicTrigger", "every_k_epochs", every_k_epochs)
        self._do_before_train = before_train
        if not before_train:
            _some_period("PeriodicTrigger", self._step_k, self._epoch_k)

    def _before_train(self) -> None:
        self.cb.before_train()
        if self._do_before_train:
            self.cb.trigger()

    def _trigger_step(self) -> None:
        self.cb.trigger_step()
        if self._step_k is not None and self.global_step % self._step_k == 0:
            self.cb.trigger()

    def _trigger_epoch(self) -> None:
        if self._epoch_k is not None and self.epoch_num % self._epoch_k == 0:
            self.cb.trigger()

    def _hears(self, *events: str) -> bool:
        return self.cb._hears(*events) or ("trigger_step" in events and self._step_k is not None)

    def __str__(self) -> str:
        return f"PeriodicTrigger-{self.cb}"


class EnableCallbackIf(ProxyCallback):
    """Turns a callback off, except where a condition holds.

    Off are ``before_epoch``, ``after_epoch``, ``before_run``, ``after_run``, ``trigger_step`` and
    ``trigger_epoch``. For a run the condition is asked once, before it.

    Args:
        callback: the callback.
        pred: called with this callback as ``pred(self)``; must have no side effects.

    Example:
        .. code-block:: python

            EnableCallbackIf(GraphProfiler(), lambda self: 20 < self.global_step < 30)
    """

    def __init__(self, callback: Callback, pred: Callable[[Any], bool]) -> None:
        super().__init__(callback)
        if not callable(pred):
            raise TypeError(say("EnableCallbackIf", expected="pred: a function",
                                received=repr(pred),
                                do="Pass e.g. lambda self: self.epoch_num > 3."))
        self._pred = pred
        self._enabled = False

    def _before_run(self, ctx: Any) -> Any:
        self._enabled = bool(self._pred(self))
        return self.cb.before_run(ctx) if self._enabled else None

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        if self._enabled:
            self.cb.after_run(run_context, run_values)

    def _before_epoch(self) -> None:
        if self._pred(self):
            self.cb.before_epoch()

    def _after_epoch(self) -> None:
        if self._pred(self):
            self.cb.after_epoch()

    def _trigger_epoch(self) -> None:
        if self._pred(self):
            self.cb.trigger_epoch()

    def _trigger_step(self) -> None:
        if self._pred(self):
            self.cb.trigger_step()

    def _hears(self, *events: str) -> bool:
        return self.cb._hears(*events)

    def __str__(self) -> str:
        return f"EnableCallbackIf-{self.cb}"


class PeriodicCallback(EnableCallbackIf):
    """Turns a callback off, except every so often.

    It can only make a callback do less; ``PeriodicTrigger`` can make it do more.

    Args:
        callback: the callback.
        every_k_steps: on where ``global_step`` is a multiple of it.
        every_k_epochs: on where ``epoch_num`` is a multiple of it, and at the last step of the
            training.
    """

    def __init__(self, callback: Callback, every_k_steps: int | None = None,
                 every_k_epochs: int | None = None) -> None:
        self._step_k = _period("PeriodicCallback", "every_k_steps", every_k_steps)
        self._epoch_k = _period("PeriodicCallback", "every_k_epochs", every_k_epochs)
        _some_period("PeriodicCallback", self._step_k, self._epoch_k)
        super().__init__(callback, PeriodicCallback.predicate)

    def predicate(self) -> bool:
        """Whether it is on."""
        if self._step_k is not None and self.global_step % self._step_k == 0:
            return True
        if self._epoch_k is None:
            return False
        last = (self.epoch_num == self.trainer.max_epoch
                and self.local_step == self.trainer.steps_per_epoch - 1)
        return last or self.epoch_num % self._epoch_k == 0

    def __str__(self) -> str:
        return f"PeriodicCallback-{self.cb}"


class PeriodicRunHooks(EnableCallbackIf):
    """Turns a callback's ``before_run`` and ``after_run`` off, except every so many steps.

    All other methods are called as ever.

    Args:
        callback: the callback.
        every_k_steps: on where ``global_step`` is a multiple of it.
    """

    def __init__(self, callback: Callback, every_k_steps: int) -> None:
        self._step_k = _period("PeriodicRunHooks", "every_k_steps", every_k_steps)
        _some_period("PeriodicRunHooks", self._step_k)
        super().__init__(callback, lambda self: self.global_step % self._step_k == 0)

    _before_epoch = ProxyCallback._before_epoch
    _after_epoch = ProxyCallback._after_epoch
    _trigger_epoch = ProxyCallback._trigger_epoch
    _trigger_step = ProxyCallback._trigger_step
