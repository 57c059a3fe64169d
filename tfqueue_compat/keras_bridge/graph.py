# SPDX-License-Identifier: Apache-2.0
"""A Keras model's ModelDesc as a TF 1 graph over the same variables, and what runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ..compat.internals import SessionInterface
from ..graph_builder.gradients import gradients_of
from ..tfutils.tower import TowerFunc
from ..utils.errors import say
from .tower import tower_context
from .update import has_optimizer
from .variables import Trace, VariableStore

__all__ = ["ModelGraph"]

v1 = tf.compat.v1


class ModelGraph(SessionInterface):
    """The model as tensorpack's callbacks know it: a graph, tensors by name, ``session.run``.

    The graph reads and writes the Keras model's own variables. What a callback asks for is cut out
    of it and run as a ``tf.function``. Nothing is run that was not asked for.

    Args:
        desc: the ModelDesc.
        store: its variables; of those on several devices, the first one's are used.
        trains: whether the graph has a step of training.

    Attributes:
        tower_func: the model's function, with the towers in the graph.
        step: the operation of a whole step of training, or None.
        inputs: the tensors to feed a batch to.
        scalars: the cost as ``loss``, and those of ``add_moving_summary``: name -> tensor.
    """

    def __init__(self, desc: Any, store: VariableStore, trains: bool) -> None:
        self._store = store
        self._trace = Trace(store, first=True, grows=True)
        self._pruned: dict[Any, tuple[Any, Any]] = {}
        self.tower_func = TowerFunc(desc._build_graph_get_cost, desc.get_input_signature())
        self.step: Any = None
        self.scalars: dict[str, Any] = {}

        def build(*inputs: Any) -> None:
            with store.tracing(self._trace):
                self._build(desc, inputs, trains)

        wrapped = v1.wrap_function(build, desc.get_input_signature())
        self._prune = wrapped.prune
        self._graph = wrapped.graph
        self.inputs = wrapped.inputs[:len(self.tower_func.input_signature)]

    def _build(self, desc: Any, inputs: Sequence[Any], trains: bool) -> None:
        with tower_context(True) as context:
            cost = self.tower_func(*inputs)
            optimizer = desc.get_optimizer() if has_optimizer(desc) else None
            if cost is not None and optimizer is not None and trains:
                self._make_step(cost, optimizer)
        self._trace.rest()
        self.scalars = {**context.scalars, **({} if cost is None else {"loss": cost})}
        for variable in v1.global_variables():  # in TF 1 a variable's name is its value's, too
            tf.identity(variable, name=variable.op.name)

    def _make_step(self, cost: Any, optimizer: Any) -> None:
        grads = gradients_of(cost, optimizer, v1.trainable_variables(),
                             colocate_gradients_with_ops=True)
        train_op = optimizer.apply_gradients(grads, name="train_op")
        with tf.control_dependencies([train_op]):
            count = v1.assign_add(v1.train.get_global_step(), 1)
        self.step = tf.group(train_op, count.op, *v1.get_collection(v1.GraphKeys.UPDATE_OPS))

    def traced_step(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """Train a step inside of a function that is being traced; return the scalars.

        Only what the step needs becomes a part of the function: no summaries, for example.

        Args:
            inputs: a tensor for each input.
        """
        function = self._prune(self.inputs, [list(self.scalars.values()), [self.step]])
        return dict(zip(self.scalars, function(*inputs)[0]))

    # ---- as a session

    @property
    def graph(self) -> Any:
        """The graph."""
        return self._graph

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A block with the graph, and with this as the default session."""
        with self.graph.as_default(), v1.Session.as_default(self):
            yield

    @contextmanager
    def growing(self) -> Iterator[None]:
        """A block in which the graph is added to."""
        with self.graph.as_default(), self._store.tracing(self._trace):
            yield

    def as_default(self) -> Any:
        """A block in which this is the default session."""
        return v1.Session.as_default(self)

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        """Evaluate tensors and run operations, as ``tf.compat.v1.Session.run``.

        Args:
            fetches: tensors, operations, variables or names of them, nested.
            feed_dict: tensor or name -> value.
            options, run_metadata: are not looked at.
        """
        return self.run_fed(fetches, list((feed_dict or {}).items()))

    def run_fed(self, fetches: Any, feeds: Sequence[tuple[Any, Any]]) -> Any:
        """The same, with pairs (tensor or name, value): a tensor is no key in eager mode."""
        flat = [None if f is None else self._element(f) for f in tf.nest.flatten(fetches)]
        pairs = [(self._element(k), v) for k, v in feeds]
        with tf.init_scope():
            values = self._values(flat, pairs)
        return tf.nest.pack_sequence_as(fetches, values)

    def _values(self, flat: list[Any], feeds: list[tuple[Any, Any]]) -> list[Any]:
        keys = [k for k, _ in feeds]
        tensors = [x for x in flat if isinstance(x, tf.Tensor)]
        operations = [x for x in flat if isinstance(x, tf.Operation)]
        key = tuple(map(id, (*flat, *keys)))
        if key not in self._pruned:  # what is kept beside it keeps the ids from others
            self._pruned[key] = ([*flat, *keys], self._prune(keys, [tensors, operations]))
        given = [tf.convert_to_tensor(v, k.dtype) for k, v in feeds]
        results = iter(self._pruned[key][1](*given)[0])
        return [next(results).numpy() if isinstance(x, tf.Tensor)
                else x.read_value().numpy() if isinstance(x, tf.Variable) else None for x in flat]

    def _element(self, fetch: Any) -> Any:
        if isinstance(fetch, tf.Variable):
            return fetch
        try:
            return self.graph.as_graph_element(fetch)
        except (TypeError, ValueError, KeyError) as e:
            raise type(e)(say("session.run under Keras fit", expected="tensors, operations or "
                              "variables of the graph", received=repr(fetch),
                              do="Find them in the callback's _setup_graph.")) from e

    def make_callable(self, fetches: Any, feed_list: Sequence[Any] | None = None,
                      accept_options: bool = False) -> Callable[..., Any]:
        """Return a function of the values to feed, as ``tf.compat.v1.Session.make_callable``."""
        keys = list(feed_list or ())
        return lambda *values: self.run_fed(fetches, list(zip(keys, values)))

    def close(self) -> None:
        """Nothing: the variables are the Keras model's."""
