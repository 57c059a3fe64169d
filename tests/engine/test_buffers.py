# SPDX-License-Identifier: Apache-2.0
"""Memory is lent once at a time, and who else holds an array is known."""

from __future__ import annotations

import copy
import gc
import random
import threading
import weakref
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.engine.buffers import (ALIGNMENT, BufferPool, is_aligned, sole_owner)


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "int64", "complex128",
                                   tf.bfloat16.as_numpy_dtype])
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0,), (4, 0), (700, 700), (1 << 21,)])
def test_arrays_are_aligned_and_all_their_own(dtype: Any, shape: tuple[int, ...]) -> None:
    array = BufferPool().array(shape, np.dtype(dtype))
    assert (array.shape, array.dtype) == (shape, np.dtype(dtype))
    assert array.ctypes.data % ALIGNMENT == 0 and is_aligned(array) and array.flags.writeable
    array[...] = 1
    assert array.all()


VIEWS = {
    "itself": lambda a: a,
    "a slice": lambda a: a[3:5],
    "a slice of a slice": lambda a: a[1:].reshape(-1)[::2][1:],
    "one element as an array": lambda a: a[2, 3, ...],
    "another dtype": lambda a: a.view(np.uint8),
    "its transposition": lambda a: a.T,
    "a memoryview": memoryview,
    "a memoryview's array": lambda a: np.asarray(memoryview(a))[1:],
    "from DLPack": np.from_dlpack,
    "an iterator": iter,
    "a subclass": lambda a: a.view(np.recarray),
    "a tensor that aliases it": lambda a: aliasing([a]),
}


def aliasing(box: list[np.ndarray]) -> tf.Tensor:
    start = address(box[0])
    tensor = tf.function(lambda: tf.numpy_function(box.pop, [], tf.float32))()
    assert address(np.asarray(memoryview(tensor))) == start
    return tensor


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS.keys())
def test_a_buffer_is_not_lent_again_while_a_view_lives(make: Any) -> None:
    pool = BufferPool()
    array = pool.array((8, 64), np.dtype("float32"))
    array[...] = 7
    start = address(array)
    view = make(array)
    del array
    others = [pool.array((8, 64), np.dtype("float32")) for _ in range(4)]
    for other in others:
        other[...] = 1
    assert start not in [address(o) for o in others]
    if hasattr(view, "tolist") or isinstance(view, tf.Tensor):
        data = np.asarray(view)
        assert set(np.unique(data)) == set(np.unique(np.full(2, 7, "float32").view(data.dtype)))
    del view, others
    gc.collect()


def test_a_buffer_is_lent_again_when_its_last_view_is_gone() -> None:
    pool = BufferPool()
    array = pool.array((8, 64), np.dtype("float32"))
    start, view = address(array), array[2:]
    del array
    assert address(pool.array((8, 64), np.dtype("float32"))) != start
    del view
    again = pool.array((512,), np.dtype("int32"))  # of as many bytes
    held = pool.array((512,), np.dtype("int32"))
    assert start in (address(again), address(held))


def test_arrays_outlive_their_pool() -> None:
    pool = BufferPool()
    array = pool.array((1 << 19,), np.dtype("float32"))
    array[...] = 3
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None and (array == 3).all()


def test_free_memory_is_bounded_however_many_sizes_there_were() -> None:
    pool = BufferPool(most_bytes=8 << 20)
    for i in range(200):
        pool.array(((1 << 20) + 4096 * i,), np.dtype("uint8"))
    assert 0 < pool.free_bytes <= 8 << 20


def test_a_smaller_array_may_use_a_larger_buffer_of_its_class() -> None:
    pool = BufferPool()
    starts = {address(pool.array((n,), np.dtype("uint8")))
              for n in range(1_600_000, 1_800_000, 1000)}
    assert len(starts) < 10


def test_random_lives_of_many_views_in_many_threads() -> None:
    pool = BufferPool(keep=4)
    lock, wrong = threading.Lock(), []
    made: list[tuple[np.ndarray, int]] = []

    def maker() -> None:
        rng = random.Random(1)
        for i in range(3000):
            array = pool.array((rng.choice([16, 16, 40]), 8), np.dtype("int64"))
            array[...] = i
            view = array[rng.randrange(8):]
            with lock:
                made.append((view, i))

    def dropper(seed: int) -> None:
        rng = random.Random(seed)
        while not done.is_set() or made:
            with lock:
                if not made:
                    continue
                view, i = made.pop(rng.randrange(len(made)) if len(made) > 20 else 0)
            if not (view == i).all():
                wrong.append(i)
            del view

    done = threading.Event()
    threads = [threading.Thread(target=dropper, args=(s,)) for s in (2, 3)]
    for t in threads:
        t.start()
    maker()
    done.set()
    for t in threads:
        t.join()
    assert wrong == []


# ---- who else holds an array

def owners(datapoint_maker: Any) -> list[bool]:
    box = [datapoint_maker()]
    return sole_owner(box)


KEPT: list[Any] = []


def keep(value: Any) -> Any:
    KEPT.append(value)
    return value


def new() -> np.ndarray:
    return np.zeros(4)


CASES: dict[str, tuple[Any, list[bool]]] = {
    "a list of new arrays": (lambda: [new(), new()], [True, True]),
    "a tuple": (lambda: (new(), new()), [True, True]),
    "many": (lambda: [new() for _ in range(50)], [True] * 50),
    "a new view of a new array": (lambda: [new()[1:]], [True]),
    "a reshaped one": (lambda: [np.arange(6).reshape(2, 3)], [True]),
    "an array kept elsewhere": (lambda: [keep(new()), new()], [False, True]),
    "a view of one kept elsewhere": (lambda: [keep(new())[1:], new()], [False, True]),
    "an array with a view elsewhere": (lambda: [keep(new()[1:]).base, new()], [False, True]),
    "a memoryview elsewhere": (lambda: [keep(memoryview(new())).obj], [False]),
    "the same twice": (lambda: [KEPT[0]] * 2, [False, False]),
    "a fresh one twice": (lambda: (lambda a: [a, a])(new()), [False, False]),
    "two views of one": (lambda: (lambda a: [a[1:], a[:1]])(new()), [False, False]),
    "the list kept elsewhere": (lambda: keep([new(), new()]), [False, False]),
    "numbers": (lambda: [1, 2.5, "a", new()], [False, False, False, True]),
    "a subclass": (lambda: [new().view(np.recarray)], [False]),
    "memory of another object": (lambda: [np.frombuffer(bytearray(8), np.uint8)], [False]),
    "a view of memory of another object": (
        lambda: [np.frombuffer(bytearray(8), np.uint8)[1:]], [False]),
    "a pool's": (lambda: [BufferPool().array((4,), np.dtype("f4"))], [False]),
    "nested": (lambda: [(new(), new()), new()], [False, True]),
    "a dict": (lambda: {"a": new()}, []),
    "a bare array": (new, []),
    "a subclass of list": (lambda: type("L", (list,), {})([new()]), []),
    "a broadcast": (lambda: [np.broadcast_to(new(), (3, 4))], [True]),
    "a deep copy": (lambda: copy.deepcopy([KEPT[0]]), [True]),
    "empty": (lambda: [], []),
}


@pytest.mark.parametrize("make, expected", CASES.values(), ids=CASES.keys())
def test_sole_owner(make: Any, expected: list[bool]) -> None:
    KEPT[:] = [new()]
    assert owners(make) == expected


def test_a_generator_that_keeps_its_array_in_a_local_is_seen() -> None:
    def keeping() -> Any:
        array = new()
        yield [array]
        yield [array]

    def giving() -> Any:
        yield [new()]
        yield [new()]

    for generator, expected in ((keeping, [False]), (giving, [True])):
        iterator = generator()
        assert owners(lambda: next(iterator)) == expected


@pytest.mark.parametrize("array, aligned", [
    (BufferPool().array((4, 16), np.dtype("float32")), True),
    (BufferPool().array((4, 16), np.dtype("float32"))[1:], True),
    (BufferPool().array((4, 16), np.dtype("float32"))[:, 1:], False),
    (BufferPool().array((4, 16), np.dtype("float32")).T, False),
    (BufferPool().array((64,), np.dtype("float32"))[1:], False),
])
def test_is_aligned(array: np.ndarray, aligned: bool) -> None:
    assert is_aligned(array) is aligned
