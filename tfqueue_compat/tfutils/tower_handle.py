# SPDX-License-Identifier: Apache-2.0
"""Finds the tensors and variables of a tower by the names they have in the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say
from .common import get_op_tensor_name, unknown_name

__all__ = ["TowerTensorHandle", "TowerTensorHandles"]

v1 = tf.compat.v1


class TowerTensorHandle:
    """One tower: its inputs, its outputs, and its tensors by name.

    Names are those that the model's function gave: the tower's scope is added here.

    Args:
        ctx: the tower's context.
        inputs: the tensors that the function was called with.
        outputs: what it returned.
        input_signature: TensorSpecs of the inputs; their names find the inputs.
    """

    def __init__(self, ctx: Any, inputs: Sequence[Any], outputs: Any,
                 input_signature: Sequence[Any] | None = None) -> None:
        self._ctx = ctx
        self._inputs = inputs
        self._outputs = outputs
        self._by_name: dict[str, Any] = {}
        if input_signature is not None:
            self._by_name = {get_op_tensor_name(spec.name)[1]: tensor
                             for spec, tensor in zip(input_signature, inputs) if spec.name}

    @property
    def vs_name(self) -> str:
        """Variable scope of the tower."""
        return str(self._ctx.vs_name)

    @property
    def ns_name(self) -> str:
        """Name scope of the tower."""
        return str(self._ctx.ns_name)

    @property
    def is_training(self) -> bool:
        """Whether the tower trains."""
        return bool(self._ctx.is_training)

    @property
    def inputs(self) -> Sequence[Any]:
        """The tensors that the model's function was called with."""
        return self._inputs

    @property
    def outputs(self) -> Any:
        """What the model's function returned."""
        return self._outputs

    def get_tensor(self, name: str) -> Any:
        """Return a tensor of this tower, one of its inputs, or a variable's.

        Args:
            name: as given in the model; ``:0`` may be left out.

        Raises:
            KeyError: where there is none; near names are suggested.
        """
        name = get_op_tensor_name(name)[1]
        if self.ns_name:
            found = _lookup(f"{self.ns_name}/{name}")
            if found is not None:
                return found
        if name in self._by_name:
            return self._by_name[name]
        found = _lookup(name)
        if found is None and self.vs_name:
            found = _lookup(f"{self.vs_name}/{name}")
        if found is None:
            raise KeyError(unknown_name(name, [*self._own_names(), *self._by_name]))
        if self.ns_name and not _is_variable(found):
            logger.warning("Tensor %r is not in tower %r: the one outside of it is used.",
                           name, self.ns_name)
        return found

    def _own_names(self) -> Iterator[str]:
        scope = self.ns_name + "/" if self.ns_name else ""
        for op in v1.get_default_graph().get_operations():
            if scope and op.name.startswith(scope):
                yield op.name[len(scope):]

    def get_tensors(self, names: Iterable[str]) -> list[Any]:
        """Return ``get_tensor`` of each name."""
        return [self.get_tensor(name) for name in names]

    def __getitem__(self, name: str) -> Any:
        return self.get_tensor(name)

    def get_variable(self, name: str) -> Any:
        """Return the tower's variable of this name: the tensor that the graph has under it.

        Raises:
            KeyError: where there is none; near names are suggested.
        """
        name = get_op_tensor_name(name)[1]
        if self.vs_name and not name.startswith(self.vs_name + "/"):
            name = f"{self.vs_name}/{name}"
        found = _lookup(name)
        if found is None:
            raise KeyError(unknown_name(name, (v.op.name for v in v1.global_variables())))
        return found

    def get_variables(self, names: Iterable[str]) -> list[Any]:
        """Return ``get_variable`` of each name."""
        return [self.get_variable(name) for name in names]

    def get_collection(self, key: Any = None, name: Any = None) -> list[Any]:
        """Return what this tower put into the graph's collection.

        Args:
            key: the collection.
            name: older word for ``key``.
        """
        if key is None and name is None:
            raise TypeError(say("get_collection", expected="a key", received="none",
                                do="Pass e.g. tf.GraphKeys.TRAINABLE_VARIABLES."))
        return list(self._ctx.get_collection_in_tower(name if key is None else key))


class TowerTensorHandles:
    """The towers of a function, by their order or by their name.

    Args:
        handles: one for each call.
    """

    def __init__(self, handles: Sequence[TowerTensorHandle]) -> None:
        self._handles = list(handles)
        self._by_name = {handle.ns_name: handle for handle in handles}

    def __len__(self) -> int:
        return len(self._handles)

    def __iter__(self) -> Iterator[TowerTensorHandle]:
        return iter(self._handles)

    def __getitem__(self, name_or_index: str | int) -> TowerTensorHandle:
        if not isinstance(name_or_index, str):
            return self._handles[name_or_index]
        try:
            return self._by_name[name_or_index]
        except KeyError:
            raise KeyError(say("towers", expected=f"one of {sorted(self._by_name)}",
                               received=repr(name_or_index),
                               do="Ask for a tower that was built."
                                  + near(name_or_index, self._by_name))) from None

    def training(self) -> TowerTensorHandles:
        """Return those that train."""
        return TowerTensorHandles([h for h in self._handles if h.is_training])

    def inference(self) -> TowerTensorHandles:
        """Return those that predict."""
        return TowerTensorHandles([h for h in self._handles if not h.is_training])


def _lookup(name: str) -> Any:
    try:
        return v1.get_default_graph().get_tensor_by_name(name)
    except (KeyError, ValueError):
        return None


def _is_variable(tensor: Any) -> bool:
    return tensor.op.type in ("VarHandleOp", "VariableV2", "Variable", "Placeholder")
