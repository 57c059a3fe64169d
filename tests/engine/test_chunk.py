# SPDX-License-Identifier: Apache-2.0
"""A block holds what was put in; the cadence starts at one and at most doubles."""

from __future__ import annotations

import random
import threading
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.engine import Signature, SignatureMismatch, chunk
from tfqueue_compat.engine.buffers import BufferPool, is_aligned
from tfqueue_compat.engine.chunk import Block, Cadence, empty, shapes_of


def block_for(datapoint: Any, rows: int) -> tuple[Block, Signature]:
    signature = Signature.infer(datapoint)
    _, shapes, _ = shapes_of(signature.components, signature.flatten(datapoint))
    return Block(signature.components, shapes, rows, BufferPool()), signature


@given(st.integers(0, 2 ** 32), st.integers(1, 40), st.sampled_from([0, 1, 2, 3, 5]))
def test_rows_come_out_once_in_order_however_they_are_taken(
        seed: int, rows: int, group: int) -> None:
    rng = random.Random(seed)
    rows *= max(group, 1)
    block, _ = block_for([0, np.zeros(3, "int16"), "a"], rows)
    out: list[list[Any]] = [[], [], []]
    taken = 0
    while taken < rows:
        if block.filled < rows and rng.random() < 0.7:
            i = block.filled
            assert block.add([i, np.full(3, i, "int16"), f"s{i}"])
        left = (block.filled - taken) // max(group, 1) * max(group, 1)
        if left:
            count = rng.randint(1, left // max(group, 1)) * max(group, 1)
            for so_far, column in zip(out, block.take(count, group)):
                if group:
                    assert column.shape[:2] == (count // group, group)
                    column = column.reshape((-1,) + column.shape[2:])
                so_far.extend(column.tolist())
            taken += count
    assert out[0] == list(range(rows))
    assert out[1] == [[i] * 3 for i in range(rows)]
    assert out[2] == [f"s{i}" for i in range(rows)]


def test_a_last_smaller_group() -> None:
    block, _ = block_for([np.zeros(2)], 8)
    for i in range(3):
        block.add([np.full(2, float(i))])
    assert block.take(3, 4)[0].tolist() == [[[0, 0], [1, 1], [2, 2]]]


def test_groups_of_datapoints_without_elements() -> None:
    block, _ = block_for([np.zeros((0, 3), "float32"), 1], 4)
    for i in range(4):
        assert block.add([np.zeros((0, 3), "float32"), i])
    a, b = block.take(4, 2)
    assert a.shape == (2, 2, 0, 3) and b.tolist() == [[0, 1], [2, 3]]


VALUES: list[tuple[str, Any, Any]] = [
    ("int32", 7, 7), ("int32", np.int32(7), 7), ("int32", np.int64(7), 7), ("int32", True, 1),
    ("int32", np.array(7), 7), ("int8", -128, -128), ("uint64", 2 ** 64 - 1, 2 ** 64 - 1),
    ("float32", 1, 1.0), ("float32", np.float64(0.5), 0.5), ("float16", 0.5, 0.5),
    ("bool", np.True_, True), ("bool", True, True), ("complex64", 1.5, 1.5 + 0j),
    ("bfloat16", 0.5, 0.5), ("float64", 2 ** 53, 2.0 ** 53),
]


@pytest.mark.parametrize("dtype, value, expected", [
    *VALUES, ("int32", 1.0, 1), ("int32", np.float32(1), 1), ("bool", 1, True)])
def test_scalars(dtype: str, value: Any, expected: Any) -> None:
    signature = Signature.from_specs([tf.TensorSpec((), dtype)])
    block = Block(signature.components, [()], 1, BufferPool())
    assert block.add([value])
    out = block.take(1, 0)[0]
    assert out.dtype == signature.components[0].dtype and out.tolist() == [expected]


@pytest.mark.parametrize("dtype, value", [
    ("int8", 128), ("int8", -129), ("uint8", -1), ("uint8", 256), ("int32", 2 ** 31),
    ("int64", 2 ** 63), ("uint64", 2 ** 64), ("int32", 1.5), ("int32", np.float32(1.5)),
    ("bool", 2), ("float32", 10 ** 400), ("float32", 1j), ("int32", "7"), ("float32", None),
    ("int32", np.array(2 ** 40)),
])
def test_scalars_that_do_not_fit_are_refused_and_nothing_is_written(
        dtype: str, value: Any) -> None:
    signature = Signature.from_specs([tf.TensorSpec((), dtype)])
    block = Block(signature.components, [()], 2, BufferPool())
    with pytest.raises(SignatureMismatch):
        block.add([value])
    assert block.filled == 0


def test_another_shape_is_left_to_another_block() -> None:
    signature = Signature.from_specs([tf.TensorSpec((None,), "int32")])
    block = Block(signature.components, [(2,)], 4, BufferPool())
    assert block.add([[1, 2]]) and not block.add([[1, 2, 3]]) and block.add([[3, 4]])
    assert block.take(2, 0)[0].tolist() == [[1, 2], [3, 4]]


def test_the_users_own_buffers_may_change_afterwards() -> None:
    number, text = np.zeros(3), np.array(["a", "b"], object)
    block, _ = block_for([number, text], 3)
    for i in range(3):
        number[:], text[:] = i, str(i)
        block.add([number, text])
    number[:], text[:] = 9, "9"
    numbers, texts = block.take(3, 0)
    assert numbers.tolist() == [[0] * 3, [1] * 3, [2] * 3]
    assert texts.tolist() == [["0"] * 2, ["1"] * 2, ["2"] * 2]


def test_elements_of_an_object_array_are_checked_each_time() -> None:
    block, _ = block_for([np.array(["a"], object)], 3)
    with pytest.raises(SignatureMismatch, match="numbers or strings"):
        block.add([np.array([1], object)])


def test_alone_takes_what_is_ours_and_copies_the_rest() -> None:
    pool = BufferPool()
    signature = Signature.infer([np.zeros(64), np.zeros(64), "a"])
    mine, users = pool.array((64,), np.dtype("float64")), np.zeros(64)
    mine[:] = users[:] = 1
    block = Block.alone(signature.components, [mine, users, np.array("a", object)], pool,
                        [True, False, True])
    a, b, c = block.take(1, 0)
    assert np.shares_memory(a, mine) and not np.shares_memory(b, users) and is_aligned(b)
    assert a.tolist() == b.tolist() == [[1.0] * 64] and c.tolist() == ["a"]


def test_a_producer_and_a_consumer_need_no_lock() -> None:
    rows = 20_000
    block, _ = block_for([0, np.zeros(4, "int64")], rows)

    def produce() -> None:
        for i in range(rows):
            block.add([i, np.full(4, i)])

    thread = threading.Thread(target=produce)
    thread.start()
    seen = 0
    while seen < rows:
        count = block.filled - seen
        if count:
            a, b = block.take(count, 0)
            assert (a == np.arange(seen, seen + count)).all() and (b == a[:, np.newaxis]).all()
            seen += count
    thread.join()


@pytest.mark.parametrize("group, lead", [(0, (0,)), (5, (0, 5))])
def test_an_empty_chunk(group: int, lead: tuple[int, ...]) -> None:
    signature = Signature.from_specs([
        tf.TensorSpec((3,), "float32"), tf.TensorSpec((None, 2), "int8"),
        tf.TensorSpec((), tf.string), tf.TensorSpec(None, "bool")])
    arrays = empty(signature.components, group)
    assert [a.shape for a in arrays] == [lead + (3,), lead + (0, 2), lead, lead]
    assert [a.dtype for a in arrays] == [c.dtype for c in signature.components]


# ---- the cadence

@settings(max_examples=200)
@given(st.integers(0, 5000), st.integers(0, 1 << 24),
       st.lists(st.tuples(st.integers(1, 3000), st.booleans()), max_size=40))
def test_the_cadence_starts_at_one_and_at_most_doubles(
        group: int, nbytes: int, steps: list[tuple[int, bool]]) -> None:
    cadence, unit = Cadence(group), max(group, 1)
    assert cadence.elements == 1 and cadence.rows == unit
    cadence.sized(nbytes)
    for count, _ in steps:
        before = cadence.elements
        cadence.answered(min(count, before) * unit)
        cadence.asked()
        assert 1 <= cadence.elements <= 2 * before
        assert cadence.rows % unit == 0 and cadence.block_rows(count) % unit == 0
        assert cadence.rows <= cadence.block_rows(count)
        # one element, or no more than four megabytes and 2048 datapoints
        assert cadence.elements == 1 or (
            cadence.rows <= 2048 and cadence.rows * nbytes <= 4 << 20)


def test_chunks_that_last_long_become_small(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(chunk.time, "perf_counter", lambda: now[0])
    cadence, sizes = Cadence(0), []
    cadence.sized(8)
    for seconds in [0.0] * 12 + [60.0] * 12:
        cadence.answered(cadence.rows)
        now[0] += seconds
        cadence.asked()
        sizes.append(cadence.elements)
    assert max(sizes) == sizes[11] == 2048 and sizes[-1] == 1
