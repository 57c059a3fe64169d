# SPDX-License-Identifier: Apache-2.0
"""One update of a model's variables by its own TF 1 optimizer, on one device or on several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..graph_builder.gradients import gradients_of
from ..tfutils.gradproc import GradientProcessor
from ..tfutils.optimizer import ProxyOptimizer, gradient_processors_of
from ..utils.errors import NotSupported, say
from .tower import Tower, tower_context
from .variables import VariableStore

__all__ = ["Update", "has_optimizer"]

v1 = tf.compat.v1


class Update:
    """Applies the gradients of a cost, in each trace by what the model's ``optimizer()`` returns.

    Args:
        desc: the ModelDesc.
        store: its variables.
    """

    def __init__(self, desc: Any, store: VariableStore) -> None:
        self._desc = desc
        self._store = store
        self._slots: tuple[Any, Any] | None = None

    def make_slots(self) -> None:
        """Make the optimizer's variables where replicas can't: outside of them."""
        inner = _parts(self._desc.get_optimizer())[1]
        inner._create_slots(v1.trainable_variables())
        self._slots = inner._slots, inner._non_slot_dict

    def __call__(self, tower: Tower) -> Callable[[], None]:
        """Compute gradients, inside of the tower's context.

        Args:
            tower: its cost is what is made smaller.

        Returns:
            What is left to do when the context is left.
        """
        optimizer = self._desc.get_optimizer()
        grads = gradients_of(tower.cost, optimizer, v1.trainable_variables(),
                             colocate_gradients_with_ops=True)
        if tf.distribute.has_strategy():
            return lambda: self._apply_on_replicas(optimizer, grads)
        train_op = optimizer.apply_gradients(grads, name="train_op")
        return lambda: self._count_after(train_op)

    def _apply_on_replicas(self, optimizer: Any, grads: list[tuple[Any, Any]]) -> None:
        processors, inner = _parts(optimizer)
        replicas = tf.distribute.get_replica_context()
        if processors:  # they see what the optimizer is to see: the mean over all replicas
            means = replicas.all_reduce(tf.distribute.ReduceOp.MEAN, [g for g, _ in grads])
            grads = [(g, v) for g, (_, v) in zip(means, grads)]
            with self._store.tracing(), tower_context(True):
                for processor in processors:
                    grads = processor.process(grads)
        share = 1.0 / replicas.num_replicas_in_sync  # TF 1's optimizers sum over replicas
        if self._slots is not None:
            inner._slots, inner._non_slot_dict = self._slots
        self._count_after(inner.apply_gradients([(_scaled(g, share), v) for g, v in grads],
                                                name="train_op"))

    def _count_after(self, train_op: Any) -> None:
        with tf.control_dependencies([train_op]):  # a step that fails does not count
            self._store.variables["global_step"].assign_add(1)


def has_optimizer(desc: Any) -> bool:
    """Whether a model has an optimizer, in today's or an old form."""
    from ..graph_builder.model_desc import ModelDesc
    own = getattr(type(desc), "optimizer", None)
    return own is not None and (own is not ModelDesc.optimizer or hasattr(desc, "_get_optimizer"))


def _scaled(gradient: Any, share: float) -> Any:
    if share == 1:
        return gradient
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * share, gradient.indices, gradient.dense_shape)
    return gradient * share


def _parts(optimizer: Any) -> tuple[list[GradientProcessor], Any]:
    """The gradient processors around an optimizer, in their order, and the optimizer itself."""
    processors: list[GradientProcessor] = []
    while isinstance(optimizer, ProxyOptimizer):
        own = gradient_processors_of(optimizer)
        if own is None:
            raise NotSupported(say(
                type(optimizer).__name__, expected="gradient processors and one of "
                "TensorFlow's optimizers, under a tf.distribute.Strategy",
                received="an optimizer around another", do="Train on one device, or with "
                "SyncMultiGPUTrainerReplicated."))
        processors += own
        optimizer = optimizer._opt
    return processors, optimizer
