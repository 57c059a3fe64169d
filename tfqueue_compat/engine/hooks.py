# SPDX-License-Identifier: Apache-2.0
"""The contract of a callback: what it may do, and when the loop calls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..utils.errors import near, say

__all__ = ["Callback", "CallbackFactory", "CallbackToHook", "ProxyCallback"]

v1 = tf.compat.v1
_SessionRunHook: Any = v1.train.SessionRunHook


class Callback:
    """Something that is done in training besides the steps.

    A subclass writes those of the methods with a leading underscore that it needs; the loop calls
    the ones without, which call these. In the order of a training:

    - ``_setup_graph()``: once, while the graph is built, in a name scope of its own. The only
      place where a callback may add to the graph.
    - ``_before_train()``: once, when variables have their values and nothing has run.
    - ``_before_epoch()``: ``epoch_num`` is the new epoch's already.
    - ``_before_run(ctx)``, ``_after_run(ctx, values)``: around each step's ``session.run``, as in
      ``tf.compat.v1.train.SessionRunHook``. ``_before_run`` returns what to fetch besides.
    - ``_trigger_step()``: after each step.
    - ``_after_epoch()``: after the last step, before anybody's ``_trigger_epoch``.
    - ``_trigger_epoch()``: after each epoch; by default it calls ``trigger()``.
    - ``_trigger()``: what a callback does when it is its turn, whoever says so: the end of an
      epoch, or e.g. a ``PeriodicTrigger``.
    - ``_after_train()``: once at the end, also after an error.

    Attributes:
        trainer: who trains; from ``setup_graph`` on.
        graph: the graph it trains in; from ``setup_graph`` on.
        name_scope: a name scope for ``_setup_graph``; where empty, the class's name.

    Example:
        >>> class Count(Callback):
        ...     steps = 0
        ...     def _trigger_step(self):
        ...         self.steps += 1
        >>> count = Count()
        >>> count.trigger_step()
        >>> count.steps
        1
    """

    name_scope: str = ""
    _chief_only = True
    trainer: Any
    graph: tf.Graph

    # ---- what the loop calls

    def setup_graph(self, trainer: Any) -> None:
        """Let the callback add to the current graph.

        Args:
            trainer: who trains.
        """
        self.trainer = trainer
        self.graph = v1.get_default_graph()
        with v1.name_scope(self.name_scope or type(self).__name__.replace("_", "")):
            self._setup_graph()

    def before_train(self) -> None:
        """Variables have their values, nothing has run yet."""
        self._before_train()

    def after_train(self) -> None:
        """Training is over, by whatever reason."""
        self._after_train()

    def before_epoch(self) -> None:
        """An epoch begins."""
        self._before_epoch()

    def after_epoch(self) -> None:
        """An epoch's steps are done."""
        self._after_epoch()

    def before_run(self, ctx: Any) -> Any:
        """Say what to fetch with the step that is about to run.

        Args:
            ctx: a ``tf.compat.v1.train.SessionRunContext``.

        Returns:
            None, or ``tf.compat.v1.train.SessionRunArgs``.
        """
        return self._run_args(self._before_run(ctx))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Receive what was fetched.

        Args:
            run_context: the same as in ``before_run``.
            run_values: a ``tf.compat.v1.train.SessionRunValues``; ``results`` is as the fetches.
        """
        self._after_run(run_context, run_values)

    def trigger_step(self) -> None:
        """A step is done."""
        self._trigger_step()

    def trigger_epoch(self) -> None:
        """An epoch is done."""
        self._trigger_epoch()

    def trigger(self) -> None:
        """It is the callback's turn."""
        self._trigger()

    # ---- what a subclass writes

    def _setup_graph(self) -> None:
        """Add to the graph."""

    def _before_train(self) -> None:
        """Prepare, with a session at hand."""

    def _after_train(self) -> None:
        """Clean up."""

    def _before_epoch(self) -> None:
        """Begin an epoch."""

    def _after_epoch(self) -> None:
        """End an epoch, quickly."""

    def _before_run(self, ctx: Any) -> Any:
        """Return fetches: None, SessionRunArgs, or tensors, operations or their names."""

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        """Use what was fetched."""

    def _trigger_step(self) -> None:
        """Do something after each step."""

    def _trigger_epoch(self) -> None:
        """Do something after each epoch."""
        self.trigger()

    def _trigger(self) -> None:
        """Do what this callback is for."""

    # ---- the clock, and the graph

    @property
    def epoch_num(self) -> int:
        """The number of the epoch that runs, or ran last; the first is 1."""
        epoch: int = self.trainer.epoch_num
        return epoch

    @property
    def global_step(self) -> int:
        """Steps done since the model was new. Within a step it counts that one from the moment
        its ``session.run`` has returned."""
        step: int = self.trainer.global_step
        return step

    @property
    def local_step(self) -> int:
        """The number of the step in its epoch; the first is 0."""
        step: int = self.trainer.local_step
        return step

    @property
    def chief_only(self) -> bool:
        """Whether, of several machines that train together, only the chief runs it."""
        return self._chief_only

    @chief_only.setter
    def chief_only(self, v: bool) -> None:
        self._chief_only = bool(v)

    def set_chief_only(self, v: bool = True) -> Any:
        """Set ``chief_only``.

        Args:
            v: its value.

        Returns:
            The callback.
        """
        self.chief_only = v
        return self

    def get_tensors_maybe_in_tower(self, names: Sequence[str]) -> list[Any]:
        """Find tensors in the graph, or else in the first training tower.

        Args:
            names: names: ``"cost:0"`` gives a tensor, ``"cost"`` the operation.

        Returns:
            One for each name.

        Raises:
            KeyError: where there is none of a name.
        """
        return [_find(self.graph, self.trainer, name) for name in names]

    def _run_args(self, fetches: Any) -> Any:
        if fetches is None or isinstance(fetches, v1.train.SessionRunArgs):
            return fetches
        if isinstance(fetches, (list, tuple)):
            fetches = [self._named(f) for f in fetches]
        return v1.train.SessionRunArgs(fetches=self._named(fetches))

    def _named(self, fetch: Any) -> Any:
        return self.get_tensors_maybe_in_tower([fetch])[0] if isinstance(fetch, str) else fetch

    def _hears(self, *events: str) -> bool:
        """Whether one of these methods does anything: what does nothing need not be called."""
        return any(getattr(type(self), name) is not getattr(Callback, name)
                   or name in vars(self)
                   for event in events for name in (event, f"_{event}"))

    def __str__(self) -> str:
        return type(self).__name__


def _find(graph: tf.Graph, trainer: Any, name: str) -> Any:
    for full in (name, *_tower_names(trainer, name)):
        try:
            return graph.as_graph_element(full)
        except (KeyError, ValueError):
            pass
    known = {op.name for op in graph.get_operations()}
    hint = near(name.partition(":")[0], known)
    raise KeyError(say(f"tensor {name!r}", expected="a name in the graph, or in the first "
                       "training tower", received="none of that name",
                       do="Use the name that the model gives it." + hint))


def _tower_names(trainer: Any, name: str) -> list[str]:
    """The name as it is in the first training tower, where the trainer has towers."""
    towers = getattr(trainer, "towers", None)
    training = list(towers.training()) if towers is not None else []
    scopes = [training[0].ns_name, training[0].vs_name] if training else []
    return [f"{scope}/{name}" for scope in scopes if scope]


class ProxyCallback(Callback):
    """A callback that does what another one does.

    Args:
        cb: the other callback.
    """

    def __init__(self, cb: Callback) -> None:
        require_callback(type(self).__name__, cb)
        self.cb = cb
        self.chief_only = cb.chief_only

    def _setup_graph(self) -> None:
        with v1.name_scope(None):  # the scope is the other's own, not one inside this one's
            self.cb.setup_graph(self.trainer)

    def _before_train(self) -> None:
        self.cb.before_train()

    def _after_train(self) -> None:
        self.cb.after_train()

    def _before_epoch(self) -> None:
        self.cb.before_epoch()

    def _after_epoch(self) -> None:
        self.cb.after_epoch()

    def _before_run(self, ctx: Any) -> Any:
        return self.cb.before_run(ctx)

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self.cb.after_run(run_context, run_values)

    def _trigger_step(self) -> None:
        self.cb.trigger_step()

    def _trigger_epoch(self) -> None:
        self.cb.trigger_epoch()

    def _trigger(self) -> None:
        self.cb.trigger()

    def _hears(self, *events: str) -> bool:
        own = any(getattr(type(self), name) is not getattr(ProxyCallback, name)
                  for event in events for name in (event, f"_{event}"))
        return own or self.cb._hears(*events)

    def __str__(self) -> str:
        return f"Proxy-{self.cb}"


class CallbackFactory(Callback):
    """A callback made of functions.

    Args:
        setup_graph: called as ``f(callback)`` in place of ``_setup_graph``.
        before_train: in place of ``_before_train``.
        trigger: in place of ``_trigger``.
        after_train: in place of ``_after_train``.

    Example:
        >>> CallbackFactory(trigger=lambda self: print("my turn")).trigger()
        my turn
    """

    def __init__(self, setup_graph: Callable[[Any], Any] | None = None,
                 before_train: Callable[[Any], Any] | None = None,
                 trigger: Callable[[Any], Any] | None = None,
                 after_train: Callable[[Any], Any] | None = None) -> None:
        self._functions = {"setup_graph": setup_graph, "before_train": before_train,
                           "trigger": trigger, "after_train": after_train}

    def _call(self, name: str) -> None:
        function = self._functions[name]
        if function is not None:
            function(self)

    def _setup_graph(self) -> None:
        self._call("setup_graph")

    def _before_train(self) -> None:
        self._call("before_train")

    def _trigger(self) -> None:
        self._call("trigger")

    def _after_train(self) -> None:
        self._call("after_train")


class CallbackToHook(_SessionRunHook):
    """A session hook that is a callback's ``before_run`` and ``after_run``.

    Args:
        cb: the callback.
    """

    def __init__(self, cb: Callback) -> None:
        self._cb = cb

    def before_run(self, ctx: Any) -> Any:
        """Ask the callback what to fetch."""
        return self._cb.before_run(ctx)

    def after_run(self, ctx: Any, vals: Any) -> None:
        """Hand the callback what was fetched."""
        self._cb.after_run(ctx, vals)


def require_callback(who: str, cb: Any) -> None:
    """Raise TypeError where ``cb`` is no callback."""
    if not isinstance(cb, Callback):
        what = f"the class {cb.__name__}" if isinstance(cb, type) else f"{type(cb).__name__} {cb!r}"
        raise TypeError(say(who, expected="a Callback", received=what,
                            do="Pass an instance of a subclass of Callback."))
