# SPDX-License-Identifier: Apache-2.0
"""A graph's collections, kept from changing where they must not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.naming import MOVING_SUMMARY_OPS_KEY

__all__ = ["backup_collection", "freeze_collection", "restore_collection"]

v1 = tf.compat.v1

#: Collections that grow in any tower, and of which nobody needs to hear.
_USUAL = frozenset({
    v1.GraphKeys.TRAINABLE_VARIABLES, v1.GraphKeys.GLOBAL_VARIABLES, v1.GraphKeys.QUEUE_RUNNERS,
    v1.GraphKeys.LOCAL_VARIABLES, "tf_data_iterators"})


def backup_collection(keys: Iterable[Any] | None = None) -> dict[Any, list[Any]]:
    """Return a copy of the default graph's collections.

    Args:
        keys: the collections to copy; all where None.

    Returns:
        key -> list of what the collection holds.
    """
    graph = v1.get_default_graph()
    wanted = graph.get_all_collection_keys() if keys is None else list(keys)
    return {key: copy(graph.get_collection(key)) for key in wanted}


def restore_collection(backup: dict[Any, list[Any]]) -> None:
    """Make the collections named in ``backup`` hold what they held then.

    Collections that are not in ``backup`` stay as they are.
    """
    for key, values in backup.items():
        v1.get_default_graph().get_collection_ref(key)[:] = values


@contextmanager
def freeze_collection(keys: Iterable[Any]) -> Iterator[None]:
    """Undo at the end of the block what it put into these collections.

    Args:
        keys: the collections.
    """
    backup = backup_collection(keys)
    try:
        yield
    finally:
        restore_collection(backup)


def get_inverse_graphkeys() -> dict[Any, str]:
    """Return collection -> ``"tf.GraphKeys.NAME"``, for messages."""
    found = {}
    for name in dir(v1.GraphKeys):  # VARIABLES is an old name, and TensorFlow says so
        if name.isupper() and not name.startswith("_") and name != "VARIABLES":
            found[getattr(v1.GraphKeys, name)] = f"tf.GraphKeys.{name}"
    return found


class CollectionGuard:
    """Watches the collections of the default graph over a ``with`` block.

    Args:
        name: of the tower, for messages.
        check_diff: whether to log collections that the block made or enlarged.
        freeze_keys: collections restored at the end, as ``freeze_collection`` does.
        diff_whitelist: collections that may grow without a word.
    """

    #: What the collections held before: key -> ids.
    original: dict[Any, set[int]] = {}

    def __init__(self, name: str, check_diff: bool, freeze_keys: Iterable[Any] = (),
                 diff_whitelist: Iterable[Any] | None = None) -> None:
        self._name = name
        self._check_diff = check_diff
        self._frozen = list(freeze_keys)
        self._quiet = set(_USUAL if diff_whitelist is None else diff_whitelist)
        self._grown: dict[Any, list[Any]] | None = None
        self.original = {}

    def __enter__(self) -> CollectionGuard:
        self._before = backup_collection()
        self.original = {k: {id(x) for x in values} for k, values in self._before.items()}
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is not None:
            return
        after = backup_collection()
        self._grown = {key: self._new(key, values) for key, values in after.items()}
        if self._check_diff:
            self._log_growth(after)
        self._restore_frozen(after)

    def _new(self, key: Any, values: list[Any]) -> list[Any]:
        known = self.original.get(key, set())
        return [x for x in values if id(x) not in known]

    def _log_growth(self, after: dict[Any, list[Any]]) -> None:
        names = get_inverse_graphkeys()
        told = [key for key, values in after.items()
                if key not in self._quiet and key not in self._frozen
                and not str(key).startswith("_tfqueue_compat")
                and len(values) != len(self._before.get(key, []))]
        if told:
            logger.info("Collections that changed in tower %r: %s", self._name, ", ".join(
                f"{names.get(k, k)} {len(self._before.get(k, []))}->{len(after[k])}"
                for k in told))

    def _restore_frozen(self, after: dict[Any, list[Any]]) -> None:
        names = get_inverse_graphkeys()
        changed = [key for key in self._frozen
                   if len(after.get(key, [])) != len(self._before.get(key, []))]
        if changed:
            logger.info("Collections restored after tower %r: %s", self._name, ", ".join(
                f"{names.get(k, k)} {len(self._before.get(k, []))}->{len(after[k])}"
                for k in changed))
        restore_collection({key: self._before.get(key, []) for key in self._frozen})

    def get_collection_in_tower(self, key: Any) -> list[Any]:
        """Return what the block put into the collection; inside the block, what it has so far.

        What was put into a frozen collection is gone from the graph, and not returned either.
        """
        if self._grown is None:
            return self._new(key, v1.get_collection(key))
        return list(self._grown.get(key, ())) if key not in self._frozen else []


FROZEN_IN_OTHER_TOWERS: tuple[str, ...] = (v1.GraphKeys.SUMMARIES, MOVING_SUMMARY_OPS_KEY)
