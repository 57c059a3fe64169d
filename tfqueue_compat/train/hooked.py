# SPDX-License-Identifier: Apache-2.0
"""A session whose every run asks the callbacks what else to fetch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..engine.errors import failure_in
from ..tfutils.op_origin import with_user_line
from ..utils.errors import say
from .queue_runners import QueueRunners

__all__ = ["HookedSession"]

v1 = tf.compat.v1
_REMEMBERED = 256  # ways to run the session that are kept ready


class HookedSession:
    """Runs a session together with hooks, as ``tf.compat.v1.train.MonitoredSession`` does.

    It has what training needs of one, and costs less: what was fetched once is fetched again
    without another look at the graph. It makes no session, and tries no failed step again.
    TF 1's queue runners in the graph run until it is closed.

    Args:
        sess: the session.
        hooks: ``SessionRunHook`` objects; their ``before_run`` and ``after_run`` are called.
    """

    def __init__(self, sess: Any, hooks: Sequence[Any]) -> None:
        self._sess = sess
        self._hooks = list(hooks)
        self._ready: dict[Any, tuple[Any, Callable[[], Any]]] = {}
        self._stop = False
        self._runners = QueueRunners(sess)

    @property
    def graph(self) -> tf.Graph:
        """The session's graph."""
        return self._sess.graph

    def should_stop(self) -> bool:
        """Whether a hook has asked for the end of training, or the session is closed."""
        return self._stop or self._sess is None

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None,
            run_metadata: Any = None) -> Any:
        """Run the session and the hooks.

        Args:
            fetches: as for ``Session.run``; so are the others.

        Returns:
            What ``fetches`` asked for.

        Raises:
            Exception: what the input's dataflow raised, or an error of TensorFlow.
        """
        if self._sess is None:
            raise RuntimeError(say("the training session", expected="an open session",
                                   received="a closed one", do="Use it while training runs."))
        context = v1.train.SessionRunContext(v1.train.SessionRunArgs(fetches, feed_dict),
                                             self._sess)
        asked = [hook.before_run(context) for hook in self._hooks]
        wanted = [fetches, *(None if a is None else a.fetches for a in asked)]
        metadata = run_metadata
        if options is None and feed_dict is None and metadata is None \
                and all(a is None or not (a.feed_dict or a.options) for a in asked):
            results = self._quick(wanted)
        else:
            metadata = metadata or v1.RunMetadata()
            options = _merged_options(options, asked)
            results = self._slow(wanted, _merged_feeds(feed_dict, asked), options, metadata)
        for hook, result in zip(self._hooks, results[1:]):
            hook.after_run(context, v1.train.SessionRunValues(
                results=result, options=options, run_metadata=metadata))
        self._stop = self._stop or context.stop_requested
        return results[0]

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Call ``step_fn(step_context)``, whose ``session`` runs without hooks.

        Args:
            step_fn: may call ``step_context.session.run`` and ``run_with_hooks``.
        """
        return step_fn(_StepContext(self._sess, self.run))

    def close(self) -> None:
        """Close the session; later calls change nothing."""
        sess, self._sess = self._sess, None
        self._ready.clear()
        if sess is not None:
            self._runners.close()
            sess.close()

    def _quick(self, wanted: list[Any]) -> list[Any]:
        key = tuple(map(_key, wanted))
        entry = self._ready.get(key)
        if entry is None:
            if len(self._ready) >= _REMEMBERED:
                self._ready.clear()
            # what is kept beside it keeps the ids in the key from being given to others
            entry = self._ready[key] = (wanted, self._callable(wanted))
        try:
            return entry[1]()
        except tf.errors.OpError as e:
            error = failure_in(str(e.message))
            if error is None:
                self._runners.raise_failure()
                raise with_user_line(e, self._sess.graph) from None
            raise error from None

    def _callable(self, wanted: list[Any]) -> Callable[[], list[Any]]:
        used = [i for i, fetch in enumerate(wanted) if fetch is not None]
        call = self._sess.make_callable([wanted[i] for i in used])
        if len(used) == len(wanted):
            return call  # type: ignore[no-any-return]

        def run() -> list[Any]:
            results: list[Any] = [None] * len(wanted)
            for i, result in zip(used, call()):
                results[i] = result
            return results
        return run

    def _slow(self, wanted: list[Any], feeds: Any, options: Any, metadata: Any) -> list[Any]:
        named = {str(i): fetch for i, fetch in enumerate(wanted) if fetch is not None}
        got = self._sess.run(named, feed_dict=feeds, options=options, run_metadata=metadata)
        return [got.get(str(i)) for i in range(len(wanted))]


def _key(fetch: Any) -> Any:
    """Tells structures of fetches apart; cheap, for it is made in each step."""
    if type(fetch) in (list, tuple):
        return (type(fetch), *map(_key, fetch))
    if type(fetch) is dict:
        return (dict, *((k, _key(v)) for k, v in fetch.items()))
    return fetch if isinstance(fetch, str) else id(fetch)


def _merged_feeds(feed_dict: Any, asked: Sequence[Any]) -> dict[Any, Any]:
    feeds = dict(feed_dict or {})
    for args in asked:
        for tensor, value in ((args and args.feed_dict) or {}).items():
            if tensor in feeds:
                raise RuntimeError(say(f"the feed of {tensor}", expected="one source of its value",
                                       received="two: a hook feeds what is fed already",
                                       do="Remove one."))
            feeds[tensor] = value
    return feeds


def _merged_options(options: Any, asked: Sequence[Any]) -> Any:
    merged = v1.RunOptions()
    for one in [options, *(a.options for a in asked if a is not None)]:
        if one is None:
            continue
        merged.trace_level = max(merged.trace_level, one.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, one.timeout_in_ms)
        merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, one.inter_op_thread_pool)
        merged.output_partition_graphs |= one.output_partition_graphs
        merged.report_tensor_allocations_upon_oom |= one.report_tensor_allocations_upon_oom
        merged.debug_options.debug_tensor_watch_opts.extend(
            one.debug_options.debug_tensor_watch_opts)
    return merged


class _StepContext:
    """What ``run_step_fn`` hands out."""

    def __init__(self, session: Any, run_with_hooks: Callable[..., Any]) -> None:
        self.session = session
        self.run_with_hooks = run_with_hooks

    def request_stop(self) -> None:
        """End training."""
        raise StopIteration("step_fn has requested the iterations to stop.")
