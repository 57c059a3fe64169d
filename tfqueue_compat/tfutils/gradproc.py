# SPDX-License-Identifier: Apache-2.0
"""Changes gradients between their computation and their application."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from .summary import add_moving_summary
from .symbolic_functions import print_stat, rms
from .tower import get_current_tower_context

__all__ = ["CheckGradient", "FilterNoneGrad", "GlobalNormClip", "GradientProcessor",
           "MapGradient", "PrintGradient", "ScaleGradient", "SummaryGradient"]

v1 = tf.compat.v1
Grads = list[tuple[Any, Any]]


class GradientProcessor(ABC):
    """Base: subclasses define ``_process(grads) -> grads``.

    Used with ``apply_grad_processors``, or called by hand on what
    ``optimizer.compute_gradients`` returns.
    """

    _name_scope: str | None = None

    def process(self, grads: Iterable[tuple[Any, Any]]) -> Grads:
        """Return the (gradient, variable) pairs to apply, from those computed."""
        with tf.name_scope(self._name_scope or type(self).__name__) as scope:
            self._name_scope = str(scope)  # the same scope at each call
            return self._process(list(grads))

    @abstractmethod
    def _process(self, grads: Grads) -> Grads:
        """Return the pairs to apply."""


class FilterNoneGrad(GradientProcessor):
    """Drops the variables that have no gradient.

    Args:
        verbose: whether to warn about them.
    """

    def __init__(self, verbose: bool = True) -> None:
        self._verbose = verbose

    def _process(self, grads: Grads) -> Grads:
        dropped = [v.op.name for g, v in grads if g is None]
        if dropped and self._verbose:
            logger.warning("No gradient w.r.t %d trainable variables: %s", len(dropped),
                           ", ".join(dropped))
        return [(g, v) for g, v in grads if g is not None]


class GlobalNormClip(GradientProcessor):
    """Scales all gradients down together, where their joint norm is larger than a bound.

    Args:
        global_norm: the bound.
    """

    def __init__(self, global_norm: float) -> None:
        self._norm = float(global_norm)

    def _process(self, grads: Grads) -> Grads:
        clipped, _ = tf.clip_by_global_norm([g for g, _ in grads], self._norm,
                                            name="clip_by_global_norm")
        return [(g, v) for g, (_, v) in zip(clipped, grads)]


class MapGradient(GradientProcessor):
    """Applies a function to the gradients of some variables.

    Args:
        func: maps ``grad``, or ``grad, var``, to a gradient; None drops the variable.
        regex: matches the whole name of the variables concerned; others stay as they are.

    Example:
        >>> halve = MapGradient(lambda g: g * 0.5, regex="conv0/.*")
    """

    def __init__(self, func: Callable[..., Any], regex: str = ".*") -> None:
        names = list(inspect.signature(func).parameters.values())
        needed = [p for p in names if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        several = any(p.kind is p.VAR_POSITIONAL for p in names)
        if len(needed) > 2 or not names:
            raise TypeError(say("MapGradient", expected="a function of grad, or of grad and var",
                                received=repr(func), do="Change its arguments."))
        self.func = func if several or len(needed) == 2 else lambda grad, var: func(grad)
        self.regex = regex

    def _process(self, grads: Grads) -> Grads:
        result = []
        matched = False
        for grad, var in grads:
            if re.fullmatch(self.regex, var.op.name):
                matched = True
                grad = self.func(grad, var)
                if grad is None:
                    continue
            result.append((grad, var))
        if not matched:
            logger.warning("[%s] No variable matches the regular expression %r.",
                           type(self).__name__, self.regex)
        return result


class PrintGradient(MapGradient):
    """Prints the gradients at each step, once for each variable.

    Args:
        regex: matches the whole name of the variables concerned.
    """

    def __init__(self, regex: str = ".*") -> None:
        self._printed: set[str] = set()
        super().__init__(self._print, regex)

    def _print(self, grad: Any, var: Any) -> Any:
        if var.op.name in self._printed:
            return grad
        self._printed.add(var.op.name)
        return print_stat(grad, message=var.op.name + "-grad: ")


class SummaryGradient(MapGradient):
    """Adds a histogram and the moving average of the rms of each gradient, in the first tower.

    Args:
        regex: matches the whole name of the variables concerned.
        collections: where the summaries go.
    """

    _SEEN = "_tfqueue_compat_gradient_summaries"

    def __init__(self, regex: str = ".*", collections: Sequence[str] | None = None) -> None:
        self._collections = collections
        super().__init__(self._summarize, regex)

    def _summarize(self, grad: Any, var: Any) -> Any:
        context = get_current_tower_context()
        if context is not None and not context.is_main_training_tower:
            return grad
        seen = v1.get_collection_ref(self._SEEN)
        if var.op.name in seen:
            return grad
        seen.append(var.op.name)
        dense = tf.convert_to_tensor(grad)
        v1.summary.histogram(var.op.name + "-grad", dense, collections=self._collections)
        add_moving_summary(rms(dense, name=var.op.name + "/rms"),
                           summary_collections=self._collections)
        return grad


class CheckGradient(MapGradient):
    """Ends training with an error that names the variable, where a gradient is not finite."""

    def __init__(self) -> None:
        super().__init__(self._check)

    def _check(self, grad: Any, var: Any) -> Any:
        message = "CheckGradient: the gradient of " + var.op.name
        if isinstance(grad, tf.IndexedSlices):
            return tf.IndexedSlices(tf.debugging.check_numerics(grad.values, message),
                                    grad.indices, grad.dense_shape)
        return tf.debugging.check_numerics(grad, message)


class ScaleGradient(MapGradient):
    """Multiplies the gradients of some variables: their own learning rates.

    Args:
        multipliers: a pair (regex, number) or a list of them; the first whose expression
            matches the variable's whole name counts. 0 drops the variable.
        verbose: whether to log what is multiplied.

    Example:
        >>> slower = ScaleGradient([("conv0/.*", 0), ("fc.*", 0.1)])
    """

    def __init__(self, multipliers: Any, verbose: bool = True) -> None:
        pairs = multipliers if isinstance(multipliers, list) else [multipliers]
        for pair in pairs:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(say("ScaleGradient", expected="pairs (regex, number)",
                                     received=repr(pair), do="Pass e.g. [('fc.*', 0.1)]."))
        self.multipliers = [tuple(pair) for pair in pairs]
        self._verbose = verbose
        super().__init__(self._scale)

    def _scale(self, grad: Any, var: Any) -> Any:
        name = var.op.name
        for regex, factor in self.multipliers:
            if not re.fullmatch(regex, name):
                continue
            if self._verbose:
                logger.info("The gradient of %r is multiplied by %s", name, factor)
            if factor == 0:
                return None
            if isinstance(grad, tf.IndexedSlices):
                return tf.IndexedSlices(grad.values * factor, grad.indices, grad.dense_shape)
            return grad * factor
        return grad
