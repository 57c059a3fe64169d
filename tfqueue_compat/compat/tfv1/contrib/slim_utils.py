# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``slim.utils``: layer outputs by their names."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import tensorflow as tf

__all__ = ["collect_named_outputs", "convert_collection_to_dict", "get_tensor_aliases",
           "last_dimension", "n_positive_integers", "smart_cond"]

from ..layers_shapes import sizes_of, smart_cond, static_size
from .layer_scope import collect

_v1 = tf.compat.v1


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Add outputs to collections under an alias, and return them."""
    return collect(collections, alias, outputs)


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Return the names that layers gave a tensor, or the name of its operation."""
    aliases = getattr(tensor, "aliases", None)
    return list(aliases) if aliases else [tensor.name.rpartition(":")[0] or tensor.name]


def convert_collection_to_dict(collection: str, clear_collection: bool = False
                               ) -> OrderedDict[str, Any]:
    """Return a collection's tensors by their aliases: slim's ``end_points``."""
    found = OrderedDict((alias, tensor) for tensor in _v1.get_collection(collection)
                        for alias in get_tensor_aliases(tensor))
    if clear_collection:
        del _v1.get_collection_ref(collection)[:]
    return found


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """Return the size of the last axis.

    Raises:
        ValueError: where it is not known, or there are too few axes.
    """
    shape = tf.TensorShape(shape).with_rank_at_least(min_rank)
    return static_size(shape, -1, "last_dimension")


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """Return ``n`` positive integers from one or from ``n``."""
    return sizes_of(value, n, "value")
