# SPDX-License-Identifier: Apache-2.0
"""tensorpack's callbacks in Keras' ``fit``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf

from ..engine.hooks import Callback
from ..engine.loop import StopTraining
from ..utils import logger
from ..utils.errors import NotSupported, say
from .dataset import as_model_inputs
from .graph import ModelGraph
from .tower import samples_of
from .trainer import KerasTrainer

__all__ = ["LegacyCallbacks", "fit_with", "is_legacy"]

v1 = tf.compat.v1


def is_legacy(callback: Any) -> bool:
    """Return whether a callback is one of tensorpack's, or a session hook of TF 1."""
    return isinstance(callback, (Callback, v1.train.SessionRunHook))


class LegacyCallbacks(keras.callbacks.Callback):
    """Calls tensorpack's callbacks from Keras' loop.

    ``epoch_num``, ``local_step`` and ``global_step`` mean what they mean in tensorpack: the first
    epoch is 1, ``global_step`` is that of the model. Keras' metrics go to the monitors after each
    epoch.

    Args:
        model: a ModelDescModel.
        callbacks: tensorpack's callbacks; monitors may be among them.
        source: what is trained on.
        initial_epoch: epochs done before.
    """

    def __init__(self, model: Any, callbacks: Sequence[Any], source: Any,
                 initial_epoch: int = 0) -> None:
        super().__init__()
        self._desc, self._store = model.model_desc, model._store
        strategy = model.distribute_strategy
        self._several = strategy.num_replicas_in_sync > 1
        graph = ModelGraph(model.model_desc, model._store, trains=not self._several)
        self._trainer = KerasTrainer(graph, callbacks, source, _is_chief(strategy))
        self._callbacks = self._trainer.callbacks
        self._loop = self._trainer.loop
        self._initial_epoch = initial_epoch
        self._stopped = False
        self._began = 0

    # ---- around Keras' fit

    @contextmanager
    def training(self) -> Iterator[None]:
        """A block around ``fit``: ``after_train`` is called at its end, whatever ends it."""
        with self._loop.training(_Around(self._after_train)):
            yield

    def _after_train(self) -> None:
        with self._inside():
            self._callbacks.after_train()

    @contextmanager
    def _inside(self) -> Iterator[None]:
        with self._trainer.sess.entered():
            yield
        if self._several:
            self._store.spread()

    def _turn(self, function: Callable[..., Any], *args: Any) -> None:
        """Call what callbacks have to do, unless they have ended the training."""
        if self._stopped:
            return
        try:
            with self._inside():
                function(*args)
        except StopTraining as e:
            logger.info("Training was stopped: %s %s", type(e).__name__, e)
            self._stop()

    def _stop(self) -> None:
        self._stopped = self.model.stop_training = True

    # ---- what Keras calls

    def on_train_begin(self, logs: Any = None) -> None:
        """Begin: ``before_train``."""
        steps = self.params.get("steps")
        if steps is None:
            raise ValueError(say("fit with tensorpack's callbacks", expected="steps_per_epoch, "
                                 "or data that has a length", received="neither",
                                 do="Pass steps_per_epoch."))
        self._loop.config(steps, self._initial_epoch + 1, self.params["epochs"])
        self._loop.update_global_step(int(self._store.global_step()))
        self._turn(self._callbacks.before_train)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin an epoch."""
        self._began = 0
        self._turn(self._loop.begin_epoch, self._callbacks)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count the steps of one execution, and trigger each."""
        for step in range(self._began, batch + 1):
            self._loop.begin_step(step)
            if not self._trainer.hooks:
                self._loop.count_step()
            self._turn(self._callbacks.trigger_step)
        self._began = batch + 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Report Keras' metrics; then ``after_epoch`` and ``trigger_epoch``."""
        self._turn(self._report, logs or {})
        self._turn(self._loop.end_epoch, self._callbacks)

    def _report(self, logs: dict[str, Any]) -> None:
        monitors = self._trainer.monitors
        for name, value in logs.items():
            history = monitors.get_history(name)
            if not history or history[-1][0] != self._loop.global_step:
                monitors.put_scalar(name, float(value))

    # ---- steps in which callbacks take part

    def around(self, step: Callable[[Any], Any], model: Any) -> Callable[[Any], Any]:
        """Return Keras' train function with the callbacks' ``before_run`` and ``after_run``.

        Args:
            step: Keras' train function.
            model: the ModelDescModel.

        Raises:
            NotSupported: where callbacks want a part in the steps, and a step can't be had alone.
        """
        if not self._trainer.hooks:
            return step
        if model.steps_per_execution != 1:
            names = ", ".join(str(h._cb) for h in self._trainer.hooks)
            raise NotSupported(say(f"{names} under Keras fit", expected="steps_per_execution=1",
                                   received=model.steps_per_execution,
                                   do="Leave these callbacks out, or compile with 1."))

        def hooked(iterator: Any) -> Any:
            logs: list[Any] = []

            def run(fetches: list[Any]) -> list[Any] | None:
                if all(f is None for f in fetches):
                    logs.append(step(iterator))
                    results = None
                else:
                    results = self._run_with(fetches, iterator, model, logs)
                self._loop.count_step()
                return results

            self._loop.begin_step(self._began)
            if self._trainer.asked(run):
                self._stop()
            return logs[0]

        return hooked

    def _run_with(self, fetches: list[Any], iterator: Any, model: Any,
                  logs: list[Any]) -> list[Any]:
        graph = self._trainer.sess
        if graph.step is None:
            asking = [str(h._cb) for h, f in zip(self._trainer.hooks, fetches) if f is not None]
            raise NotSupported(say(f"{', '.join(asking)} under Keras fit", expected="one device",
                                   received="several, whose tensors can't be fetched with a step",
                                   do="Leave these callbacks out; give scalars to "
                                   "add_moving_summary instead."))
        inputs = as_model_inputs(self._desc, next(iterator))
        results: list[Any]
        _, scalars, *results = graph.run_fed([graph.step, graph.scalars, *fetches],
                                             list(zip(graph.inputs, inputs)))
        samples = samples_of(inputs, self._desc.get_input_signature())
        logs.append(model._measured(scalars, samples))
        return results


def fit_with(model: Any, fit: Callable[..., Any], given: dict[str, Any]) -> None:
    """Call Keras' ``fit`` with tensorpack's callbacks among Keras'.

    Args:
        model: a ModelDescModel.
        fit: ``keras.Model.fit`` of it.
        given: its arguments.
    """
    callbacks = given.get("callbacks") or []
    callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    legacy = [cb for cb in callbacks if is_legacy(cb)]
    if not legacy:
        fit(**given)
        return
    adapter = LegacyCallbacks(model, legacy, given["x"], given.get("initial_epoch", 0))
    rest = [cb for cb in callbacks if not is_legacy(cb)]
    rest.insert(callbacks.index(legacy[0]), adapter)
    model.make_train_function()
    plain = model.train_function
    model.train_function = adapter.around(plain, model)
    try:
        with adapter.training():
            fit(**{**given, "callbacks": rest})
    finally:
        model.train_function = plain


class _Around(Callback):
    """What is called after training; ``before_train`` waits for Keras to know the steps."""

    def __init__(self, after_train: Callable[[], None]) -> None:
        self._do = after_train

    def _after_train(self) -> None:
        self._do()


def _is_chief(strategy: Any) -> bool:
    resolver = strategy.cluster_resolver
    return resolver is None or not resolver.task_id
