# SPDX-License-Identifier: Apache-2.0
"""Trainers whose model is a function, called once for each tower."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..callbacks.queue_size import QueueSize, meter_of
from ..graph_builder.devices import tower_device
from ..graph_builder.gradients import gradients_of
from ..input_source.feed import PlaceholderInput
from ..input_source.input_source_base import InputSource, remap_input_source
from ..predict.base import OnlinePredictor
from ..tfutils.tower import PredictTowerContext, TowerFunc, get_current_tower_context
from ..utils import logger
from ..utils.argtools import memoized_ignoreargs
from ..utils.errors import say
from .base import Trainer, inside_graph
from .config import TrainConfig

__all__ = ["SingleCostTrainer", "TowerTrainer", "logger"]

v1 = tf.compat.v1


class TowerTrainer(Trainer):
    """A trainer with a tower function.

    A subclass sets ``self.tower_func`` and calls it in a ``TowerContext(..., is_training=True)``;
    predictors and InferenceRunner call it again.

    Attributes:
        input_meter: the meter of the training input's queue, or None.
    """

    _tower_func: TowerFunc | None = None
    input_meter: Any = None

    @property
    def tower_func(self) -> TowerFunc:
        """The function that builds the model in a tower."""
        if self._tower_func is None:
            raise RuntimeError(say(type(self).__name__, expected="self.tower_func",
                                   received="none", do="Set it, or call setup_graph."))
        return self._tower_func

    @tower_func.setter
    def tower_func(self, value: TowerFunc) -> None:
        if not isinstance(value, TowerFunc):
            raise TypeError(say("tower_func", expected="a TowerFunc", received=repr(value),
                                do="Wrap the function: TowerFunc(function, signature)."))
        self._tower_func = value

    def set_tower_func(self, tower_func: TowerFunc) -> None:
        """Set ``tower_func``, as before 0.9."""
        self.tower_func = tower_func

    @property
    def input_signature(self) -> list[Any]:
        """``tf.TensorSpec`` of the inputs."""
        return self.tower_func.input_signature

    inputs_desc = input_signature

    @property
    def towers(self) -> Any:
        """Handles of all towers built so far."""
        return self.tower_func.towers

    @property
    def _predictors(self) -> list[OnlinePredictor]:
        found: list[OnlinePredictor] = self.__dict__.setdefault("_made_predictors", [])
        return found

    @inside_graph
    def get_predictor(self, input_names: Sequence[str], output_names: Sequence[str],
                      device: int = 0) -> OnlinePredictor:
        """Return a predictor that uses the variables in training, at any time of it.

        Call it before the graph is final, e.g. in a callback's ``_setup_graph``; use it when the
        session is there.

        Args:
            input_names: names of tensors to feed.
            output_names: names of tensors to fetch.
            device: number of the GPU to predict on; -1: the CPU.
        """
        name = f"tower-pred-{device}" if device >= 0 else "tower-pred-cpu"
        if not any(handle.ns_name == name for handle in self.towers):
            self._build_prediction_tower(name, device)
        tower = self.towers[name]
        predictor = OnlinePredictor(tower.get_tensors(input_names),
                                    tower.get_tensors(output_names), sess=self.sess)
        self._predictors.append(predictor)
        return predictor

    def _build_prediction_tower(self, name: str, device: int) -> None:
        source = PlaceholderInput()
        source.setup(self.input_signature)
        where = tower_device(device) if device >= 0 else "/cpu:0"
        with v1.variable_scope(v1.get_variable_scope(), reuse=True, auxiliary_name_scope=False), \
                v1.device(where), \
                PredictTowerContext(name, vs_name=self._vs_name_for_predictor(device)):
            self.tower_func(*source.get_input_tensors())

    @inside_graph
    def get_predictors(self, input_names: Sequence[str], output_names: Sequence[str],
                       n: int) -> list[OnlinePredictor]:
        """Return ``n`` predictors, on GPUs in turn, as before 0.8."""
        return [self.get_predictor(input_names, output_names, device=i) for i in range(n)]

    def get_predict_func(self, input_names: Sequence[str], output_names: Sequence[str],
                         tower: int = 0) -> OnlinePredictor:
        """``get_predictor``, as before 0.8."""
        return self.get_predictor(input_names, output_names, device=tower)

    def _vs_name_for_predictor(self, device: int) -> str:
        """The variable scope of the training tower on a device."""
        towers = self.towers.training()
        devices = list(getattr(self, "devices", [0]))
        return str(towers[devices.index(device)].vs_name) if device in devices[:len(towers)] else ""

    @inside_graph
    def initialize(self, session_creator: Any, session_init: Any) -> None:
        """Make the session, give variables their values, and hand it to the predictors."""
        super().initialize(session_creator, session_init)
        for predictor in self._predictors:
            predictor.sess = self.sess


class SingleCostTrainer(TowerTrainer):
    """A trainer of a model with one cost and one optimizer.

    A subclass writes ``_setup_graph(input, get_cost_fn, get_opt_fn)``, which sets
    ``self.train_op`` and returns callbacks.

    Attributes:
        AGGREGATION_METHOD, COLOCATE_GRADIENTS_WITH_OPS, GATE_GRADIENTS: as of
            ``Optimizer.compute_gradients``.
        XLA_COMPILE: whether the model and its gradients are compiled with XLA.
    """

    COLOCATE_GRADIENTS_WITH_OPS = True
    GATE_GRADIENTS = False
    AGGREGATION_METHOD = v1.AggregationMethod.DEFAULT
    XLA_COMPILE = False

    _input: InputSource | None = None

    @inside_graph
    def setup_graph(self, input_signature: Sequence[Any], input: InputSource,
                    get_cost_fn: Callable[..., Any], get_opt_fn: Callable[[], Any]) -> None:
        """Build the training graph.

        Args:
            input_signature: ``tf.TensorSpec`` of the inputs.
            input: where they come from.
            get_cost_fn: maps input tensors to the cost, e.g. ``model.build_graph``.
            get_opt_fn: returns the optimizer, e.g. ``model.get_optimizer``; called once.
        """
        if self._tower_func is not None:
            raise RuntimeError(say(f"{type(self).__name__}.setup_graph", expected="one call",
                                   received="another one", do="Make a new trainer."))
        self.tower_func = TowerFunc(get_cost_fn, input_signature)
        get_opt_fn = memoized_ignoreargs(get_opt_fn)
        callbacks = list(self._setup_input(input_signature, input))
        callbacks += self._setup_graph(input, self.tower_func, get_opt_fn)
        for cb in callbacks:
            self.register_callback(cb)

    def _setup_input(self, input_signature: Sequence[Any], input: InputSource) -> list[Any]:
        if not isinstance(input, InputSource):
            raise TypeError(say(f"{type(self).__name__}.setup_graph", expected="an InputSource",
                                received=type(input).__name__,
                                do="Wrap the dataflow: QueueInput(df)."))
        self._input = input
        callbacks = list(input.get_callbacks() if input.setup_done()
                         else input.setup(input_signature))
        self.input_meter = meter_of(input)[1]
        if self.input_meter is not None:
            callbacks.append(QueueSize(input))
        return callbacks

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        """Build towers, set ``self.train_op``; return callbacks."""
        raise NotImplementedError(say(type(self).__name__, expected="a method _setup_graph(input, "
                                      "get_cost_fn, get_opt_fn)", received="none",
                                      do="Write it, or use SimpleTrainer."))

    def _make_get_grad_fn(self, input: InputSource, get_cost_fn: Callable[..., Any],
                          get_opt_fn: Callable[[], Any]) -> Callable[[], Any]:
        """Return a function that builds a tower and returns its (gradient, variable) pairs."""
        def get_grads() -> Any:
            inputs = input.get_input_tensors()
            if not self.XLA_COMPILE:
                return self._gradients(get_cost_fn(*inputs), get_opt_fn)
            return self._compiled_gradients(inputs, get_cost_fn, get_opt_fn)
        return get_grads

    def _gradients(self, cost: Any, get_opt_fn: Callable[[], Any]) -> list[tuple[Any, Any]]:
        context = get_current_tower_context()
        return gradients_of(
            cost, get_opt_fn(), _own(v1.trainable_variables(), context), tower=context.name,
            gate_gradients=int(self.GATE_GRADIENTS),
            colocate_gradients_with_ops=self.COLOCATE_GRADIENTS_WITH_OPS,
            aggregation_method=self.AGGREGATION_METHOD)

    def _compiled_gradients(self, inputs: Sequence[Any], get_cost_fn: Callable[..., Any],
                            get_opt_fn: Callable[[], Any]) -> list[tuple[Any, Any]]:
        variables: list[Any] = []

        def compute(*tensors: Any) -> list[Any]:
            grads = self._gradients(get_cost_fn(*tensors), get_opt_fn)
            variables.extend(v for _, v in grads)
            return [tf.convert_to_tensor(g) for g, _ in grads]

        return list(zip(tf.xla.experimental.compile(compute, list(inputs)), variables))

    # ---- the shorter way

    @inside_graph
    def setup(self, input: Any, model: Any, input_names: Sequence[str] | None = None) -> Any:
        """Build the training graph of a model.

        Args:
            input: an InputSource, or a DataFlow.
            model: a ModelDesc.
            input_names: for each component of the data the name of the input it feeds, where
                that is not simply their order.

        Returns:
            The trainer.

        Example:
            ``SimpleTrainer().setup(QueueInput(df), Model()).train(callbacks, max_epoch=3)``
        """
        from .interface import apply_default_prefetch  # that module needs this one
        source = apply_default_prefetch(input, self)
        if input_names is not None and list(input_names) != list(model.input_names):
            source = remap_input_source(source, input_names)
        self.setup_graph(model.get_input_signature(), source, model._build_graph_get_cost,
                         model.get_optimizer)
        return self

    def _steps_of_input(self) -> int:
        if self._input is None:
            return super()._steps_of_input()
        try:
            return int(self._input.size())
        except (NotImplementedError, TypeError) as e:
            raise type(e)(say(f"{type(self).__name__}.train", expected="steps_per_epoch, or an "
                              "input that has a size", received="neither",
                              do="Pass steps_per_epoch.")) from e

    def _train_from_config(self, config: TrainConfig) -> None:
        from .interface import launch_train_with_config  # that module needs this one
        launch_train_with_config(config, self)


def _own(variables: Sequence[Any], context: Any) -> list[Any]:
    """The variables that a tower trains: its own, or all where towers share them."""
    if not context.vs_name:
        return list(variables)
    return [v for v in variables if v.op.name.startswith(context.vs_name + "/")]
