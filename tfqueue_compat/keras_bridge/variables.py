# SPDX-License-Identifier: Apache-2.0
"""Variables that TF 1 code asks for by name, made once and found again in every trace."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from ..tfutils.common import get_global_step_var
from ..utils.errors import near, say

__all__ = ["ModelVariable", "Trace", "VariableStore"]

v1 = tf.compat.v1
_REPLICA = "/replica_"
_GLOBAL_STEP = "global_step"


class _Op(NamedTuple):
    """What TF 1 code reads of ``variable.op``, which an eager variable does not have."""

    name: str
    graph: Any = None
    traceback: Any = ()
    type: str = "VarHandleOp"
    device: str = ""


class ModelVariable(keras.Variable):
    """A Keras variable that is a variable of the model: Keras counts, saves and loads it.

    Args:
        variable: a ``tf.Variable``, maybe one on several devices.
        name: its whole name in the model, e.g. ``conv0/W``.
    """

    def __init__(self, variable: Any, name: str) -> None:
        self._given = variable
        *scopes, last = name.split("/")
        with ExitStack() as stack:
            for scope in scopes:
                stack.enter_context(keras.name_scope(scope))
            super().__init__(self._take, shape=variable.shape, dtype=variable.dtype.name,
                             trainable=variable.trainable, autocast=False, name=last)

    def _take(self, *args: Any, **kwargs: Any) -> Any:
        return self._given

    def _initialize(self, value: Any) -> None:
        self._value = self._given

    def _initialize_with_initializer(self, initializer: Any) -> None:
        self._value = self._given


class VariableStore:
    """A model's variables, by their names in the graph.

    In a block of ``tracing()`` every variable that code makes, by ``tf.get_variable`` or
    ``tf.Variable``, is one of these: it is made, outside of the function that is being traced,
    where there is none of its name, and found otherwise.

    Attributes:
        variables: name -> ``tf.Variable``, in the order in which they were made.
        local: the names of those that are no part of the model: ``LOCAL_VARIABLES``.
        model: the names of those that are saved with the model though nobody trains them:
            ``MODEL_VARIABLES``.
        closed: who has made all variables; None while more may be made.
    """

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.local: set[str] = set()
        self.model: set[str] = set()
        self.closed: str | None = None

    @contextmanager
    def tracing(self, kept: Trace | None = None) -> Iterator[None]:
        """A block in which TF 1 code runs as in a graph of its own, with these variables.

        Args:
            kept: the trace of a graph that is there to stay: it keeps what its collections hold.
        """
        trace = kept or Trace(self)
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            # of tf.summary, which finds no TF 2 writer: TF 1's is what the code means
            warnings.filterwarnings("ignore", ".*default summary writer not found", UserWarning)
            for graph in _graphs()[1 if kept else 0:]:
                stack.enter_context(_fresh_collections(graph))
            stack.enter_context(tf.variable_creator_scope(trace))
            with tf.init_scope():  # for what code makes in an init_scope of its own
                stack.enter_context(tf.variable_creator_scope(trace))
            if _GLOBAL_STEP not in self.variables:
                get_global_step_var()
            elif not v1.get_collection(v1.GraphKeys.GLOBAL_STEP):
                trace.found(_GLOBAL_STEP, [v1.GraphKeys.GLOBAL_VARIABLES,
                                           v1.GraphKeys.GLOBAL_STEP])
            yield
            self.model |= {v.op.name for v in v1.get_collection(v1.GraphKeys.MODEL_VARIABLES)}

    @contextmanager
    def in_collections(self) -> Iterator[None]:
        """A block outside of any function in which the collections hold these variables."""
        with _fresh_collections(v1.get_default_graph()):
            for name, variable in self.variables.items():
                key = v1.GraphKeys.LOCAL_VARIABLES if name in self.local \
                    else v1.GraphKeys.GLOBAL_VARIABLES
                v1.add_to_collection(key, variable)
                if variable.trainable:
                    v1.add_to_collection(v1.GraphKeys.TRAINABLE_VARIABLES, variable)
            v1.add_to_collection(v1.GraphKeys.GLOBAL_STEP, self.variables[_GLOBAL_STEP])
            yield

    def global_step(self) -> int:
        """Steps done since the model was new."""
        return int(self.variables[_GLOBAL_STEP].read_value())

    def spread(self) -> None:
        """Copy the variables of the first device to the others: some code has set them there."""
        for variable in self.variables.values():
            if hasattr(variable, "values"):
                first, *others = variable.values
                for other in others:
                    other.assign(first)


class Trace:
    """Creates and finds variables during one trace: a variable creator.

    Args:
        store: the variables.
        first: of variables on several devices, whether to give out the first one's.
        grows: whether new ones may be made where all of the model's have been.
    """

    def __init__(self, store: VariableStore, first: bool = False, grows: bool = False) -> None:
        self._store = store
        self._first = first
        self._grows = grows
        self._seen: set[str] = set()
        self._making = False

    def __call__(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if self._making:
            return next_creator(**kwargs)
        name = self._name(kwargs.get("name"))
        collections = kwargs.get("collections") or [v1.GraphKeys.GLOBAL_VARIABLES]
        if name not in self._store.variables:
            self._make(name, collections, kwargs)
        return self.found(name, collections)

    def _name(self, given: str | None) -> str:
        """The variable's name in the graph; get_variable's are whole and asked for once."""
        scope = tf.get_current_name_scope()
        given = (given or "Variable").rstrip("/")  # a slot's name ends with its scope
        first = name = f"{scope}/{given}" if scope else given
        count = 0
        while name in self._seen:
            count += 1
            name = f"{first}_{count}"
        return name

    def found(self, name: str, collections: Sequence[str]) -> Any:
        """Note a variable in the collections of the current graph, as making it does."""
        variable = self._store.variables[name]
        if self._first and hasattr(variable, "values"):
            variable = variable.values[0]
        self._seen.add(name)
        trainable = [v1.GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else []
        for key in dict.fromkeys([*collections, *trainable]):
            v1.add_to_collection(key, variable)
        return variable

    def rest(self) -> None:
        """Note those variables that this trace has not asked for."""
        for name in self._store.variables:
            if name not in self._seen:
                self.found(name, [v1.GraphKeys.LOCAL_VARIABLES if name in self._store.local
                                  else v1.GraphKeys.GLOBAL_VARIABLES])

    def _make(self, name: str, collections: Sequence[str], kwargs: dict[str, Any]) -> None:
        if self._store.closed is not None and not self._grows:
            raise ValueError(say(
                f"variable {name!r}", expected=f"a variable that {self._store.closed} makes",
                received="a new name", do="Make the same variables in each call, by "
                "tf.get_variable." + near(name, self._store.variables)))
        trainable = kwargs.get("trainable")
        on_read = kwargs.get("synchronization") == tf.VariableSynchronization.ON_READ
        trainable = not on_read if trainable is None else bool(trainable)
        value = _value_of(name, kwargs.get("initial_value"))
        self._making = True
        try:
            with tf.init_scope(), tf.name_scope(""):
                made = tf.Variable(
                    value, trainable=trainable, name=name, dtype=kwargs.get("dtype"),
                    constraint=kwargs.get("constraint"), shape=kwargs.get("shape"),
                    **_distribution(name, trainable))
        finally:
            self._making = False
        for part in getattr(made, "values", None) or [made]:
            part.__class__ = _with_op(type(part))
        self._store.variables[name] = made
        if v1.GraphKeys.LOCAL_VARIABLES in collections:
            self._store.local.add(name)


def _distribution(name: str, trainable: bool) -> dict[str, Any]:
    """How replicas share a variable.

    As in tensorpack's towers: what is trained is equal in all; of what else they write, statistics
    for example, the first one's counts.
    """
    if trainable:
        return {"aggregation": tf.VariableAggregation.MEAN}
    first = {"aggregation": tf.VariableAggregation.ONLY_FIRST_REPLICA}
    if name == _GLOBAL_STEP or not tf.distribute.has_strategy():
        return first
    return {**first, "synchronization": tf.VariableSynchronization.ON_READ}


def _value_of(name: str, initial: Any) -> Any:
    """An initial value that holds outside of the function in which the variable is asked for."""
    if callable(initial) or not tf.is_tensor(initial) or not hasattr(initial, "op"):
        return initial
    value = tf.get_static_value(initial)
    if value is not None:
        return value
    try:
        with v1.Session(graph=initial.graph) as session:
            return session.run(initial)
    except tf.errors.OpError as e:
        raise ValueError(say(f"variable {name!r}", expected="an initial value that depends on no "
                             "input and no other variable", received=f"{initial}: {e.message}",
                             do="Use tf.get_variable with an initializer.")) from e


_CLASSES: dict[type, type] = {}


def _with_op(kind: Any) -> Any:
    """A variable's class, with what TF 1 code asks for: ``op.name``, ``initialized_value()``."""
    if kind not in _CLASSES and not isinstance(kind.__dict__.get("op"), _OpOf):
        _CLASSES[kind] = type(kind.__name__, (kind,), {
            "op": _OpOf(), "initialized_value": kind.read_value, "__module__": __name__})
    return _CLASSES.get(kind, kind)


class _OpOf(property):
    """``variable.op``: its name is that of the model's variable, on whatever device it is."""

    def __init__(self) -> None:
        super().__init__(lambda variable: _Op(variable._shared_name.partition(_REPLICA)[0]))


def _graphs() -> list[Any]:
    """The graph of the function that is being traced, and the one outside of it."""
    inner = v1.get_default_graph()
    with tf.init_scope():
        outer = v1.get_default_graph()
    return [inner] if inner is outer else [inner, outer]


@contextmanager
def _fresh_collections(graph: Any) -> Iterator[None]:
    """Empty a graph's collections for a block.

    A function's graph shares some of them, variables and scopes among others, with the graph
    around it, in which what earlier traces made is kept.
    """
    kept = {key: list(graph.get_collection_ref(key)) for key in graph.collections}
    for key in kept:
        graph.get_collection_ref(key).clear()
    try:
        yield
    finally:
        for key in graph.collections:
            graph.get_collection_ref(key)[:] = kept.get(key, [])
