# SPDX-License-Identifier: Apache-2.0
"""What TF 1's layers share: one variable scope, weights by ``get_variable``, collections."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ...utils.errors import near, say
from .layers_spec import InputSpec, check_inputs
from .layers_weights import WeightMixin

__all__ = ["Layer"]

v1 = tf.compat.v1

_names_used: weakref.WeakKeyDictionary[Any, dict[str, int]] = weakref.WeakKeyDictionary()


def _snake(name: str) -> str:
    name = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    name = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return name if name[0] != "_" else "private" + name


def _unique_name(base: str) -> str:
    """Count the layers of a kind in this graph, as TF 1 did: dense_1, dense_2, ..."""
    used = _names_used.setdefault(v1.get_default_graph(), {})
    used[base] = used.get(base, 0) + 1
    return f"{base}_{used[base]}"


class Layer(WeightMixin):
    """TF 1's ``tf.layers.Layer``: subclasses define ``build`` (weights) and ``call`` (ops).

    The layer's variable scope is fixed at the first call: ``name`` made unique in the scope
    around it (``dense``, ``dense_1``), or exactly ``_scope`` where that is given. Calling the
    layer again reuses its weights. Works in graphs, inside ``tf.function`` and eagerly.

    Args:
        trainable: whether the weights go to ``TRAINABLE_VARIABLES``.
        name: name of the layer and of its scope; by default its class in snake case.
        dtype: dtype of the weights; by default that of the first input.
        activity_regularizer: maps an output to a scalar loss (divided by the batch size).
        _reuse: True to reuse variables, ``tf.AUTO_REUSE`` to reuse those that exist.
        _scope: a name or VariableScope used as it is.

    Raises:
        TypeError: for a keyword that no layer has.
    """

    _KEYWORDS = ("trainable", "name", "dtype", "activity_regularizer", "_reuse", "_scope")

    def __init__(self, trainable: bool = True, name: str | None = None, dtype: Any = None,
                 **kwargs: Any) -> None:
        unknown = set(kwargs) - set(self._KEYWORDS)
        if unknown:
            key = sorted(unknown)[0]
            raise TypeError(say(
                type(self).__name__, expected=f"keywords of TF 1's layer, {self._KEYWORDS}",
                received=repr(key), do=f"Remove or rename it.{near(key, self._KEYWORDS)}"))
        super().__init__(trainable, dtype)
        self._base_name = name or _snake(type(self).__name__)
        self._name = name or _unique_name(self._base_name)
        self._activity_regularizer = kwargs.get("activity_regularizer")
        self._reuse = kwargs.get("_reuse")
        self._scope: Any = None
        self._graph: Any = None
        self.built = False
        self.input_spec: InputSpec | Sequence[InputSpec] | None = None
        self._inputs: Any = None
        self._outputs: Any = None
        if kwargs.get("_scope"):
            with v1.variable_scope(kwargs["_scope"]) as captured:
                self._scope = captured

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        """Name of the layer."""
        return self._name

    @property
    def graph(self) -> Any:
        """The graph of the first call."""
        if v1.executing_eagerly():
            raise RuntimeError(say(f"Layer.graph of {self._name}", expected="a graph",
                                   received="eager execution", do="Use it under tf.Graph()."))
        return self._graph

    @property
    def scope_name(self) -> str:
        """Name of the layer's variable scope.

        Raises:
            ValueError: before the first call of a layer whose name is to be made unique.
        """
        if self._scope is None:
            raise ValueError(say(f"scope_name of layer {self._name}", expected="a called layer",
                                 received="one never called", do="Call the layer first."))
        return self._scope.name

    def build(self, input_shape: Any) -> None:
        """Create the weights for inputs of ``input_shape``."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the layer's outputs; subclasses define it."""
        return inputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: the same as ``layer(inputs, ...)``."""
        return self(inputs, *args, **kwargs)

    @tf.autograph.experimental.do_not_convert
    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Build on the first call, then return ``call(inputs, ...)`` under the layer's scope.

        Args:
            inputs: a tensor, array or structure of them.
            scope: (keyword) a VariableScope to live in, e.g. ``tf.get_variable_scope()``.
        """
        self._fix_scope(kwargs.pop("scope", None))
        inputs = tf.nest.map_structure(_as_tensor, inputs)
        self._graph = self._graph or v1.get_default_graph()
        if self.built and v1.executing_eagerly():
            # Eagerly there is no scope to reuse, and that of a graph may not open.
            outputs = self._outputs_of(inputs, *args, **kwargs)
        else:
            reuse = True if self.built else self._reuse
            with v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
                with tf.name_scope(_op_scope(scope)):
                    outputs = self._outputs_of(inputs, *args, **kwargs)
        if not v1.executing_eagerly():
            self._inputs, self._outputs = inputs, outputs
        return outputs

    def _outputs_of(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        self._build_once(inputs)
        outputs = self.call(inputs, *args, **kwargs)
        self._regularize_activity(inputs, outputs)
        return outputs

    def _fix_scope(self, scope: Any) -> None:
        if self._scope is not None:
            return
        if self._reuse:
            opened = v1.variable_scope(scope if scope is not None else self._base_name)
        else:
            opened = v1.variable_scope(scope, default_name=self._base_name)
        with opened as captured:
            self._scope = captured

    def _build_once(self, inputs: Any) -> None:
        check_inputs(self._name, self.input_spec, inputs)
        if self.built:
            return
        if self._dtype is None:
            first = tf.nest.flatten(inputs)
            if first and hasattr(first[0], "dtype"):
                self._dtype = tf.as_dtype(first[0].dtype).base_dtype
        self.build(tf.nest.map_structure(lambda x: x.shape, inputs))
        self.built = True
        check_inputs(self._name, self.input_spec, inputs)

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if self._activity_regularizer is None:
            return
        with tf.name_scope("ActivityRegularizer"):
            for output in tf.nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                self.add_loss(loss / tf.cast(tf.shape(output)[0], loss.dtype), inputs=inputs)

    def compute_output_shape(self, input_shape: Any) -> tf.TensorShape:
        """Return the output's shape for inputs of ``input_shape``, by tracing the layer apart."""
        with tf.Graph().as_default():
            twin = self._twin()
            return twin(v1.placeholder(self.dtype or tf.float32, input_shape)).shape

    def _twin(self) -> Layer:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.built, twin._scope, twin._graph = False, None, None
        twin._reset_weights()
        return twin

    @property
    def activity_regularizer(self) -> Any:
        """The function that maps an output to a loss, or None."""
        return self._activity_regularizer

    @property
    def input(self) -> Any:
        """Inputs of the last call in a graph."""
        return self._called(self._inputs)

    @property
    def output(self) -> Any:
        """Outputs of the last call in a graph."""
        return self._called(self._outputs)

    @property
    def input_shape(self) -> Any:
        """Shape of the inputs of the last call, as a tuple."""
        return tf.nest.map_structure(lambda x: tuple(x.shape.as_list()), self.input)

    @property
    def output_shape(self) -> Any:
        """Shape of the outputs of the last call, as a tuple."""
        return tf.nest.map_structure(lambda x: tuple(x.shape.as_list()), self.output)

    def _called(self, value: Any) -> Any:
        if value is None:
            raise AttributeError(say(f"Layer {self._name}", expected="a called layer",
                                     received="one never called", do="Call the layer first."))
        return value


def _as_tensor(x: Any) -> Any:
    return x if x is None or hasattr(x, "shape") and tf.is_tensor(x) else tf.convert_to_tensor(x)


def _op_scope(scope: Any) -> str:
    # The scope's own name scope, entered again and not made unique: dense/MatMul, dense/MatMul_1.
    name = scope.original_name_scope
    return name if not name or name.endswith("/") else name + "/"
