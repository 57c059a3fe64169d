# SPDX-License-Identifier: Apache-2.0
"""Summaries of a model: moving averages, activations, parameters; in the first tower only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say
from ..utils.naming import MOVING_SUMMARY_OPS_KEY
from .moving_average import moving_average_of
from .scope_utils import cached_name_scope
from .summary_protos import create_image_summary, create_scalar_summary
from .symbolic_functions import rms
from .tower import get_current_tower_context

__all__ = ["add_activation_summary", "add_moving_summary", "add_param_summary",
           "add_tensor_summary", "create_image_summary", "create_scalar_summary"]

v1 = tf.compat.v1
_KINDS: dict[str, Callable[[Any, str, Any], Any]] = {
    "scalar": lambda x, name, where: v1.summary.scalar(name + "-summary", x, where),
    "histogram": lambda x, name, where: v1.summary.histogram(name + "-histogram", x, where),
    "sparsity": lambda x, name, where: v1.summary.scalar(
        name + "-sparsity", tf.nn.zero_fraction(x), where),
    "mean": lambda x, name, where: v1.summary.scalar(name + "-mean", tf.reduce_mean(x), where),
    "rms": lambda x, name, where: v1.summary.scalar(name + "-rms", rms(x), where),
}


def _in_other_tower() -> bool:
    context = get_current_tower_context()
    return context is not None and not context.is_main_training_tower


def add_tensor_summary(x: Any, types: Iterable[str], name: str | None = None,
                       collections: Sequence[str] | None = None,
                       main_tower_only: bool = True) -> None:
    """Add summaries of a tensor.

    Args:
        x: the tensor.
        types: any of ``scalar``, ``histogram``, ``sparsity`` (share of zeros), ``mean``, ``rms``.
        name: tag; by default the tensor's name. ``-mean`` and so on is added to it.
        collections: where to put them; by default ``SUMMARIES``.
        main_tower_only: whether to do nothing in towers other than the first that trains.

    Raises:
        ValueError: for another type.
    """
    kinds = [types] if isinstance(types, str) else list(types)
    for kind in kinds:
        if kind not in _KINDS:
            raise ValueError(say("add_tensor_summary", expected=f"types of {list(_KINDS)}",
                                 received=repr(kind), do=f"Pass those.{near(kind, _KINDS)}"))
    if main_tower_only and _in_other_tower():
        return
    for kind in dict.fromkeys(kinds):
        _KINDS[kind](x, x.op.name if name is None else name, collections)


def add_activation_summary(x: Any, types: Iterable[str] | None = None, name: str | None = None,
                           collections: Sequence[str] | None = None) -> None:
    """Add summaries of activations, under ``activation-summary``.

    Args:
        x: a tensor of rank 2 or more; others are skipped with a warning. Several in a list
            are done one by one.
        types: as in ``add_tensor_summary``; by default sparsity, rms and histogram.
        name: tag; by default the tensor's name.
        collections: where to put them.
    """
    if isinstance(x, (list, tuple)):
        for one in x:
            add_activation_summary(one, types, name, collections)
        return
    if _in_other_tower():
        return
    if x.shape.rank is not None and x.shape.rank < 2:
        logger.warning("No activation summary of %s: its rank is %d.", x.name, x.shape.rank)
        return
    with cached_name_scope("activation-summary"):
        add_tensor_summary(x, types or ["sparsity", "rms", "histogram"], name, collections)


def add_param_summary(*summary_lists: tuple[str, Iterable[str]], **kwargs: Any) -> None:
    """Add summaries of trainable variables, under ``param-summary``.

    Args:
        *summary_lists: pairs of a regular expression that matches the variable's whole name,
            and the types of ``add_tensor_summary``.
        collections: (keyword) where to put them.

    Example:
        >>> with tf.Graph().as_default() as graph:
        ...     w = v1.get_variable("fc/W", [2, 2])
        ...     add_param_summary((".*/W", ["rms"]))
        ...     len(graph.get_collection("summaries"))
        1
    """
    collections = _only(kwargs, "add_param_summary", collections=None)["collections"]
    for pair in summary_lists:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ValueError(say("add_param_summary", expected="pairs (regex, [types])",
                                 received=repr(pair), do="Pass e.g. ('.*/W', ['rms'])."))
    if _in_other_tower():
        return
    with cached_name_scope("param-summary"):
        for variable in v1.trainable_variables():
            for regex, types in summary_lists:
                if re.fullmatch(regex, variable.op.name):
                    add_tensor_summary(variable, types, variable.op.name, collections)


def add_moving_summary(*args: Any, **kwargs: Any) -> list[Any]:
    """Add scalar summaries of the moving averages of scalars.

    The averages are moved by ``MovingAverageSummary``, a callback that trainers have by default.
    In ``keras_bridge.ModelDescModel`` the scalars are metrics of Keras, averaged over an epoch.

    Args:
        *args: scalar tensors, or lists of them.
        decay: (keyword) share of the old average kept at each step, 0.95.
        collection: (keyword) where the ops go that move the averages; None for nowhere.
        summary_collections: (keyword) where the summaries go; by default ``SUMMARIES``.

    Returns:
        One tensor for each scalar: its average after this step. Empty in other towers.

    Raises:
        TypeError: for what is no scalar tensor.
    """
    options = _only(kwargs, "add_moving_summary", decay=0.95,
                    collection=MOVING_SUMMARY_OPS_KEY, summary_collections=None)
    values = [x for arg in args for x in (arg if isinstance(arg, (list, tuple)) else [arg])]
    for x in values:
        if not (tf.is_tensor(x) or isinstance(x, tf.Variable)) or x.shape.rank not in (0, None):
            raise TypeError(say("add_moving_summary", expected="scalar tensors",
                                received=f"{x!r}", do="Pass e.g. tf.reduce_mean(x)."))
    record = getattr(get_current_tower_context(), "record_scalars", None)
    if record is not None:  # it averages by itself
        record(values)
        return values
    if _in_other_tower():
        return []
    moved = [_moving(x, options["decay"], options["summary_collections"]) for x in values]
    if options["collection"] is not None:
        for op in moved:
            v1.add_to_collection(options["collection"], op)
    return moved


def _moving(x: Any, decay: float, collections: Any) -> tf.Tensor:
    name = re.sub("tower[0-9]+/", "", x.op.name)
    with tf.name_scope(""):
        value = tf.reshape(x if x.dtype.is_floating else tf.cast(x, tf.float32), [])
    average, moved = moving_average_of(value, name, decay)
    with tf.name_scope(""):
        v1.summary.scalar(name + "-summary", average, collections)
    return moved


def _only(kwargs: dict[str, Any], what: str, **defaults: Any) -> dict[str, Any]:
    unknown = sorted(set(kwargs) - set(defaults))
    if unknown:
        raise TypeError(say(what, expected=f"keywords of {sorted(defaults)}",
                            received=repr(unknown[0]),
                            do=f"Rename it.{near(unknown[0], defaults)}"))
    return {**defaults, **kwargs}
