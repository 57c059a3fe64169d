# SPDX-License-Identifier: Apache-2.0
"""What tensorpack's callbacks see of a Keras ``fit``: a trainer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..callbacks.base import Callback
from ..callbacks.graph import RunUpdateOps
from ..callbacks.group import Callbacks
from ..callbacks.hooks import HookToCallback
from ..callbacks.inference_runner import DataParallelInferenceRunner, InferenceRunnerBase
from ..callbacks.monitor import JSONWriter, MonitorBase, Monitors, ScalarPrinter, TFEventWriter
from ..callbacks.queue_size import QueueSize, meter_of
from ..callbacks.steps import MaintainStepCounter
from ..callbacks.summary import MovingAverageSummary
from ..dataflow.common import BatchData
from ..engine.loop import TrainLoop
from ..input_source import BatchQueueInput, FeedInput, PlaceholderInput, QueueInput
from ..predict.base import OnlinePredictor
from ..tfutils.tower import PredictTowerContext
from ..utils import logger
from ..utils.errors import NotSupported, say
from .graph import ModelGraph

__all__ = ["KerasTrainer"]

v1 = tf.compat.v1

#: What they do is done in each step of the Keras machine anyway.
_DONE = (MaintainStepCounter, MovingAverageSummary, RunUpdateOps)


class KerasTrainer:
    """Stands for tensorpack's trainer where Keras trains.

    Args:
        graph: the model's graph.
        callbacks: tensorpack's callbacks; monitors may be among them. Without a monitor there are
            tensorpack's usual ones.
        source: what is trained on; where it has a queue, its occupancy is reported.
        is_chief: whether this process saves and logs.

    Attributes:
        loop: the clock.
        monitors: where summaries go.
        sess: runs the graph: see ``ModelGraph``.
    """

    config: Any = None
    input_meter: Any = None

    def __init__(self, graph: ModelGraph, callbacks: Sequence[Any], source: Any,
                 is_chief: bool = True) -> None:
        self.sess = self.hooked_sess = graph
        self.tower_func = graph.tower_func
        self.loop = TrainLoop()
        self.is_chief = is_chief
        given = [_as_callback(cb) for cb in callbacks]
        monitors = [cb for cb in given if isinstance(cb, MonitorBase)] or _usual_monitors()
        others = [cb for cb in given if not isinstance(cb, MonitorBase) and type(cb) not in _DONE]
        if meter_of(source)[1] is not None:
            others.append(QueueSize(source))
        self.monitors = Monitors([m for m in monitors if self._takes_part(m)])
        every = [cb for cb in [*others, *monitors] if self._takes_part(cb)]
        self.callbacks = Callbacks([*every, self.monitors])
        for cb in every:
            _feed_inference(cb)
        with graph.growing(), v1.name_scope(None):
            self.callbacks.setup_graph(self)
        self.hooks = self.callbacks.get_hooks()

    def _takes_part(self, cb: Callback) -> bool:
        return self.is_chief or not cb.chief_only

    # ---- what callbacks ask a trainer

    @property
    def towers(self) -> Any:
        """Handles of all towers in the graph."""
        return self.tower_func.towers

    def get_predictor(self, input_names: Sequence[str], output_names: Sequence[str],
                      device: int = 0) -> OnlinePredictor:
        """Return a predictor that uses the variables in training.

        Args:
            input_names: names of tensors to feed.
            output_names: names of tensors to fetch.
            device: names the tower; it is placed by TensorFlow.
        """
        name = f"tower-pred-{device}"
        if not any(handle.ns_name == name for handle in self.towers):
            source = PlaceholderInput()
            source.setup(self.tower_func.input_signature)
            with v1.name_scope(None), v1.variable_scope(
                    v1.get_variable_scope(), reuse=True, auxiliary_name_scope=False), \
                    PredictTowerContext(name):
                self.tower_func(*source.get_input_tensors())
        tower = self.towers[name]
        return OnlinePredictor(tower.get_tensors(input_names), tower.get_tensors(output_names),
                               sess=self.sess)

    def register_callback(self, cb: Any) -> bool:
        """Refused: callbacks are set up already.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(say("register_callback", expected="callbacks in fit(callbacks=[...])",
                               received=f"{cb} after they were set up", do="Pass it there."))

    epoch_num = property(lambda self: self.loop.epoch_num)
    global_step = property(lambda self: self.loop.global_step)
    local_step = property(lambda self: self.loop.local_step)
    steps_per_epoch = property(lambda self: self.loop.steps_per_epoch)
    starting_epoch = property(lambda self: self.loop.starting_epoch)
    max_epoch = property(lambda self: self.loop.max_epoch)

    # ---- steps

    def asked(self, run_step: Callable[[list[Any]], list[Any] | None]) -> bool:
        """Let the callbacks that want a part in ``session.run`` have it.

        Args:
            run_step: runs a step, given what is to be fetched with it; None for nothing.

        Returns:
            Whether one of them has asked for the end of training.
        """
        context = v1.train.SessionRunContext(v1.train.SessionRunArgs([]), self.sess)
        with self.sess.entered():
            asked = [hook.before_run(context) for hook in self.hooks]
        for hook, args in zip(self.hooks, asked):
            _require_plain(hook, args)
        results = run_step([None if a is None else a.fetches for a in asked])
        with self.sess.entered():
            for hook, result in zip(self.hooks, results or [None] * len(self.hooks)):
                hook.after_run(context, v1.train.SessionRunValues(result, None, None))
        return bool(context.stop_requested)


def _as_callback(cb: Any) -> Callback:
    if isinstance(cb, v1.train.SessionRunHook) and not isinstance(cb, Callback):
        return HookToCallback(cb).set_chief_only(False)  # type: ignore[no-any-return]
    if not isinstance(cb, Callback):
        raise TypeError(say("fit(callbacks=...)", expected="callbacks of Keras or of tensorpack",
                            received=repr(cb), do="Pass instances of their classes."))
    return cb


def _usual_monitors() -> list[Any]:
    if logger.get_logger_dir() is None:
        return [ScalarPrinter()]
    return [TFEventWriter(), JSONWriter(), ScalarPrinter()]


def _feed_inference(cb: Any) -> None:
    """Feed the data of inference: a queue belongs to a session of its own. One tower runs it."""
    while hasattr(cb, "cb"):
        cb = cb.cb
    if isinstance(cb, DataParallelInferenceRunner):
        cb._gpus = cb._gpus[:1]
    if not isinstance(cb, InferenceRunnerBase) or not isinstance(cb._input_source, QueueInput):
        return
    source = cb._input_source
    flow = BatchData(source.ds, source.batch_size) if isinstance(source, BatchQueueInput) \
        else source.ds
    cb._input_source = FeedInput(flow, infinite=False)


def _require_plain(hook: Any, args: Any) -> None:
    """Raise NotSupported where a callback wants more of ``session.run`` than tensors."""
    options = getattr(args, "options", None)
    if args is None or not args.feed_dict and (options is None or options == v1.RunOptions()):
        return
    what = "a feed_dict" if args.feed_dict else "RunOptions"
    raise NotSupported(say(f"{hook._cb} under Keras fit", expected="a callback that fetches "
                           "tensors with a step", received=f"one that passes {what} to "
                           "session.run", do="Leave it out; or train by SimpleTrainer, which has "
                           "a session. To profile, use keras.callbacks.TensorBoard(profile_batch="
                           "...)."))
