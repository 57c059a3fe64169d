# SPDX-License-Identifier: Apache-2.0
"""One run over a dataflow: the thread that owns its iterator, and the blocks that it fills.

This is what tensorpack's EnqueueThread was. The user's iterator blocks only this thread; whoever
waits for data waits on a condition of ours, which an error, a stop or a timeout can wake.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
import tensorflow as tf

from ..dataflow.base import ensure_reset
from ..dataflow.passes import EmptyPasses
from ..dataflow.raw import ForeignDataFlow
from ..utils.ending import end_at_exit
from ..utils.errors import say
from ..utils.pages import keep_pages
from .buffers import BufferPool, sole_owner
from .chunk import LARGE, Block, Cadence, empty, mixed_shapes, shapes_of
from .convert import Component
from .errors import DatasetEnded, SignatureMismatch
from .handover import Handover
from .interrupt import InterruptWatch
from .meter import Meter
from .signature import Signature

__all__ = ["Mode", "Stream"]

_MOMENT = 1e-3  # seconds
_GLANCE = 0.25  # seconds


@dataclass(frozen=True)
class Mode:
    """How a stream is consumed.

    Attributes:
        endless: start the dataflow again whenever it ends, as tensorpack's training input did.
        group: datapoints that make one element (a batch); 0: each is one by itself.
        drop_remainder: whether a last, smaller group is dropped.
    """

    endless: bool = False
    group: int = 0
    drop_remainder: bool = False


class Stream:
    """Datapoints on their way from a dataflow to one consumer.

    Args:
        dataflow: iterated in a thread of its own.
        meter: is told what happens.
        signature: of the datapoints; None to read it off the first one.
        handover: what earlier runs have learned about large arrays.
    """

    def __init__(self, dataflow: Any, meter: Meter, signature: Signature | None = None,
                 handover: Handover | None = None) -> None:
        self.signature = signature
        self.first_read: Signature | None = None
        self._dataflow = dataflow
        self._name = type(dataflow.ds if isinstance(dataflow, ForeignDataFlow)
                          else dataflow).__name__
        self._meter = meter
        self._handover = handover or Handover()
        self._mode: Mode | None = None
        self._blocks: deque[Block] = deque()
        self._open: Block | None = None
        self._pool = BufferPool()
        self._cadence = Cadence(1)
        self._bound = meter.capacity
        self._changed = threading.Condition()
        self._hungry = False
        self._wanted = 0
        self._pace = 0.0  # datapoints a second, while the producer is not held up
        self._seen = time.perf_counter(), 0.0, 0
        self._closed = False
        self._ended = False
        self._error: BaseException | None = None
        self._trace: TracebackType | None = None
        self._watch = InterruptWatch()
        self._put = 0
        self._taken = 0
        self._dropped = 0
        self._unit = 1
        self._thread = threading.Thread(target=_run, args=(self,), daemon=True,
                                        name=f"QueueInput {self._name}")
        self._thread.start()
        end_at_exit(self._thread, self.close)

    # ---- the consumer's side

    def read_first(self) -> Signature:
        """Wait for the first datapoint and return its signature; it is not consumed by it.

        Raises:
            DatasetEnded: where the dataflow is empty.
            Exception: what the dataflow raised.
        """
        with self._changed:
            while not (self.first_read or self._ended or self._error or self._closed):
                self._changed.wait(0.2)  # in slices, so that Ctrl-C comes through
        if self._error:
            raise _untouched(self._error).with_traceback(self._trace)
        if self.first_read is None:
            raise DatasetEnded(say(
                self._name, expected="at least one datapoint",
                received="none" if self._ended else "a closed input",
                do="Check the dataflow, or give the signature to QueueInput."))
        return self.first_read

    def begin(self, mode: Mode, signature: Signature) -> None:
        """Let the producer go on past the first datapoint, in this mode."""
        with self._changed:
            self.signature = signature
            self._cadence = Cadence(mode.group)
            self._unit = max(mode.group, 1)
            self._mode = mode
            if not self._closed:
                self._watch.arm()
            self._changed.notify_all()

    def take(self, timeout: float) -> list[np.ndarray]:
        """Return the next datapoints as one array a component; none after ``timeout`` seconds.

        Raises:
            StopIteration: after the last one.
            Exception: what the dataflow raised, after the datapoints before it.
        """
        self._cadence.asked()
        self._set_bound()
        with self._changed:
            before = self._taken
            rows = self._worth_waiting_for()
            if self._put - before < rows:
                self._wait(rows, timeout)
            arrays = self._next_arrays()
            if self._put - self._taken <= self._bound // 2 or self._cadence.elements == 1:
                self._changed.notify_all()
        self._cadence.answered(self._taken - before)
        return arrays

    def close(self) -> None:
        """Stop; wakes whoever waits. The thread ends as soon as the dataflow lets it."""
        with self._changed:
            if not self._closed:
                self._closed = True
                self._drop()
                self._meter.took(0)
            self._blocks.clear()
            self._pool = BufferPool()  # the old one goes with the last array out of it
            self._changed.notify_all()
        self._watch.disarm()

    def _drop(self) -> None:
        """Tell the meter of datapoints that nobody will take, each once."""
        dropped = self._put - self._taken
        self._meter.dropped(dropped - self._dropped)
        self._dropped = dropped

    def join(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds for the thread to end; say whether it has."""
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _set_bound(self) -> None:
        """How many datapoints may wait: the queue's capacity, or a chunk."""
        self._bound = max(self._meter.capacity, self._cadence.rows)

    def _ready(self) -> bool:
        return (self._put >= self._wanted or self._ended or self._closed
                or self._error is not None)

    def _worth_waiting_for(self) -> int:
        """Datapoints, in whole groups, that the producer makes in a moment at its own pace.

        A crossing costs some 0.2 ms, whatever it carries: a quick producer is given a moment to
        make it worth while; one that is slower than that is not waited for.
        """
        now, waited = time.perf_counter(), self._meter.producer_wait
        busy = now - self._seen[0] - (waited - self._seen[1])
        if busy > _MOMENT:
            self._pace = (self._put - self._seen[2]) / busy
            self._seen = now, waited, self._put
        rows = min(int(self._pace * _MOMENT), self._cadence.rows)
        return max(rows // self._unit, 1) * self._unit

    def _wait(self, rows: int, timeout: float) -> None:
        """Wait a moment for many datapoints, then for as long as it takes for one element."""
        start = time.perf_counter()
        for count, limit in ((rows, min(_MOMENT, timeout)), (self._unit, timeout)):
            self._wanted = self._taken + count
            if not self._ready():
                self._hungry = True
                self._changed.notify_all()  # a producer that waits for more room must not
                self._changed.wait_for(self._ready, limit)
                self._hungry = False
        self._meter.consumer_wait += time.perf_counter() - start

    def _next_arrays(self) -> list[np.ndarray]:
        if self._closed:
            raise DatasetEnded(say(
                "QueueInput", expected="an open input", received="one that was stopped",
                do="Iterate it anew, or call refill_queue()."))
        mode = self._mode or Mode()
        block = self._front()
        count = self._takable(block, mode) if block else 0
        if block and count:
            arrays = block.take(count, mode.group)
            self._taken += count
            self._meter.took(count)
            return arrays
        if self._error:
            raise self._error.with_traceback(self._trace)
        if self._ended:
            self._meter.took(0)
            raise StopIteration
        return self._nothing(mode)

    def _front(self) -> Block | None:
        while self._blocks:
            block = self._blocks[0]
            if block.start < block.filled or not block.sealed:
                return block
            self._blocks.popleft()
        return None

    def _takable(self, block: Block, mode: Mode) -> int:
        left = block.filled - block.start
        if not mode.group:
            return min(left, self._cadence.rows)
        whole = min(left, self._cadence.rows) // mode.group * mode.group
        last = self._ended and not (mode.drop_remainder or mode.endless)
        return whole or (left if last else 0)

    def _nothing(self, mode: Mode) -> list[np.ndarray]:
        if self._watch.fired():
            raise KeyboardInterrupt
        signature = self.signature
        return empty(signature.components, mode.group) if signature else []

    # ---- the producer's side, in its own thread

    def _produce(self) -> None:
        self._handover.begin()
        ensure_reset(self._dataflow)
        iterator = iter(self._dataflow)
        try:
            if not self._start(iterator):
                return
            passes = EmptyPasses()
            while self._mode and self._mode.endless and not self._closed:
                self._finish_pass(iterator)
                iterator = iter(self._dataflow)
                before = self._put
                if not self._fill(iterator):
                    return
                if passes.hopeless(self._put > before):
                    raise DatasetEnded(say(
                        self._name, expected="datapoints in later passes too",
                        received="empty passes, after which training could never go on",
                        do="Give it data, or something that can be iterated again."))
        finally:
            self._finish_pass(iterator)

    def _start(self, iterator: Iterator[Any]) -> bool:
        """Take the first datapoint, wait for a consumer, and go on with the first pass."""
        box = []
        for dp in iterator:
            box.append(dp)
            del dp
            break
        if not box:
            if self.signature is None:
                return False  # read_first says so; nobody will begin
            if self._mode_now() is not None and self._mode and self._mode.endless:
                raise DatasetEnded(say(self._name, expected="datapoints",
                                       received="an empty dataflow", do="Give it data."))
            return False
        with self._changed:
            self.first_read = self.signature or Signature.infer(box[0])
            self._changed.notify_all()
        if self._mode_now() is None:
            return False
        keep_pages()  # the consumer's dataset is made: TensorFlow has had its way with malloc
        self._meter.start()
        self._meter.produced += 1
        self._store(box)
        box.clear()
        return self._fill(iterator)

    def _mode_now(self) -> Mode | None:
        """Wait until somebody consumes this stream."""
        with self._changed:
            self._changed.wait_for(lambda: self._mode is not None or self._closed)
            return None if self._closed else self._mode

    def _fill(self, iterator: Iterator[Any]) -> bool:
        """Store what the iterator gives; False when it was stopped before the end."""
        meter, signature = self._meter, self.signature
        if signature is None:
            return False
        flatten = signature.flatten
        for dp in iterator:  # some 2 microseconds a datapoint: mind each attribute
            if self._closed:
                return False
            meter.produced += 1
            block = self._open
            if block is None or not block.add(flatten(dp)):
                box = [dp]
                del dp
                self._store(box)
                box.clear()
            else:
                del dp
                self._put += 1
                if block.filled == block.rows:
                    self._seal()
                if self._hungry and self._put >= self._wanted:
                    self._feed()
            if self._put - self._taken >= self._bound and not self._wait_for_room():
                return False
        return not self._closed

    def _store(self, box: list[Any]) -> None:
        """Store a datapoint for which there is no open block that it fits."""
        signature = self.signature
        if signature is None:
            return
        owned = sole_owner(box)
        leaves = signature.flatten(box[0])
        if leaves is not box[0]:  # nested: the leaves are others than the components on top
            owned = []
        arrays, shapes, nbytes = shapes_of(signature.components, leaves)
        group = self._mode.group if self._mode else 0
        if nbytes >= LARGE and not group:
            self._make_large(signature.components, arrays, leaves, owned)
        else:
            self._open_block(signature.components, shapes, nbytes)
            if not self._open or not self._open.add(arrays):
                raise mixed_shapes("datapoint", shapes)
            if self._open.filled == self._open.rows:
                self._seal()
        self._put += 1
        if self._hungry and self._put >= self._wanted:
            self._feed()

    def _make_large(self, components: Any, arrays: list[np.ndarray], leaves: Any,
                    owned: list[bool]) -> None:
        self._seal()
        self._cadence.alone()
        self._set_bound()
        # what was made from a list, or cast, is a new array of ours
        mine = [(bool(owned) and owned[i]) if a is leaves[i] else
                isinstance(leaves[i], (list, tuple, np.ndarray)) for i, a in enumerate(arrays)]
        large_are_mine = all(m for m, a in zip(mine, arrays) if a.nbytes >= LARGE // 2)
        if not self._handover.aliases(large_are_mine):
            mine = [False] * len(mine)
        self._blocks.append(Block.alone(components, arrays, self._pool, mine))

    def _open_block(self, components: tuple[Component, ...], shapes: list[tuple[int, ...]],
                    nbytes: int) -> None:
        group = self._mode.group if self._mode else 0
        if self._open and group and self._open.filled % group:
            raise mixed_shapes("datapoint", self._open.shapes, shapes)
        self._cadence.sized(nbytes)
        self._set_bound()
        rows = self._cadence.block_rows(self._meter.capacity)
        if self._open:  # not full: shapes vary, and the next block may not get full either
            rows = min(rows, 2 * self._open.filled)
            self._seal()
        self._open = Block(components, shapes, rows, self._pool)
        self._blocks.append(self._open)

    def _seal(self) -> None:
        if self._open:
            self._open.sealed = True
            self._open = None

    def _feed(self) -> None:
        """Wake the consumer, who is waiting, and let it have the interpreter at once."""
        with self._changed:
            if self._put < self._wanted:
                return  # the consumer was served meanwhile, and has come for more
            self._hungry = False
            self._changed.notify_all()
        time.sleep(0)

    def _wait_for_room(self) -> bool:
        """Wait until the consumer has taken enough; the meter follows a long wait as it goes."""
        with self._changed:
            while not (self._put - self._taken < self._resume or self._hungry or self._closed):
                start = self._meter.producer_waits_since = time.perf_counter()
                self._changed.wait(_GLANCE)
                self._meter.producer_waits_since = None
                self._meter.producer_wait += time.perf_counter() - start
        return not self._closed

    @property
    def _resume(self) -> int:
        """The level at which to go on: not at each datapoint, where datapoints are quick."""
        limit = self._bound
        return limit if self._cadence.elements == 1 else max(limit - limit // 4, 1)

    def _finish_pass(self, iterator: Iterator[Any]) -> None:
        if isinstance(iterator, Generator):  # another's close() may mean something else
            iterator.close()

    def _finish(self, error: BaseException | None) -> None:
        with self._changed:
            self._seal()
            if self._closed:
                self._drop()
                self._blocks.clear()  # one may have been added since
            elif error is not None:
                self._error, self._trace = error, error.__traceback__
                if isinstance(error, SignatureMismatch) and self.first_read is not None:
                    self._meter.dropped(1)  # it was produced, but is stored nowhere
            self._ended = True
            self._changed.notify_all()


def _run(stream: Stream) -> None:
    try:
        stream._produce()
    except (StopIteration, tf.errors.OutOfRangeError) as e:  # either would pass for the end
        stream._finish(_not_the_end(stream._name, e))
    except BaseException as e:  # kept, and raised where the consumer is
        stream._finish(e)
    else:
        stream._finish(None)
    finally:
        stream._handover.end()
        stream._dataflow = None


def _not_the_end(name: str, stop: Exception) -> RuntimeError:
    """As a generator does with a StopIteration that its own code lets out."""
    error = RuntimeError(say(
        name, expected="an iterator, which ends by StopIteration from its __next__",
        received=f"{type(stop).__name__}({stop}) from elsewhere in the dataflow",
        do="Look at its traceback, e.g. for a next() without a default."))
    error.__cause__ = stop
    return error.with_traceback(stop.__traceback__)


def _untouched(error: BaseException) -> BaseException:
    """Let it pass through a ``tf.function`` that is traced: autograph makes a new one else."""
    error.ag_pass_through = True  # type: ignore[attr-defined]
    return error
