# SPDX-License-Identifier: Apache-2.0
"""Several dataflows, each iterated in a thread of its own."""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from ..utils.ending import end_at_exit
from ..utils.errors import say
from .arguments import function, old_keywords, positive
from .base import DataFlow, as_dataflow, length, reset
from .passes import EmptyPasses

__all__ = ["MultiThreadPrefetchData", "MultiThreadRunner"]


class _Stream:
    """A queue that can be closed from either side; who waits then goes on at once."""

    def __init__(self, capacity: int) -> None:
        self._items: deque[Any] = deque()
        self._capacity = capacity
        self._changed = threading.Condition()
        self.closed = False

    def put(self, item: Any) -> bool:
        """Append ``item``, waiting for room; return False once closed."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed or len(self._items) < self._capacity)
            if self.closed:
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def get(self) -> Any:
        """Return the next item, waiting for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._items)
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def close(self) -> None:
        """Let every put() that waits return."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()


def _produce(df: Any, stream: _Stream) -> None:
    passes = EmptyPasses()
    try:
        while True:
            n = 0
            for n, dp in enumerate(df, 1):
                if not stream.put((dp, None)):
                    return
            if passes.hopeless(n > 0):
                raise ValueError(say(type(df).__name__, expected="datapoints",
                                     received="passes without any", do="Check its source."))
    except BaseException as e:  # to be raised where the runner is iterated
        stream.put((None, e))


class MultiThreadRunner(DataFlow):
    """Makes several dataflows and runs each in a thread; yields what comes, whoever made it.

    With one thread, a pass over it is a pass over the dataflow. With more, the dataflows run
    independently, so datapoints come several times unless the dataflows are random: for training.

    Args:
        get_df: returns a DataFlow, a new one each time.
        num_prefetch: datapoints ready at most.
        num_thread: threads.
    """

    @old_keywords(nr_prefetch="num_prefetch", nr_thread="num_thread")
    def __init__(self, get_df: Callable[[], Any], num_prefetch: int, num_thread: int) -> None:
        self.num_prefetch = positive(num_prefetch, "num_prefetch", self)
        self.num_thread = positive(num_thread, "num_thread", self)
        make = function(get_df, "get_df", self)
        self._dataflows = [as_dataflow(make()) for _ in range(self.num_thread)]
        self._stream: _Stream | None = None
        self._process: int | None = None

    def reset_state(self) -> None:
        """Reset the dataflows and start the threads, once in a process."""
        if "_dataflows" not in self.__dict__ or (
                self._stream is not None and self._process == os.getpid()):
            return
        self._stream, self._process = _Stream(self.num_prefetch), os.getpid()
        weakref.finalize(self, self._stream.close).atexit = False
        for df in self._dataflows:
            reset(df)
        for i, df in enumerate(self._dataflows):
            thread = threading.Thread(target=_produce, args=(df, self._stream), daemon=True,
                                      name=f"{type(self).__name__}-{i}")
            thread.start()
            end_at_exit(thread, self._stream.close)

    def __len__(self) -> int:
        """Return the length of the first dataflow."""
        return len(self._dataflows[0])

    def __iter__(self) -> Iterator[Any]:
        """Yield as many datapoints as a dataflow has, or without end if it has no length."""
        self.reset_state()
        size = length(self._dataflows[0])
        for _ in count() if size is None else range(size):
            stream = self._stream
            if stream is None:
                return
            dp, error = stream.get()
            if error is not None:
                stream.close()
                self._stream = None
                raise error
            yield dp

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_stream": None}


MultiThreadPrefetchData = MultiThreadRunner
