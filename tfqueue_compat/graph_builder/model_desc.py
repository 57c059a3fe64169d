# SPDX-License-Identifier: Apache-2.0
"""A model as a class: its inputs, the function that builds it, and its optimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ..tfutils.gradproc import GradientProcessor
from ..tfutils.optimizer import apply_grad_processors
from ..tfutils.tower import get_current_tower_context
from ..utils import logger
from ..utils.errors import say

__all__ = ["InputDesc", "InputVar", "ModelDesc", "ModelDescBase"]

v1 = tf.compat.v1
_OPTIMIZERS = "_tfqueue_compat_optimizers"


class InputDesc(NamedTuple):
    """An input of a model, as it was written before ``tf.TensorSpec``.

    Attributes:
        type: its dtype.
        shape: its shape; None for what is open.
        name: its name.

    Example:
        >>> InputDesc(tf.float32, (None, 3), "image").dtype.name
        'float32'
    """

    type: Any
    shape: Any
    name: str

    @property
    def dtype(self) -> tf.DType:
        """The dtype."""
        return tf.as_dtype(self.type)


InputVar = InputDesc


class ModelDescBase:
    """What a trainer or a predictor needs of a model.

    A subclass writes ``inputs()`` and ``build_graph(*inputs)``. The older ``_get_inputs()`` and
    ``_build_graph(inputs)``, with one list, are called where a model has those instead.
    """

    _training: bool | None = None
    _signature: list[tf.TensorSpec] | None = None

    def inputs(self) -> list[Any]:
        """Return the inputs, in order: ``tf.TensorSpec``, or placeholders made here."""
        for old in ("_get_inputs", "_get_input_vars"):
            if hasattr(self, old):
                return list(getattr(self, old)())
        raise NotImplementedError(_unwritten(self, "inputs(self)", "a list of tf.TensorSpec"))

    def build_graph(self, *args: Any) -> Any:
        """Build the model; called once for each tower.

        Args:
            *args: a tensor for each input.

        Returns:
            For a trainer with one cost: the cost, a scalar tensor.
        """
        if not hasattr(self, "_build_graph"):
            raise NotImplementedError(_unwritten(self, "build_graph(self, *inputs)", "the cost"))
        out = self._build_graph(list(args))
        return self._old_cost() if out is None else out

    def get_input_signature(self) -> list[tf.TensorSpec]:
        """Return a ``tf.TensorSpec`` for each input; found once, by ``inputs()``."""
        if self._signature is None:
            with tf.Graph().as_default():
                inputs = self.inputs()
                self._signature = [_spec(self, i) for i in inputs]
        return self._signature

    def get_inputs_desc(self) -> list[InputDesc]:
        """Return an InputDesc for each input, as before 0.9.9."""
        return [InputDesc(s.dtype, s.shape.as_list() if s.shape.rank is not None else None, s.name)
                for s in self.get_input_signature()]

    @property
    def input_names(self) -> list[str]:
        """The names of the inputs, in order."""
        return [spec.name for spec in self.get_input_signature()]

    @property
    def training(self) -> bool:
        """Whether the tower that is being built trains; or what was assigned."""
        if self._training is not None:
            return self._training
        context = get_current_tower_context()
        if context is None:
            raise RuntimeError(say(f"{type(self).__name__}.training", expected="a tower around it",
                                   received="none", do="Ask for it inside build_graph."))
        return bool(context.is_training)

    @training.setter
    def training(self, value: bool) -> None:
        self._training = bool(value)

    def get_cost(self) -> Any:
        """Return ``self.cost`` and the losses of layers' regularizers, as before 0.9."""
        cost = getattr(self, "cost", None)
        if cost is None:
            raise ValueError(say(
                f"{type(self).__name__}.build_graph", expected="the cost to be returned, or "
                "kept in self.cost", received="neither", do="Return the cost."))
        losses = _regularization()
        if not losses:
            return cost
        logger.warning("%s keeps its cost in self.cost: %d regularization losses of the graph are "
                       "added to it.", type(self).__name__, len(losses))
        return tf.add_n([cost, *losses], name="cost_with_regularizer")

    def _old_cost(self) -> Any:
        return self.get_cost() if getattr(self, "cost", None) is not None else None

    def _build_graph_get_cost(self, *inputs: Any) -> Any:
        """Build the model; return its cost, wherever the model put it."""
        out = self.build_graph(*inputs)
        if out is not None or not get_current_tower_context().is_training:
            return out
        return self.get_cost()


class ModelDesc(ModelDescBase):
    """A model with one cost and one optimizer.

    A subclass writes ``inputs()``, ``build_graph(*inputs)``, which returns the cost, and
    ``optimizer()``; or their older forms with ``self.cost`` and ``_get_optimizer()``.

    Example:
        >>> class Square(ModelDesc):
        ...     def inputs(self):
        ...         return [tf.TensorSpec([None], tf.float32, "x")]
        ...     def build_graph(self, x):
        ...         w = tf.compat.v1.get_variable("w", initializer=1.0)
        ...         return tf.reduce_mean(tf.square(x - w), name="cost")
        ...     def optimizer(self):
        ...         return tf.compat.v1.train.GradientDescentOptimizer(0.1)
        >>> Square().input_names
        ['x']
    """

    def optimizer(self) -> Any:
        """Return a ``tf.compat.v1.train.Optimizer``; called once for each graph."""
        if hasattr(self, "_get_optimizer"):
            return self._get_optimizer()
        raise NotImplementedError(_unwritten(self, "optimizer(self)",
                                             "a tf.compat.v1.train.Optimizer"))

    def get_optimizer(self) -> Any:
        """Return the optimizer of the current graph; the same at each call."""
        graph = v1.get_default_graph()
        made = getattr(graph, _OPTIMIZERS, None)  # freed with the graph
        if made is None:
            made = {}
            setattr(graph, _OPTIMIZERS, made)
        if id(self) not in made:
            made[id(self)] = (self, self._processed(self.optimizer()))
        return made[id(self)][1]

    def _processed(self, optimizer: Any) -> Any:
        """The gradient processors that models before 0.6 named in a method of their own."""
        if not hasattr(self, "get_gradient_processor"):
            return optimizer
        processors: Sequence[GradientProcessor] = list(self.get_gradient_processor())
        return apply_grad_processors(optimizer, processors) if processors else optimizer


def _unwritten(model: Any, method: str, returns: str) -> str:
    return say(type(model).__name__, expected=f"a method {method} that returns {returns}",
               received="none", do="Write it.")


def _spec(model: Any, declared: Any) -> tf.TensorSpec:
    if isinstance(declared, tf.TensorSpec):
        spec = declared
    elif tf.is_tensor(declared):
        spec = tf.TensorSpec(declared.shape, declared.dtype, declared.op.name)
    elif hasattr(declared, "dtype") and hasattr(declared, "shape"):
        spec = tf.TensorSpec(declared.shape, declared.dtype, declared.name)
    else:
        raise TypeError(say(f"{type(model).__name__}.inputs", expected="a tf.TensorSpec for each "
                            "input", received=f"{type(declared).__name__} {declared!r}",
                            do="Write tf.TensorSpec(shape, dtype, name)."))
    if not spec.name:
        raise ValueError(say(f"{type(model).__name__}.inputs", expected="a name for each input",
                             received=f"{spec}", do="Write tf.TensorSpec(shape, dtype, name)."))
    return spec


def _regularization() -> list[Any]:
    """The regularization losses that belong to the tower that is being built."""
    key = v1.GraphKeys.REGULARIZATION_LOSSES
    context = get_current_tower_context()
    if context is None or not context.has_own_variables:
        return list(v1.get_collection(key))  # made with the variables, in the first tower
    return list(context.get_collection_in_tower(key))
