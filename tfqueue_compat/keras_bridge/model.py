# SPDX-License-Identifier: Apache-2.0
"""A legacy ModelDesc as a Keras model."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from ..graph_builder.model_desc import ModelDescBase
from ..utils.errors import NotSupported, say
from .callbacks import fit_with
from .dataset import as_keras_data, as_model_inputs
from .eager import eagerly
from .graph import ModelGraph
from .learning_rate import OptimizerFace
from .prediction import predicted
from .strategy import AcrossWorkers, TowerBatches
from .tower import Tower, samples_of, tower_context
from .update import Update, has_optimizer
from .variables import ModelVariable, VariableStore
from .weights import ModelFiles, value_of

__all__ = ["ModelDescModel"]

v1 = tf.compat.v1
_LOSS = "loss"


class ModelDescModel(AcrossWorkers, ModelFiles):
    """A Keras model made of a ModelDesc, which stays as it is.

    Keras traces the model's own ``build_graph``, and the TF 1 optimizer of its ``optimizer()``
    trains: weights and losses equal those of tensorpack's trainers. ``compile`` need not be
    called.

    The cost is the metric ``loss``; scalars given to ``add_moving_summary`` are metrics, too: means
    over the samples of the epoch. Other summaries are evaluated where the callback
    ``MergeAllSummaries`` asks for them.

    Args:
        model_desc: a ModelDesc, also of the older forms with ``_build_graph`` and ``self.cost``.
            To train on several devices, make this object under ``with strategy.scope()``.
        output_names: what ``predict`` returns: the name of a tensor, or a list of names.
        name: of the Keras model; by default the ModelDesc's class.

    Attributes:
        model_desc: the ModelDesc.

    Raises:
        TypeError: for something else than a ModelDesc.
        RuntimeError: inside of a graph.

    Example:
        .. code-block:: python

            model = ModelDescModel(Model(), output_names=["prob"])
            model.fit(QueueInput(train), epochs=3, steps_per_epoch=100, validation_data=test)
            prob, = model.predict(QueueInput(images))
    """

    @eagerly
    def __init__(self, model_desc: Any, output_names: str | Sequence[str] | None = None,
                 name: str | None = None) -> None:
        if not isinstance(model_desc, ModelDescBase):
            what = f"the class {model_desc.__name__}" if isinstance(model_desc, type) \
                else repr(model_desc)
            raise TypeError(say("ModelDescModel", expected="a ModelDesc", received=what,
                                do="Pass an instance of your subclass of ModelDesc."))
        super().__init__(name=name or type(model_desc).__name__.lower())
        _require_float32(self.dtype_policy)
        self.model_desc = model_desc
        self._default_outputs = output_names
        self._asked: Any = output_names
        self._input_names: Sequence[str] | None = None
        self._made_under = tf.distribute.get_strategy()
        self._store = VariableStore()
        self._update = Update(model_desc, self._store)
        with self.distribute_strategy.scope():
            names = self._make_variables()
            self._scalar_metrics = [keras.metrics.Mean(name=n)
                                    for n in dict.fromkeys([_LOSS, *names])]
            self.compile()
        self.built = True

    def _make_variables(self) -> list[str]:
        """Make all variables, the optimizer's too, in a trace that is then forgotten.

        Returns:
            The names of the scalars that the model reports.
        """
        names: list[str] = []

        def trace(*inputs: Any) -> None:
            with self._store.tracing():
                with tower_context(True) as context:
                    tower = Tower(self.model_desc, context, inputs)
                    if has_optimizer(self.model_desc) and tf.distribute.has_strategy():
                        self._update.make_slots()
                    elif has_optimizer(self.model_desc) and tower.cost is not None:
                        self._update(tower)
                names.extend(tower.scalars)

        v1.wrap_function(trace, [tf.TensorSpec(s.shape, s.dtype)
                                 for s in self.model_desc.get_input_signature()])
        self._model_variables = [ModelVariable(v, n) for n, v in self._store.variables.items()
                                 if n not in self._store.local]
        for v in self._model_variables:  # for tf.train.Checkpoint, which does not ask Keras
            self._track_trackable(v.value, v.path)
        self._store.closed = f"{type(self.model_desc).__name__} in training"
        return names

    # ---- how Keras is told

    @eagerly
    def compile(self, optimizer: Any = None, loss: Any = None, *, steps_per_execution: int = 1,
                jit_compile: Any = False, **kwargs: Any) -> None:
        """Set how steps are run; there is no need to.

        Args:
            steps_per_execution: steps in one call of TensorFlow: less of Python for small models.
            jit_compile: whether XLA compiles a step.

        Raises:
            NotSupported: for what the ModelDesc brings itself: optimizer, loss and metrics.
        """
        given = {"optimizer": optimizer, "loss": loss, **kwargs}
        for key, value in given.items():
            if value not in (None, False):
                raise NotSupported(say(
                    f"{type(self).__name__}.compile", expected="steps_per_execution and "
                    "jit_compile", received=f"{key}=", do="Leave it out: the ModelDesc has its "
                    "optimizer and its cost; give more metrics to add_moving_summary."))
        compiled = bool(jit_compile) and jit_compile != "auto"
        if compiled and self.distribute_strategy.num_replicas_in_sync > 1:
            raise NotSupported(say(f"{type(self).__name__}.compile(jit_compile=True)",
                                   expected="one device", received="several",
                                   do="Leave it out."))
        super().compile(optimizer=None, steps_per_execution=steps_per_execution,
                        jit_compile=compiled)
        self.optimizer = OptimizerFace(lambda: self._store.variables, value_of,
                                       lambda variable, value: variable.assign(value))

    @property
    def metrics(self) -> list[Any]:
        """The means of the cost, and of the scalars given to ``add_moving_summary``."""
        return list(self.__dict__.get("_scalar_metrics", ()))

    def _maybe_symbolic_build(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: it is built. Keras' own fails with several workers."""

    # ---- what Keras traces

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of training.

        Args:
            data: a batch: a tensor for each input of the model.

        Returns:
            The metrics so far.
        """
        inputs = as_model_inputs(self.model_desc, data)
        if self.jit_compile:  # XLA has no summaries
            graph = ModelGraph(self.model_desc, self._store, trains=True)
            return self._measured(graph.traced_step(inputs),
                                  samples_of(inputs, self.model_desc.get_input_signature()))
        with self._store.tracing():
            with tower_context(True) as context:
                tower = Tower(self.model_desc, context, inputs)
                finish = self._update(tower)
        finish()
        return self._measured(*_measures(tower))

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate a batch, given as for ``train_step``; return the metrics so far."""
        inputs = as_model_inputs(self.model_desc, data)
        return self._measured(*predicted(self.model_desc, self._store, inputs, _measures))

    def predict_step(self, data: Any) -> Any:
        """Return the tensors that were asked for, for a batch of inputs."""
        inputs = as_model_inputs(self.model_desc, data, self._input_names, partial=True)
        asked = self._asked
        if not asked:
            raise ValueError(say(f"{type(self).__name__}.predict", expected="output_names",
                                 received="none", do="Name the tensors to return, here or in "
                                 "the constructor, e.g. output_names=['prob']."))
        if isinstance(asked, str):
            return predicted(self.model_desc, self._store, inputs,
                             lambda tower: tower.handle[asked])
        return predicted(self.model_desc, self._store, inputs,
                         lambda tower: tower.handle.get_tensors(asked))

    def call(self, inputs: Any) -> Any:
        """Return the tensors that the constructor was told of; inputs as for ``predict_step``."""
        self._asked, self._input_names = self._default_outputs, None
        return tf.function(self.predict_step, autograph=False)(inputs)

    def _measured(self, values: dict[str, Any], samples: Any) -> dict[str, Any]:
        for metric in self._scalar_metrics:
            if metric.name in values:
                # where batches are not enough for all replicas some get an empty one: no number
                value = tf.math.multiply_no_nan(values[metric.name],
                                                tf.cast(tf.greater(samples, 0), tf.float32))
                metric.update_state(value, sample_weight=samples)
        results = {m.name: m.result() for m in self._scalar_metrics if m.name in values}
        measured: dict[str, Any] = self._reducible(results)
        return measured

    # ---- what users call

    @eagerly
    def fit(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Train, as ``keras.Model.fit``.

        Args:
            x: a QueueInput, a DataFlow, or what Keras takes, with a component for each input of
                the model. With ``steps_per_epoch`` the data has no end, as in tensorpack.
            *args, **kwargs: as for ``keras.Model.fit``. ``validation_data`` is what ``x`` is.
                ``callbacks`` may have tensorpack's beside Keras'.

        Returns:
            A ``keras.callbacks.History``.

        Raises:
            Exception: what the dataflow, the model or a callback raised.
            NotSupported: for a callback that can't do without a ``tf.Session``; it is named.
        """
        given = dict(inspect.signature(super().fit).bind(x, *args, **kwargs).arguments)
        given["x"] = self._data("fit", x)
        if isinstance(given["x"], (tf.data.Dataset, TowerBatches)):
            given.setdefault("shuffle", False)  # Keras warns where it can't
        if given.get("validation_data") is not None:
            given["validation_data"] = self._data("fit(validation_data=...)",
                                                  given["validation_data"])
        fit_with(self, super().fit, given)
        return self.history

    @eagerly
    def evaluate(self, x: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Return the mean cost and metrics over data, as ``keras.Model.evaluate``."""
        return super().evaluate(self._data("evaluate", x), *args, **kwargs)

    @eagerly
    def predict(self, x: Any, *args: Any, output_names: str | Sequence[str] | None = None,
                input_names: Sequence[str] | None = None, **kwargs: Any) -> Any:
        """Return tensors of the model for data, as ``keras.Model.predict``.

        Args:
            x: a QueueInput, a DataFlow, or what Keras takes.
            output_names: the name of a tensor, or a list of names; by default what the
                constructor was given.
            input_names: the inputs that the components of ``x`` are for; by default the first
                ones. Inputs that are left out may not be needed for the outputs.
            *args, **kwargs: as for ``keras.Model.predict``.

        Returns:
            An array for a name, a list of arrays for a list; batches concatenated.

        Raises:
            KeyError: for a name that the model does not have; near names are suggested.
        """
        asked = self._default_outputs if output_names is None else output_names
        wanted = asked if isinstance(asked, str) else list(asked or ())
        names = None if input_names is None else list(input_names)
        if (wanted, names) != (self._asked, self._input_names):
            self._asked, self._input_names, self.predict_function = wanted, names, None
        return super().predict(self._data("predict", x), *args, **kwargs)

    def _data(self, method: str, x: Any) -> Any:
        if tf.distribute.has_strategy() and tf.distribute.get_strategy() is not self._made_under:
            raise ValueError(say(f"{type(self).__name__}.{method}", expected="the strategy under "
                                 "which the model was made", received="another one", do="Make the "
                                 "model under `with strategy.scope()`, too."))
        return as_keras_data(f"{type(self).__name__}.{method}", x,
                             self.model_desc.get_input_signature())


def _measures(tower: Tower) -> tuple[dict[str, Any], Any]:
    values = dict(tower.scalars)
    if tower.cost is not None:
        values[_LOSS] = tf.cast(tower.cost, tf.float32)
    return values, tower.samples


def _require_float32(policy: Any) -> None:
    if policy.compute_dtype != "float32":
        raise NotSupported(say("ModelDescModel", expected="the dtype policy 'float32'",
                               received=repr(policy.name), do="Cast in build_graph instead; "
                               "tf.get_variable takes a dtype."))
