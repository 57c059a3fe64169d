# SPDX-License-Identifier: Apache-2.0
"""A run of the default session in which some session hooks take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["HookedRun"]

v1 = tf.compat.v1


class HookedRun:
    """Runs what the hooks ask for, with what they feed, and hands each its results.

    Args:
        hooks: ``tf.compat.v1.train.SessionRunHook`` objects.
    """

    def __init__(self, hooks: Sequence[Any]) -> None:
        self._hooks = list(hooks)

    def __call__(self) -> None:
        """Run once."""
        session = v1.get_default_session()
        context = v1.train.SessionRunContext(v1.train.SessionRunArgs(fetches=[]), session)
        asked = [hook.before_run(context) for hook in self._hooks]
        feed: dict[Any, Any] = {}
        for args in asked:
            if args is not None and args.feed_dict:
                feed.update(args.feed_dict)
        fetches = [[] if args is None else args.fetches for args in asked]
        options, metadata = v1.RunOptions(), v1.RunMetadata()
        for args in asked:
            if args is not None and args.options is not None:
                options.MergeFrom(args.options)
        results = session.run(fetches, feed_dict=feed, options=options, run_metadata=metadata)
        for hook, args, result in zip(self._hooks, asked, results):
            hook.after_run(context, v1.train.SessionRunValues(
                None if args is None else result, options, metadata))
