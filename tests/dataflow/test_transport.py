# SPDX-License-Identifier: Apache-2.0
"""What goes in at a Sender comes out of a Receiver, and stays what it was."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfqueue_compat.dataflow.receiver import Receiver
from tfqueue_compat.dataflow.sender import Sender
from tfqueue_compat.dataflow.transport import Signal, channel

PATIENCE = 30.0


class Pair:
    """A sender in a thread of its own, and its receiver here."""

    def __init__(self, source: Any, capacity: int = 50, share: int = 1, feed: bool = True) -> None:
        tx, self.rx = channel(capacity, share)
        self.receiver, self.sender = Receiver(self.rx), Sender(tx)
        self.thread = threading.Thread(target=self._send, args=(source, feed), daemon=True)
        self.thread.start()

    def _send(self, source: Any, feed: bool) -> None:
        if feed:
            self.sender.feed(source)
        else:
            for dp in source:
                self.sender.add(dp)
        self.sender.signal("end")

    def chunks(self) -> Any:
        while True:
            got = self.receiver.take(PATIENCE)
            assert got is not None, "nothing came"
            if isinstance(got, Signal):
                return
            yield got
            got = None

    def all(self) -> list[Any]:
        return [dp for chunk in self.chunks() for dp in chunk.datapoints()]


def same(a: Any, b: Any) -> bool:
    """Whether two datapoints are equal, in types as well."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype.hasobject:
            return a.shape == b.shape and all(map(same, a.ravel(), b.ravel()))
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    return bool(a == b) or a != a


dtypes = st.sampled_from(["uint8", "int32", "int64", "float16", "float32", "float64", "bool",
                          "complex64", ">i4", "M8[ns]", "U3"])
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
leaves = st.one_of(
    arrays, st.integers(), st.floats(), st.booleans(), st.text(max_size=5),
    st.binary(max_size=5), st.none(), st.sets(st.integers(), max_size=2),
    st.integers(-5, 5).map(np.int16), st.floats(width=32).map(np.float32))
datapoints = st.recursive(leaves, lambda inner: st.one_of(
    st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple),
    st.dictionaries(st.text(max_size=2), inner, max_size=3)), max_leaves=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(datapoints, st.integers(1, 12)), max_size=6), st.booleans())
def test_any_datapoints_come_out_equal(runs: list[tuple[Any, int]], feed: bool) -> None:
    sent = [copy.deepcopy(dp) for dp, times in runs for _ in range(times)]
    got = Pair(iter(copy.deepcopy(sent)), feed=feed).all()
    assert len(got) == len(sent) and all(map(same, got, sent))


@pytest.mark.parametrize("feed", [True, False])
@pytest.mark.parametrize("shape", [(3,), (28, 28), (300, 400)])
def test_a_refilled_buffer_does_not_change_what_was_sent(shape: tuple[int, ...],
                                                         feed: bool) -> None:
    def source() -> Any:
        buffer, dp = np.zeros(shape, "float32"), [None, 0]
        dp[0] = buffer
        for i in range(300):
            buffer[...] = dp[1] = i
            yield dp
    got = Pair(source(), feed=feed).all()
    assert [dp[1] for dp in got] == list(range(300))
    assert all((dp[0] == i).all() for i, dp in enumerate(got))


def test_a_refilled_list_of_numbers_does_not_change_what_was_sent() -> None:
    def source() -> Any:
        dp = [0, 0.0]
        for i in range(5000):
            dp[0], dp[1] = i, i / 2
            yield dp
    assert Pair(source()).all() == [[i, i / 2] for i in range(5000)]


def test_arrays_not_contiguous() -> None:
    a = np.arange(5 * 7 * 3).reshape(5, 7, 3)
    got = Pair([a.transpose(2, 0, 1), i] for i in range(100)).all()
    assert len(got) == 100
    assert all((dp[0] == a.transpose(2, 0, 1)).all() and dp[1] == i for i, dp in enumerate(got))


def test_layout_that_changes_in_a_fast_stream() -> None:
    sent = [[i, 2.0] for i in range(1000)]
    sent[500:500] = [[1], ["a", 2.0], (1, 2.0), [2 ** 80, 1.0], [True, 1.0], [None, 1.0]]
    assert all(map(same, Pair(iter(sent)).all(), sent))


def test_a_consumer_that_keeps_everything_gets_all_of_it() -> None:
    def source() -> Any:
        for i in range(120):
            yield [np.full((1 << 18,), i, "int32")]  # 1 MiB; the ring's budget is 32 MiB
    got = Pair(source(), capacity=4).all()
    assert [int(dp[0][0]) for dp in got] == list(range(120))
    assert all((dp[0] == i).all() for i, dp in enumerate(got))


def test_what_is_kept_stays_while_the_rest_goes_by() -> None:
    def source() -> Any:
        for i in range(400):
            yield [np.full((1000, 100), i, "int32")]
    kept = []
    for chunk in Pair(source(), capacity=4).chunks():
        for dp in chunk.datapoints():
            if dp[0][0, 0] % 50 == 0:
                kept.append(dp[0][5:8, 3])  # a view of a view
    assert [a.tolist() for a in kept] == [[i] * 3 for i in range(0, 400, 50)]


def test_arrays_are_writable_and_private() -> None:
    got = Pair([np.zeros((50, 60)), i] for i in range(40)).all()
    for i, dp in enumerate(got):
        dp[0][...] = i
    assert all((dp[0] == i).all() for i, dp in enumerate(got))


def test_memory_is_used_again() -> None:
    addresses = set()
    for chunk in Pair(([np.zeros((64, 1024, 8), "float64")] for _ in range(60)),
                      capacity=4).chunks():
        addresses.add(chunk.columns[0].ctypes.data)
        chunk = None
        gc.collect()
    assert len(addresses) <= 12


def test_columns_are_stacked_and_aligned() -> None:
    seen = 0
    for chunk in Pair({"x": np.full((3, 5), i, "float32"), "y": i, "z": np.float16(i)}
                      for i in range(500)).chunks():
        x, y, z = chunk.columns
        assert chunk.structure == ("dict", ("x", "y", "z"), ("leaf",) * 3)
        assert x.shape == (chunk.n, 3, 5) and (y.dtype, z.dtype) == (np.int64, np.float16)
        assert all(c.ctypes.data % 64 == 0 for c in (x, y, z))
        assert y.tolist() == list(range(seen, seen + chunk.n)) == x[:, 2, 4].tolist()
        seen += chunk.n
    assert seen == 500


@pytest.mark.parametrize("dp", [["text"], [{1, 2}], [2 ** 70], [np.zeros(2, object)]])
def test_no_columns_where_there_is_nothing_to_stack(dp: Any) -> None:
    assert all(chunk.columns is None for chunk in Pair([dp] * 5).chunks())


def test_many_small_datapoints_share_a_message() -> None:
    gate = threading.Event()

    def source() -> Any:
        for i in range(3000):
            yield [i, float(i)]
            if i == 0:
                gate.wait(PATIENCE)
    pair = Pair(source())
    first = pair.receiver.take(PATIENCE)
    assert first.n == 1
    gate.set()
    sizes = [chunk.n for chunk in pair.chunks()]
    assert sum(sizes) == 2999 and len(sizes) < 300


def test_datapoint_larger_than_the_memory_may_be() -> None:
    big = np.arange(1 << 20)  # 8 MiB, where 1 MiB is allowed
    got = Pair(([big + i, "x"] for i in range(5)), share=1 << 30).all()
    assert len(got) == 5 and all((dp[0] == big + i).all() for i, dp in enumerate(got))


def test_skips_keep_their_place() -> None:
    tx, rx = channel(500)
    sender, receiver = Sender(tx), Receiver(rx)
    for i in range(100):
        if i % 3 == 0:
            sender.skip()
        else:
            sender.add([i])
    sender.signal("end")
    got: list[Any] = []
    while not isinstance(chunk := receiver.take(PATIENCE), Signal):
        got.extend(chunk.tasks())
    assert got == [None if i % 3 == 0 else [i] for i in range(100)]


def test_sender_does_not_run_ahead_of_its_capacity() -> None:
    made = []

    def source() -> Any:
        for i in range(50):
            made.append(i)
            yield [np.zeros(1 << 16)]
    pair = Pair(source(), capacity=3)
    for n, chunk in enumerate(pair.chunks(), 1):
        assert len(made) <= n * chunk.n + 3 + 1


NO_MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
import numpy as np
from tfqueue_compat.dataflow import MultiProcessRunnerZMQ, MultiProcessMapData, DataFromList
data = [[np.full((100, 100), i, 'float32'), i, 'a' * i] for i in range(40)]
for _ in range(2):
    df = MultiProcessRunnerZMQ(DataFromList(data, shuffle=False), 1)
    got = list(df)
    assert [dp[1] for dp in got] == list(range(40)), got
    assert all((dp[0] == dp[1]).all() and len(dp[2]) == dp[1] for dp in got)
def double(dp):
    return [dp[0] * 2, dp[1]]
df = MultiProcessMapData(DataFromList(data, shuffle=False), 2, double, strict=True)
assert sorted(int(dp[0][0, 0]) for dp in df) == list(range(0, 80, 2))
import multiprocessing
gate = multiprocessing.get_context('fork').Pipe()
class Slow:
    def __iter__(self):
        for i in range(20):
            yield [i]
            if i >= 10:  # goes on only when the consumer has it
                assert gate[0].poll(30) and gate[0].recv() == i
df = iter(MultiProcessRunnerZMQ(Slow(), 1))
for i in range(20):
    assert next(df) == [i]
    if i >= 10:
        gate[1].send(i)
print('fine', flush=True)
"""


def test_without_shared_memory_it_goes_through_pipes_and_says_so_once() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout.strip().endswith("fine"), done.stderr
    assert (done.stdout + done.stderr).count("through pipes") == 1


def test_objects_with_and_without_buffers_where_room_is_scarce() -> None:
    big = np.zeros(1 << 15)  # 256 KiB, where 1 MiB is allowed
    sent = [[{i}, big + i] if i % 5 in (2, 3) else [{i}] for i in range(200)]
    got = Pair(iter(sent), share=1 << 30).all()  # keeps all of them
    assert len(got) == 200 and all(map(same, got, sent))
