# SPDX-License-Identifier: Apache-2.0
"""A tower: one call of the model's function, in its own name scope, on its own device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import tensorflow as tf

from ..utils import logger  # noqa: F401 - scripts take it from here
from ..utils.errors import say
from .collection import FROZEN_IN_OTHER_TOWERS, CollectionGuard
from .keras_calls import serve_keras
from .tower_func import TowerFunc, TowerFuncWrapper
from .tower_handle import TowerTensorHandle, TowerTensorHandles

__all__ = ["BaseTowerContext", "TowerContext", "TowerFunc", "TowerFuncWrapper",
           "TowerTensorHandle", "TowerTensorHandles", "get_current_tower_context"]

v1 = tf.compat.v1
_PROPERTY = "_tfqueue_compat_tower"


def get_current_tower_context() -> Any:
    """Return the TowerContext around the code that is building now, or None.

    Example:
        >>> with tf.Graph().as_default(), TowerContext("", is_training=True):
        ...     get_current_tower_context().is_training
        True
    """
    graph = v1.get_default_graph()
    while graph is not None:
        context = getattr(graph, _PROPERTY, None)
        if context is not None:
            return context
        graph = getattr(graph, "outer_graph", None)  # the body of a tf.cond or a loop is a graph
    return None


class BaseTowerContext(ABC):
    """What code inside a tower can learn of it.

    Args:
        ns_name: the tower's name scope; may be empty.
        vs_name: the tower's variable scope, where it has variables of its own; else empty.
    """

    def __init__(self, ns_name: str, vs_name: str = "") -> None:
        self._name = ns_name
        self._vs_name = vs_name
        self._reused = bool(v1.get_variable_scope().reuse)
        self._guard: CollectionGuard | None = None
        self._stack = ExitStack()
        if vs_name and not ns_name:
            raise ValueError(say("TowerContext", expected="a name scope where there is a "
                                 "variable scope", received=f"ns_name='', vs_name={vs_name!r}",
                                 do="Pass the tower's name first."))

    @property
    def name(self) -> str:
        """Name scope of the tower."""
        return self._name

    @property
    def ns_name(self) -> str:
        """Name scope of the tower."""
        return self._name

    @property
    def vs_name(self) -> str:
        """Variable scope of the tower; empty where it shares the first tower's variables."""
        return self._vs_name

    @property
    @abstractmethod
    def is_training(self) -> bool:
        """Whether the tower trains."""

    @property
    @abstractmethod
    def is_main_training_tower(self) -> bool:
        """Whether this is the first tower that trains: the one with summaries."""

    @property
    def has_own_variables(self) -> bool:
        """Whether variables are made in this tower, rather than reused."""
        return bool(self._vs_name) or not self._reused

    @abstractmethod
    def _keys_to_freeze(self) -> tuple[str, ...]:
        """Collections that the tower must leave as they were."""

    def get_collection_in_tower(self, key: Any) -> list[Any]:
        """Return what this tower put into the graph's collection ``key``.

        Raises:
            RuntimeError: before the tower is entered.
        """
        if self._guard is None:
            raise RuntimeError(say(f"tower {self._name!r}", expected="a tower that was entered",
                                   received="one that was not", do="Use it in `with`."))
        return self._guard.get_collection_in_tower(key)

    @contextmanager
    def _scopes(self) -> Iterator[None]:
        if not self._name:
            yield
            return
        with ExitStack() as stack:
            if self._vs_name:
                stack.enter_context(v1.variable_scope(self._vs_name, auxiliary_name_scope=False))
            elif self._reused:
                stack.enter_context(v1.variable_scope(
                    v1.get_variable_scope(), reuse=True, auxiliary_name_scope=False))
            # with the slash: two towers of one name share the scope, tensors are made unique
            stack.enter_context(tf.name_scope(self._name + "/"))
            yield

    def __enter__(self) -> BaseTowerContext:
        outer = get_current_tower_context()
        if outer is not None:
            raise RuntimeError(say(f"tower {self._name!r}", expected="no tower around it",
                                   received=f"tower {outer.name!r}",
                                   do="Leave that tower first: towers don't nest."))
        serve_keras()
        with ExitStack() as stack:
            graph = v1.get_default_graph()
            setattr(graph, _PROPERTY, self)
            stack.callback(setattr, graph, _PROPERTY, None)
            self._guard = CollectionGuard(
                self._name, check_diff=not self.is_main_training_tower,
                freeze_keys=self._keys_to_freeze())
            stack.enter_context(self._guard)
            stack.enter_context(self._scopes())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self._stack.__exit__(exc_type, exc_value, traceback)
        if exc_type is None:
            self._check_variables()

    def _check_variables(self) -> None:
        if self.has_own_variables:
            return
        made = self.get_collection_in_tower(v1.GraphKeys.TRAINABLE_VARIABLES)
        if made:
            raise RuntimeError(say(
                f"tower {self._name!r}",
                expected="the variables of the first tower, reused",
                received="new trainable variables " + ", ".join(v.name for v in made[:5]),
                do="Make variables with get_variable, under the same names in each tower."))

    def __str__(self) -> str:
        return f"TowerContext(name={self._name}, is_training={self.is_training})"


class TrainTowerContext(BaseTowerContext):
    """A tower that trains.

    Args:
        ns_name: name scope.
        vs_name: variable scope of its own variables, or empty.
        index: of this tower among those that train.
        total: how many towers train.
    """

    is_training = True

    def __init__(self, ns_name: str, vs_name: str = "", index: int = 0, total: int = 1) -> None:
        super().__init__(ns_name, vs_name)
        self.index = int(index)
        self.total = int(total)
        if not 0 <= self.index < self.total:
            raise ValueError(say(f"tower {ns_name!r}", expected="0 <= index < total",
                                 received=f"index={index}, total={total}", do="Count from 0."))

    @property
    def is_main_training_tower(self) -> bool:
        return self.index == 0

    @property
    def has_own_variables(self) -> bool:
        return self.index == 0 or bool(self._vs_name)

    def _keys_to_freeze(self) -> tuple[str, ...]:
        return () if self.index == 0 else FROZEN_IN_OTHER_TOWERS


class PredictTowerContext(BaseTowerContext):
    """A tower that predicts: its updates and summaries don't count.

    Args:
        ns_name: name scope.
        vs_name: variable scope of the variables, where it is not the current one.
    """

    is_training = False
    is_main_training_tower = False

    def _keys_to_freeze(self) -> tuple[str, ...]:
        # statistics of layers must not move with what is predicted
        return (*FROZEN_IN_OTHER_TOWERS, v1.GraphKeys.UPDATE_OPS)


def TowerContext(tower_name: str, is_training: bool, vs_name: str = "") -> BaseTowerContext:
    """Return the context in which a model is built by hand, for training or for inference.

    Args:
        tower_name: its name scope; may be empty.
        is_training: what layers are to do: Dropout, BatchNorm.
        vs_name: variable scope; by default the current one.

    Example:
        >>> with tf.Graph().as_default(), TowerContext("", is_training=False):
        ...     x = tf.zeros([1])
    """
    if is_training:
        return TrainTowerContext(tower_name, vs_name=vs_name)
    return PredictTowerContext(tower_name, vs_name=vs_name)
