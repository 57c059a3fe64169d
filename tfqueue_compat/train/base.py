# SPDX-License-Identifier: Apache-2.0
"""A trainer: an operation that is one step, callbacks, a session, and the loop over them."""

from __future__ import annotations

import functools
import weakref
from abc import ABCMeta
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import tensorflow as tf

from ..callbacks.base import Callback
from ..callbacks.group import Callbacks
from ..callbacks.hooks import HookToCallback
from ..callbacks.monitor import Monitors
from ..callbacks.steps import MaintainStepCounter
from ..engine.loop import StopTraining, TrainLoop
from ..tfutils.model_utils import describe_trainable_vars
from ..tfutils.sesscreate import NewSessionCreator
from ..tfutils.sessinit import JustCurrentSession
from ..utils import logger
from ..utils.errors import say
from .config import DEFAULT_CALLBACKS, DEFAULT_MONITORS, TrainConfig
from .hooked import HookedSession

__all__ = ["StopTraining", "TrainLoop", "Trainer", "logger"]

v1 = tf.compat.v1
F = TypeVar("F", bound=Callable[..., Any])


def inside_graph(method: F) -> F:
    """Let a trainer's method run in the trainer's graph."""
    @functools.wraps(method)
    def inside(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.in_graph():
            return method(self, *args, **kwargs)
    return inside  # type: ignore[return-value]


class _Made(ABCMeta):
    """Lets a trainer be constructed in a graph: a subclass's constructor may build its model."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            return super().__call__(*args, **kwargs)
        graph = tf.Graph()
        with graph.as_default():
            trainer = super().__call__(*args, **kwargs)
        trainer._graph = graph
        return trainer


class Trainer(metaclass=_Made):
    """Trains: sets up callbacks, makes the session, and runs steps.

    A subclass sets ``self.train_op``, or writes ``run_step()``.

    Where the process is in graph mode, a trainer works in the current graph. In eager mode it
    has a graph of its own, in which its constructor runs as well; eager mode stays on.

    Args:
        *args: nothing, or a TrainConfig: ``SomeTrainer(config).train()``, as before 0.8.

    Attributes:
        is_chief: whether this process saves, logs and evaluates.
        sess: the session, from ``initialize`` on.
        hooked_sess: runs the session together with the callbacks; for the steps.
        monitors: where summaries go, from ``setup_callbacks`` on.
        loop: the clock.
        config: the TrainConfig, where one was given.

    Example:
        >>> class Count(Trainer):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.count = tf.compat.v1.get_variable("count", initializer=0)
        ...         self.train_op = self.count.assign_add(1).op
        >>> trainer = Count()
        >>> trainer.train([], [], steps_per_epoch=3, max_epoch=2)
        >>> trainer.global_step
        6
    """

    is_chief = True
    hooked_sess: Any = None
    sess: Any = None
    monitors: Any = None
    config: TrainConfig | None = None
    _graph: tf.Graph | None = None
    _callbacks: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.loop = TrainLoop()
        self._callbacks = []
        given = [*args, *kwargs.values()]
        configs = [a for a in given if isinstance(a, TrainConfig)]
        if configs:
            self.config = configs[0]
        elif given:
            raise TypeError(say(type(self).__name__, expected="nothing, or a TrainConfig",
                                received=", ".join(map(repr, given)),
                                do="Pass the model and the data to launch_train_with_config."))

    @contextmanager
    def in_graph(self) -> Iterator[None]:
        """A block in the trainer's graph; in the current one, where the process has one."""
        if not tf.executing_eagerly():
            yield
            return
        if self._graph is None:
            self._graph = tf.Graph()
        with self._graph.as_default():
            yield

    # ---- callbacks

    def register_callback(self, cb: Any) -> bool:
        """Add a callback to those that training will have.

        Args:
            cb: a Callback, or a ``SessionRunHook``, or a list of them, as
                ``InputSource.setup`` returns it.

        Returns:
            Whether it was added: another process than the chief leaves out ``chief_only`` ones.
            Of a list: whether all were.

        Raises:
            RuntimeError: when callbacks have been set up already.
        """
        if isinstance(cb, (list, tuple)):
            return all([self.register_callback(one) for one in cb])
        if isinstance(cb, v1.train.SessionRunHook) and not isinstance(cb, Callback):
            cb = HookToCallback(cb).set_chief_only(False)
        if not isinstance(cb, Callback):
            raise TypeError(say("register_callback", expected="a Callback", received=repr(cb),
                                do="Pass an instance of a subclass of Callback."))
        if isinstance(self._callbacks, Callbacks):
            raise RuntimeError(say("register_callback", expected="a call before train()",
                                   received=f"{cb} after callbacks were set up",
                                   do="Register it earlier, or pass it to train()."))
        if not self.is_chief and cb.chief_only:
            logger.warning("Callback %s is for the chief: this process goes without.", cb)
            return False
        self._callbacks.append(cb)
        return True

    _register_callback = register_callback

    @inside_graph
    def setup_callbacks(self, callbacks: Sequence[Any], monitors: Sequence[Any]) -> None:
        """Set up all callbacks, in the graph.

        Args:
            callbacks: beside those registered already.
            monitors: receive the summaries.
        """
        describe_trainable_vars()
        self.register_callback(MaintainStepCounter())
        for cb in callbacks:
            self.register_callback(cb)
        for cb in self._callbacks:
            if isinstance(cb, Monitors):
                raise TypeError(say("callbacks", expected="no Monitors among them",
                                    received=str(cb), do="Pass monitors=[...] instead."))
        kept = [m for m in monitors if self.register_callback(m)]
        self.monitors = Monitors(kept)
        self.register_callback(self.monitors)
        self._callbacks = Callbacks(self._callbacks)
        logger.info("Setup callbacks graph ...")
        self._callbacks.setup_graph(weakref.proxy(self))

    # ---- the session

    @inside_graph
    def initialize(self, session_creator: Any, session_init: Any) -> None:
        """Make the session and give variables their values.

        Args:
            session_creator: has ``create_session()``.
            session_init: a SessionInit.
        """
        session_init._setup_graph()
        logger.info("Creating the session ...")
        self.sess = session_creator.create_session()
        self.initialize_hooks()
        if self.is_chief:
            logger.info("Initializing the session ...")
            session_init._run_init(self.sess)
        elif not isinstance(session_init, JustCurrentSession):
            logger.warning("Only the chief loads a model: this process goes without.")
        self.sess.graph.finalize()
        logger.info("Graph Finalized.")

    def initialize_hooks(self) -> None:
        """Make ``hooked_sess``."""
        self.hooked_sess = HookedSession(self.sess, self._callbacks.get_hooks())

    # ---- the loop

    def run_step(self) -> None:
        """Run one step: ``self.train_op``, with the callbacks."""
        op = getattr(self, "train_op", None)
        if op is None:
            raise NotImplementedError(say(type(self).__name__, expected="self.train_op, or a "
                                          "method run_step", received="neither",
                                          do="Set it, or write one."))
        self.hooked_sess.run(op)

    @inside_graph
    def main_loop(self, steps_per_epoch: int, starting_epoch: int, max_epoch: int) -> None:
        """Train; the session is closed at the end.

        Args:
            steps_per_epoch: steps in an epoch.
            starting_epoch: number of the first epoch.
            max_epoch: number of the last epoch.
        """
        self.loop.config(steps_per_epoch, starting_epoch, max_epoch)
        try:
            with self.sess.as_default():
                self.loop.update_global_step()
                self.loop.run(self.run_step, self._callbacks, self._should_stop)
        finally:
            self.hooked_sess.close()

    def _should_stop(self) -> bool:
        return bool(self.hooked_sess.should_stop())

    @inside_graph
    def train(self, callbacks: Sequence[Any] | None = None, monitors: Sequence[Any] | None = None,
              session_creator: Any = None, session_init: Any = None,
              steps_per_epoch: int | None = None, starting_epoch: int = 1,
              max_epoch: int = 9999999) -> None:
        """Set up callbacks, initialize, and train.

        Without any argument, a trainer that was made from a TrainConfig trains as it says.

        Args:
            callbacks: what to do besides the steps.
            monitors: receive the summaries. Where left out, ``DEFAULT_MONITORS()``, and
                ``DEFAULT_CALLBACKS()`` come before ``callbacks``, which so see this epoch's
                summaries.
            session_creator: by default a NewSessionCreator.
            session_init: by default variables keep their initial values.
            steps_per_epoch: by default the size of the input given to ``setup``.
            starting_epoch: number of the first epoch.
            max_epoch: number of the last epoch.

        Raises:
            Exception: what the dataflow, a callback or a step raised.
        """
        if callbacks is None and steps_per_epoch is None and self.config is not None:
            self._train_from_config(self.config)
            return
        if steps_per_epoch is None:
            steps_per_epoch = self._steps_of_input()
        callbacks = list(callbacks or [])
        if monitors is None:
            monitors, callbacks = DEFAULT_MONITORS(), [*DEFAULT_CALLBACKS(), *callbacks]
        self.setup_callbacks(callbacks, monitors)
        self.initialize(session_creator or NewSessionCreator(),
                        session_init or JustCurrentSession())
        self.main_loop(steps_per_epoch, starting_epoch, max_epoch)

    def _train_from_config(self, config: TrainConfig) -> None:
        raise TypeError(say(f"{type(self).__name__}(config).train()", expected="a trainer of one "
                            "model", received=type(self).__name__,
                            do="Call train(callbacks, monitors, ..., steps_per_epoch=...)."))

    def _steps_of_input(self) -> int:
        raise TypeError(say(f"{type(self).__name__}.train", expected="steps_per_epoch",
                            received="none", do="Pass it."))

    def train_with_defaults(self, _sentinel: Any = None, callbacks: Sequence[Any] | None = None,
                            monitors: Sequence[Any] | None = None, session_creator: Any = None,
                            session_init: Any = None, steps_per_epoch: int | None = None,
                            starting_epoch: int = 1, max_epoch: int = 9999999,
                            extra_callbacks: Sequence[Any] | None = None) -> None:
        """Train, with TrainConfig's defaults for what is left out.

        Args:
            _sentinel: nothing: pass the others by name.
            callbacks: what to do besides the steps.
            monitors: by default ``DEFAULT_MONITORS()``.
            session_creator: by default a NewSessionCreator.
            session_init: by default variables keep their initial values.
            steps_per_epoch: steps in an epoch.
            starting_epoch: number of the first epoch.
            max_epoch: number of the last epoch.
            extra_callbacks: come after ``callbacks``; by default ``DEFAULT_CALLBACKS()``.
        """
        if _sentinel is not None:
            raise TypeError(say("train_with_defaults", expected="arguments by name",
                                received=f"{_sentinel!r} by position", do="Write callbacks=..."))
        extra = DEFAULT_CALLBACKS() if extra_callbacks is None else extra_callbacks
        self.train([*(callbacks or []), *extra],
                   DEFAULT_MONITORS() if monitors is None else monitors, session_creator,
                   session_init, steps_per_epoch, starting_epoch, max_epoch)

    # ---- the clock

    @property
    def epoch_num(self) -> int:
        """The number of the epoch that runs."""
        return self.loop.epoch_num

    @property
    def global_step(self) -> int:
        """Steps done since the model was new."""
        return self.loop.global_step

    @property
    def local_step(self) -> int:
        """The number of the step in its epoch, from 0."""
        return self.loop.local_step

    @property
    def steps_per_epoch(self) -> int:
        """Steps in an epoch."""
        return self.loop.steps_per_epoch

    @property
    def starting_epoch(self) -> int:
        """The number of the first epoch."""
        return self.loop.starting_epoch

    @property
    def max_epoch(self) -> int:
        """The number of the last epoch."""
        return self.loop.max_epoch
