# SPDX-License-Identifier: Apache-2.0
"""Keras 3 layers called in a tower of a TF 1 graph: phase, statistics, random numbers, losses."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

__all__ = ["number_from_one", "serve_keras", "variable_names"]

v1 = tf.compat.v1
_busy = threading.local()
_PENDING = "_keras_state"


def serve_keras() -> None:
    """Let Keras layers that are called in a tower do there what they do in Keras ``fit``.

    Left to itself, Keras 3 takes a call without ``training=`` for inference, and the assignments
    that a call makes in a TF 1 graph are operations that nobody runs: statistics of
    BatchNormalization stand still, and each step has the same dropout mask. In a tower

    - ``training`` is what the tower does, where it is not given;
    - in the first tower that trains, the new values of variables go to ``UPDATE_OPS``; other
      towers draw other random numbers;
    - variables are named as the layers are, without the tower's name scope;
    - ``layer.losses`` are those of this call.

    Every layer comes through ``keras.Layer.__call__``, the user's own ones too, so it is replaced;
    outside of towers it is what it was. Done once; nothing where Keras is not loaded.
    """
    keras = sys.modules.get("keras")
    layer = getattr(keras, "Layer", None)
    if keras is None or layer is None or keras.config.backend() != "tensorflow" \
            or hasattr(layer.__call__, "_tfqueue_compat"):
        return
    call = layer.__call__

    @functools.wraps(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        from .tower import get_current_tower_context  # that module needs this one
        graph = v1.get_default_graph()
        context = get_current_tower_context()
        if context is None or getattr(graph, "building_function", False) \
                or getattr(_busy, "layer", None) is not None:
            return call(self, *args, **kwargs)
        _busy.layer = self
        try:
            return _call(keras, call, context, self, args, kwargs)
        finally:
            _busy.layer = None

    __call__._tfqueue_compat = True  # type: ignore[attr-defined]
    layer.__call__ = __call__
    if not hasattr(layer, "updates"):  # scripts put them into UPDATE_OPS, where they are already
        layer.updates = ()


def _call(keras: Any, call: Any, context: Any, layer: Any, args: Any, kwargs: Any) -> Any:
    if any(isinstance(x, keras.KerasTensor) for x in keras.tree.flatten((args, kwargs))):
        return call(layer, *args, **kwargs)  # a model is being put together
    given = kwargs.get("training")
    if given is None or tf.is_tensor(given):  # a tensor: TF 1's learning phase
        kwargs["training"] = context.is_training
    if not layer.built:
        symbols = keras.tree.map_structure(
            lambda x: _symbol(keras, x) if tf.is_tensor(x) else x, (args, kwargs))
        with variable_names():
            call(layer, *symbols[0], **symbols[1])
    layer._clear_losses()
    before = [(v, _value_in(context, v)) for v in layer.non_trainable_variables]
    with keras.StatelessScope(before, collect_losses=True) as scope:
        outputs = call(layer, *args, **kwargs)
    if scope.losses:
        layer.add_loss(scope.losses)
    if context.is_training:
        _leave_to_train(layer)
        if context.is_main_training_tower:
            _update(context, [(v, scope.get_current_value(v)) for v, old in before
                              if scope.get_current_value(v) is not old])
    return outputs


def number_from_one() -> None:
    """Let Keras name layers as if none had been made before: ``dense``, then ``dense_1``.

    ``keras.backend.clear_session`` does it too, but also throws the default graph away.
    """
    from keras.src.utils.naming import reset_uids
    reset_uids()


@contextmanager
def variable_names() -> Iterator[None]:
    """A block in which Keras variables are named by variable scope and layers.

    Left to itself TensorFlow adds the tower's name scope, and numbers each layer's anew.
    """
    from keras.src.backend.common.name_scope import current_path
    graph, prefix = v1.get_default_graph(), v1.get_variable_scope().name

    def named(make: Any, **kwargs: Any) -> Any:
        parts = [prefix, current_path(), kwargs.get("name")]
        with graph.name_scope(None):
            return make(**{**kwargs, "name": "/".join(p for p in parts if p)})

    with graph.name_scope(prefix + "/" if prefix else None), tf.variable_creator_scope(named):
        yield


def _symbol(keras: Any, x: Any) -> Any:
    return keras.KerasTensor(x.shape.as_list(), x.dtype.name, sparse=isinstance(x, tf.SparseTensor))


def _pending(context: Any) -> dict[int, tuple[Any, Any, Any]]:
    """By id, the variables that change in this tower, their new values, and the assignments."""
    found: dict[int, tuple[Any, Any, Any]] = context.__dict__.setdefault(_PENDING, {})
    return found


def _value_in(context: Any, variable: Any) -> Any:
    """What a variable is worth at this point of the tower, read once."""
    pending = _pending(context).get(id(variable))
    if pending is not None:  # a layer called twice goes on from its first call
        return pending[1]
    value = tf.convert_to_tensor(variable.value)
    index = getattr(context, "index", 0)
    if index and variable.name == "seed_generator_state":
        # the first number is the seed, the second one counts
        value += tf.cast([index * 7919, 0], value.dtype)
    return value


def _update(context: Any, changed: list[tuple[Any, Any]]) -> None:
    pending, ops = _pending(context), v1.get_collection_ref(v1.GraphKeys.UPDATE_OPS)
    for variable, value in changed:
        if id(variable) in pending:
            ops.remove(pending[id(variable)][2])
        op = variable.value.assign(value, read_value=False)
        pending[id(variable)] = (variable, value, op)  # held, so that its id stays its own
        ops.append(op)


def _leave_to_train(layer: Any) -> None:
    """Take variables of frozen layers, which Keras makes trainable, out of the collection."""
    frozen = {id(v.value) for v in layer.non_trainable_variables}
    trainable = v1.get_collection_ref(v1.GraphKeys.TRAINABLE_VARIABLES)
    trainable[:] = [v for v in trainable if id(v) not in frozen]
