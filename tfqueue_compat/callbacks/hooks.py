# SPDX-License-Identifier: Apache-2.0
"""Session hooks as callbacks."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..compat.internals import local_cli_debug_hook
from ..engine.hooks import Callback, CallbackToHook
from ..utils.errors import say

__all__ = ["CallbackToHook", "HookToCallback", "TFLocalCLIDebugHook"]

v1 = tf.compat.v1


class HookToCallback(Callback):
    """A callback that does what a session hook does.

    The hook's ``after_create_session`` gets None for its coordinator. Its ``end`` is called after
    a training that failed, too.

    Args:
        hook: a ``tf.compat.v1.train.SessionRunHook``.
    """

    _chief_only = False

    def __init__(self, hook: Any) -> None:
        if not isinstance(hook, v1.train.SessionRunHook):
            raise TypeError(say("HookToCallback", expected="a tf.compat.v1.train.SessionRunHook",
                                received=f"{type(hook).__name__} {hook!r}",
                                do="Pass an instance of a subclass of it."))
        self._hook = hook

    def _setup_graph(self) -> None:
        with v1.name_scope(None):  # the hook knows nothing of a callback's scope
            self._hook.begin()

    def _before_train(self) -> None:
        self._hook.after_create_session(v1.get_default_session(), None)

    def _before_run(self, ctx: Any) -> Any:
        return self._hook.before_run(ctx)

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self._hook.after_run(run_context, run_values)

    def _after_train(self) -> None:
        self._hook.end(v1.get_default_session())

    def _hears(self, *events: str) -> bool:
        base = v1.train.SessionRunHook
        if set(events) == {"before_run", "after_run"} and type(self) is HookToCallback:
            return any(getattr(type(self._hook), name) is not getattr(base, name)
                       for name in events)
        return super()._hears(*events)

    def __str__(self) -> str:
        return f"HookToCallback-{type(self._hook).__name__}"


class TFLocalCLIDebugHook(HookToCallback):
    """TensorFlow's command-line debugger around each step.

    Args:
        *args: as for ``tfdbg.LocalCLIDebugHook``.
        **kwargs: the same.

    Raises:
        NotSupported: where this TensorFlow has it no more.
    """

    _chief_only = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(local_cli_debug_hook(*args, **kwargs))

    def add_tensor_filter(self, *args: Any, **kwargs: Any) -> None:
        """Add a filter, as ``tfdbg.LocalCLIDebugHook.add_tensor_filter`` does."""
        self._hook.add_tensor_filter(*args, **kwargs)
