# SPDX-License-Identifier: Apache-2.0
"""Optimizers around an optimizer: gradients processed, variables post-processed, steps gathered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from ..utils.errors import say
from .gradproc import FilterNoneGrad, GradientProcessor

__all__ = ["AccumGradOptimizer", "PostProcessOptimizer", "ProxyOptimizer",
           "VariableAssignmentOptimizer", "apply_grad_processors"]

v1 = tf.compat.v1
Optimizer: Any = v1.train.Optimizer


class ProxyOptimizer(Optimizer):
    """Passes everything on to another optimizer; a base to derive from.

    Args:
        opt: a ``tf.compat.v1.train.Optimizer``.
        name: of this one.
    """

    def __init__(self, opt: Any, name: str = "ProxyOptimizer") -> None:
        if not isinstance(opt, v1.train.Optimizer):
            raise TypeError(say(type(self).__name__, expected="a tf.compat.v1.train.Optimizer",
                                received=repr(opt),
                                do="Pass e.g. tf.compat.v1.train.AdamOptimizer(1e-3)."))
        self._opt = opt
        super().__init__(False, name)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Return the (gradient, variable) pairs of the inner optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Return a slot of the inner optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """Return the names of the inner optimizer's slots."""
        return list(self._opt.get_slot_names(*args, **kwargs))

    def variables(self) -> list[Any]:
        """Return the variables of the inner optimizer."""
        return list(self._opt.variables())

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        self._opt._create_slots(var_list)

    def apply_gradients(self, *args: Any, **kwargs: Any) -> Any:
        """Return the op that applies gradients by the inner optimizer."""
        return self._opt.apply_gradients(*args, **kwargs)


class _Processed(ProxyOptimizer):

    def __init__(self, opt: Any, gradprocs: Sequence[GradientProcessor]) -> None:
        super().__init__(opt)
        self._gradprocs = list(gradprocs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: str | None = None) -> Any:
        for processor in self._gradprocs:
            grads_and_vars = processor.process(grads_and_vars)
        return self._opt.apply_gradients(grads_and_vars, global_step, name)


def apply_grad_processors(opt: Any, gradprocs: Sequence[GradientProcessor]) -> ProxyOptimizer:
    """Return an optimizer that processes gradients before ``opt`` applies them.

    Args:
        opt: a ``tf.compat.v1.train.Optimizer``.
        gradprocs: processors, applied in this order.

    Example:
        >>> from tfqueue_compat.tfutils.gradproc import GlobalNormClip
        >>> opt = apply_grad_processors(v1.train.AdamOptimizer(1e-3), [GlobalNormClip(5)])
    """
    processors = list(gradprocs)
    for processor in processors:
        if not isinstance(processor, GradientProcessor):
            raise TypeError(say("apply_grad_processors", expected="GradientProcessors",
                                received=repr(processor), do="Derive it from that class."))
    return _Processed(opt, processors)


def gradient_processors_of(opt: Any) -> list[GradientProcessor] | None:
    """Return the processors that an optimizer applies before the one inside it.

    Args:
        opt: a ProxyOptimizer.

    Returns:
        None where it does something else.
    """
    if isinstance(opt, _Processed):
        return list(opt._gradprocs)
    changes = type(opt).apply_gradients is not ProxyOptimizer.apply_gradients
    return None if changes else []


class PostProcessOptimizer(ProxyOptimizer):
    """Runs an op on each variable after it was updated.

    Args:
        opt: the optimizer.
        func: maps a variable to the op to run, or None.
        colocate: whether the op lives on the variable's device.
    """

    def __init__(self, opt: Any, func: Callable[[Any], Any], colocate: bool = True) -> None:
        super().__init__(opt)
        self._func = func
        self._colocate = colocate

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: str | None = None) -> Any:
        """Return the op that applies gradients, then post-processes the variables."""
        pairs = list(grads_and_vars)
        update = self._opt.apply_gradients(pairs, global_step)
        ops = []
        with tf.control_dependencies([update]):
            for _, variable in pairs:
                with self._placed(variable):
                    op = self._func(variable)
                if op is not None:
                    ops.append(op)
        return tf.group(update, *ops, name=name)

    @contextmanager
    def _placed(self, variable: Any) -> Iterator[None]:
        if not self._colocate:
            yield
            return
        with v1.get_default_graph().colocate_with(variable):
            yield


class VariableAssignmentOptimizer(PostProcessOptimizer):
    """Assigns to each variable a function of it, after each update.

    Args:
        opt: the optimizer.
        func: maps a variable to its new value, or None to leave it; e.g. a projection.

    Example:
        >>> bounded = VariableAssignmentOptimizer(
        ...     v1.train.GradientDescentOptimizer(0.1), lambda v: tf.clip_by_value(v, -1, 1))
    """

    def __init__(self, opt: Any, func: Callable[[Any], Any]) -> None:
        def assign(variable: Any) -> Any:
            value = func(variable)
            return None if value is None else v1.assign(variable, value, use_locking=False).op

        super().__init__(opt, assign)


class AccumGradOptimizer(ProxyOptimizer):
    """Sums gradients over some steps, then applies them: a larger batch in less memory.

    The sum is not divided by the number of steps: scale the cost or the learning rate. The
    ``global_step`` counts every step.

    Args:
        opt: the optimizer.
        niter: steps to gather.
    """

    def __init__(self, opt: Any, niter: int) -> None:
        super().__init__(opt, "AccumGrad")
        if int(niter) < 1:
            raise ValueError(say("AccumGradOptimizer", expected="niter >= 1", received=niter,
                                 do="Pass the number of steps to gather."))
        self._niter = int(niter)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None,
                        name: str | None = None) -> Any:
        """Return the op of one step: adds to the sums, and applies them when it is time."""
        pairs = FilterNoneGrad().process(grads_and_vars)
        variables = [v for _, v in pairs]
        # The sums, the counter and the inner slots are made out here: they outlive a condition.
        with tf.init_scope():
            sums = [self._zeros_slot(v, "accum", self._name) for v in variables]
            counter = v1.Variable(0, name=self._name + "/counter", trainable=False,
                                  dtype=tf.int32)
            with tf.name_scope(""):  # Adam's beta1_power is named by the scope it is made in
                self._opt._create_slots(variables)
        with v1.name_scope("AccumGradOptimizer"):
            added = [v1.assign_add(s, tf.convert_to_tensor(g)) for s, (g, _) in zip(sums, pairs)]
            with tf.control_dependencies([*(a.op for a in added)]):
                count = v1.assign_add(counter, 1)
            with tf.control_dependencies([count]):
                due = tf.equal(tf.math.floormod(count, self._niter), 0)
                step = tf.cond(due, lambda: self._apply(sums, variables),
                               lambda: tf.constant(False), name="cond")
        ops = [step.op]
        if global_step is not None:
            ops.append(v1.assign_add(global_step, 1).op)
        return tf.group(*ops, name=name or "AccumGradOptimizer/cond_update_grad")

    def _apply(self, sums: Sequence[Any], variables: Sequence[Any]) -> tf.Tensor:
        pairs = [(s.read_value(), v) for s, v in zip(sums, variables)]
        with tf.control_dependencies([g for g, _ in pairs]):
            applied = self._opt.apply_gradients(pairs)
        with tf.control_dependencies([applied]):
            cleared = [v1.assign(s, tf.zeros_like(s)) for s in sums]
        with tf.control_dependencies([c.op for c in cleared]):
            return tf.constant(True)
