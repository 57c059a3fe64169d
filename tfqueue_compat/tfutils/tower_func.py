# SPDX-License-Identifier: Apache-2.0
"""A model's function that remembers every tower it was called in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..utils.errors import say
from .tower_handle import TowerTensorHandle, TowerTensorHandles

__all__ = ["TowerFunc", "TowerFuncWrapper"]


class TowerFunc:
    """Wraps a function of tensors, called once for each tower, and keeps handles of the calls.

    Args:
        tower_fn: maps the inputs to whatever the trainer needs, e.g. the cost.
        input_signature: TensorSpecs of the inputs, in order.

    Example:
        >>> from tfqueue_compat.tfutils.tower import TowerContext
        >>> f = TowerFunc(lambda x: x + 1, [tf.TensorSpec([2], tf.float32, "x")])
        >>> with tf.Graph().as_default(), TowerContext("", is_training=True):
        ...     y = f(tf.zeros([2]))
        >>> len(f.towers.training())
        1
    """

    def __init__(self, tower_fn: Callable[..., Any], input_signature: Sequence[Any]) -> None:
        if not callable(tower_fn):
            raise TypeError(say("TowerFunc", expected="a function", received=repr(tower_fn),
                                do="Pass the function that builds the graph."))
        for spec in input_signature:
            if not hasattr(spec, "shape") or not hasattr(spec, "dtype"):
                raise TypeError(say("TowerFunc's input_signature", expected="TensorSpecs",
                                    received=repr(spec), do="Pass tf.TensorSpec(shape, dtype)."))
        self._tower_fn = tower_fn
        self._input_signature = list(input_signature)
        self._inputs_names = [spec.name for spec in self._input_signature]
        self._handles: list[TowerTensorHandle] = []

    def __new__(cls, tower_fn: Any, _: Any = None, **kwargs: Any) -> Any:
        if isinstance(tower_fn, TowerFunc):
            return tower_fn
        return super().__new__(cls)

    @tf.autograph.experimental.do_not_convert
    def __call__(self, *args: Any) -> Any:
        """Call the function in the current tower, and remember the tower.

        Raises:
            RuntimeError: outside of a TowerContext.
            TypeError: for another number of inputs than the signature has.
        """
        from .tower import get_current_tower_context  # that module needs this one
        context = get_current_tower_context()
        if context is None:
            raise RuntimeError(say("TowerFunc", expected="a TowerContext around the call",
                                   received="none",
                                   do="Call it inside `with TowerContext('', is_training=...)`."))
        if len(args) != len(self._input_signature):
            raise TypeError(say(f"tower {context.name!r}",
                                expected=f"{len(self._input_signature)} inputs "
                                         f"{self._inputs_names}",
                                received=f"{len(args)}", do="Pass one tensor for each."))
        outputs = self._tower_fn(*args)
        self._handles.append(TowerTensorHandle(context, args, outputs, self._input_signature))
        return outputs

    @property
    def towers(self) -> TowerTensorHandles:
        """Handles of all calls so far, in order."""
        return TowerTensorHandles(self._handles)

    @property
    def input_signature(self) -> list[Any]:
        """TensorSpecs of the inputs."""
        return self._input_signature


TowerFuncWrapper = TowerFunc
