# SPDX-License-Identifier: Apache-2.0
"""What goes in comes out: kinds of components, casts, arrays that the dataflow fills again."""

from __future__ import annotations

import collections
import threading
import time

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import BatchData, DataFlow, DataFromList, MapDataComponent
from tfqueue_compat.engine.errors import SignatureMismatch
from tfqueue_compat.input_source import BatchQueueInput, QueueInput
from tfqueue_compat.utils.errors import NotSupported

v1 = tf.compat.v1


def eagerly(points, **kwargs):
    return [tf.nest.map_structure(lambda x: x.numpy(), element)
            for element in QueueInput(points, **kwargs)]


def in_session(points, n):
    with tf.Graph().as_default(), v1.Session() as sess:
        tensors = QueueInput(points).dequeue()
        return [sess.run(tensors) for _ in range(n)]


Pair = collections.namedtuple("Pair", ["left", "right"])
KINDS = {
    "int": ([3], np.int32(3)), "big int": ([3 << 40], np.int64(3 << 40)),
    "float": ([0.5], np.float32(0.5)), "bool": ([True], np.bool_(True)),
    "complex": ([np.complex64(1 + 2j)], np.complex64(1 + 2j)),
    "0-d": ([np.array(7, "uint8")], np.uint8(7)),
    "uint16": ([np.array([65535], "uint16")], np.array([65535], "uint16")),
    "float64": ([np.array([0.1])], np.array([0.1])),
    "float16": ([np.array([0.5, 65504], "float16")], np.array([0.5, 65504], "float16")),
    "bfloat16": ([np.array([1.5, -3], ml_dtypes.bfloat16)], np.array([1.5, -3],
                                                                     ml_dtypes.bfloat16)),
    "str": (["héllo"], "héllo".encode()), "bytes": ([b"\x00\xff\x00"], b"\x00\xff\x00"),
    "empty str": ([""], b""),
    "strings": ([np.array([["a", "bc"], ["", "é"]])],
                np.array([[b"a", b"bc"], [b"", "é".encode()]], object)),
    "list of ints": ([[1, 2, 3]], np.array([1, 2, 3], "int32")),
    "list of arrays": ([[np.ones(3, "float64"), np.zeros(3)]], np.array([[1.0] * 3, [0.0] * 3])),
    "list of strings": ([["x", "yz"]], np.array([b"x", b"yz"], object)),
    "empty batch": ([np.zeros((0, 5), "float32")], np.zeros((0, 5), "float32")),
    "not contiguous": ([np.arange(12, dtype="int64").reshape(3, 4).T[::2]],
                       np.arange(12).reshape(3, 4).T[::2]),
    "big endian": ([np.array([1, 2], ">i4")], np.array([1, 2], "int32")),
    "read-only": ([np.broadcast_to(np.float32(2), (3, 2))], np.full((3, 2), 2, "float32")),
    "tensor": ([tf.constant([1.0, 2.0])], np.array([1, 2], "float32")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    point, want = KINDS[kind]
    for out in (eagerly([point] * 3), in_session([point] * 3, 3)):
        assert len(out) == 3
        for got, in out:
            assert np.asarray(got).dtype == np.asarray(want).dtype or isinstance(got, bytes)
            assert np.shape(got) == np.shape(want)
            np.testing.assert_array_equal(got, want)


def test_nesting():
    points = [{"image": np.full((2, 2), i, "float32"), "about": (i, {"name": f"n{i}"}),
               "pair": Pair(i * 2, [i, i])} for i in range(4)]
    out = eagerly(points)
    for i, got in enumerate(out):
        assert list(sorted(got)) == ["about", "image", "pair"]
        assert got["image"].tolist() == [[i, i], [i, i]]
        assert got["about"] == (i, {"name": f"n{i}".encode()})
        assert isinstance(got["pair"], Pair) and got["pair"].left == 2 * i
        assert got["pair"].right.tolist() == [i, i]
    assert [p["about"][1]["name"] for p in in_session(points, 4)] == [b"n0", b"n1", b"n2", b"n3"]


def test_dict_by_the_names_of_the_signature(specs):
    points = [{"label": np.full(4, i, "int32"), "image": np.full((4, 3), i, "float32"),
               "unused": 1} for i in range(3)]
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(points)
        queue.setup(specs)
        tensors = queue.get_input_tensors()
        for i in range(3):
            image, label = sess.run(tensors)
            assert image.tolist() == [[i] * 3] * 4 and label.tolist() == [i] * 4


def test_use_list():
    """BatchData(use_list=True) gives lists, as old scripts have it."""
    points = [[np.full((2, 2), i, "float32"), i] for i in range(6)]
    df = BatchData(DataFromList(points, shuffle=False), 3, use_list=True)
    df = MapDataComponent(df, lambda images: [x * 2 for x in images])
    out = eagerly(df)
    assert [image.shape for image, _ in out] == [(3, 2, 2)] * 2
    assert [image[:, 0, 0].tolist() for image, _ in out] == [[0, 2, 4], [6, 8, 10]]
    assert [label.tolist() for _, label in out] == [[0, 1, 2], [3, 4, 5]]


def test_last_batch_of_another_size(numbers):
    points = [[np.float32(i), i] for i in range(10)]
    df = BatchData(DataFromList(points, shuffle=False), 4, remainder=True)
    assert [x.tolist() for x, _ in eagerly(df)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("drawn", [1, 2])
def test_shapes_that_vary_within_the_signature(drawn):
    rng = np.random.default_rng(drawn)
    points = [[np.arange(n, dtype="int64"), np.full((n, 2), n, "float32")]
              for n in rng.integers(0, 6, 200)]
    signature = (tf.TensorSpec([None], tf.int64), tf.TensorSpec([None, 2], tf.float32))
    out = eagerly(points, signature=signature)
    assert len(out) == 200
    for got, want in zip(out, points):
        np.testing.assert_array_equal(got[0], want[0])
        np.testing.assert_array_equal(got[1], want[1])


def test_unknown_rank():
    points = [[np.zeros((2,) * n, "float32")] for n in (0, 1, 2, 3, 1)]
    out = eagerly(points, signature=(tf.TensorSpec(None, tf.float32),))
    assert [x.shape for x, in out] == [(), (2,), (2, 2), (2, 2, 2), (2,)]


SAFE = [(np.int64(5), tf.int32, 5), (np.array([1, 255]), tf.uint8, [1, 255]),
        (True, tf.int32, 1), (3, tf.float32, 3.0), (np.float64(0.5), tf.float32, 0.5),
        (np.float32(1.5), tf.bfloat16, 1.5), (np.float16(2), tf.float64, 2.0),
        (np.uint8(200), tf.int16, 200), (1, tf.complex64, 1), ([0.5, 1.5], tf.float64, [0.5, 1.5])]
UNSAFE = [(np.int64(1 << 40), tf.int32), (np.array([1, 256]), tf.uint8), (-1, tf.uint8),
          (0.5, tf.int32), (np.float32(2.5), tf.int64), (2, tf.bool), (0.5, tf.bool),
          (np.complex64(1j), tf.float32), ("3", tf.int32), (3, tf.string), (1.5, tf.string),
          (300, tf.uint8)]


@pytest.mark.parametrize("value, dtype, want", SAFE)
def test_safe_casts(value, dtype, want):
    for (got,), in zip(eagerly([[value]] * 2, signature=(tf.TensorSpec(np.shape(value), dtype),))):
        assert got.dtype == dtype.as_numpy_dtype
        np.testing.assert_array_equal(got, np.asarray(want).astype(dtype.as_numpy_dtype))


@pytest.mark.parametrize("value, dtype", UNSAFE)
def test_unsafe_casts(value, dtype):
    spec = (tf.TensorSpec(np.shape(value), dtype),)
    good = {tf.string: "x", tf.bool: True}.get(dtype, 1 if not np.shape(value) else [1, 1])
    for points in ([[value]], [[good]] * 3 + [[value]]):  # at first, and into a chunk
        with pytest.raises(SignatureMismatch, match=f"dtype {dtype.name}"):
            eagerly(points, signature=spec)


@pytest.mark.parametrize("value", [1 << 70, [1, 1 << 70]])
def test_integers_that_no_tensor_holds(value):
    with pytest.raises(SignatureMismatch, match="64 bits"):
        eagerly([[value]])


# ---- a dataflow that fills its own buffer again

def aligned(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, "uint8")
    start = -raw.ctypes.data % 64
    return raw[start:start + size].view(dtype).reshape(shape)


class Refills(DataFlow):
    """Always the same array object, written over at each datapoint; or a view of it."""

    def __init__(self, shape, is_aligned, how, n):
        self.buffer = aligned(shape, "float32") if is_aligned else np.zeros(shape, "float32")
        self.how, self.n = how, n

    def __iter__(self):
        for i in range(self.n):
            self.buffer[...] = i
            yield {"list": lambda: [self.buffer, i], "tuple": lambda: (self.buffer, i),
                   "dict": lambda: {"a": self.buffer, "b": i},
                   "view": lambda: [self.buffer[:], i],
                   "nested": lambda: ((self.buffer,), i)}[self.how]()
        self.buffer[...] = -1

    def __len__(self):
        return self.n


@pytest.mark.parametrize("how", ["list", "tuple", "dict", "view", "nested"])
@pytest.mark.parametrize("is_aligned", [True, False])
@pytest.mark.parametrize("shape, n", [((1,), 3000), ((28, 28), 400), ((600, 512), 40)])
def test_refilled_buffers(shape, n, is_aligned, how):
    kept = [tf.nest.flatten(e) for e in QueueInput(Refills(shape, is_aligned, how, n))]
    assert len(kept) == n
    for i, (array, number) in enumerate(kept):  # all of them alive at once
        assert int(number) == i
        assert tf.reduce_min(array) == i == tf.reduce_max(array), f"datapoint {i}"


def test_refilled_buffers_in_a_session():
    with tf.Graph().as_default(), v1.Session() as sess:
        array, number = QueueInput(Refills((600, 512), True, "list", 30)).dequeue()
        ends = [tf.reduce_min(array), tf.reduce_max(array), number]
        for i in range(90):
            assert sess.run(ends) == [i % 30] * 3


def test_one_array_again_and_again_kept_by_the_dataflow():
    """The dataflow keeps a fresh array and changes it after it was handed out."""
    def flow():
        before = None
        for i in range(60):
            if before is not None:
                before[...] = -1
            before = np.full((600, 512), i, "float32")
            yield [before]
    kept = [x for x, in QueueInput(flow)]
    assert [float(tf.reduce_min(x)) for x in kept] == list(range(60))


def test_fresh_large_arrays():
    def flow():
        for i in range(80):
            yield [np.full((600, 512), i, "float32"), np.full((3,), i, "int64")]
    kept = list(QueueInput(flow))
    assert [(float(tf.reduce_min(x)), float(tf.reduce_max(x)), int(y[2]))
            for x, y in kept] == [(i, i, i) for i in range(80)]


def test_batches_of_refilled_buffers():
    batches = [b for b, _ in QueueInput(Refills((28, 28), True, "list", 640)).batch(64)]
    for k, batch in enumerate(batches):
        assert batch.shape == (64, 28, 28)
        assert batch[:, 0, 0].numpy().tolist() == list(range(64 * k, 64 * k + 64))
        assert batch[:, 27, 27].numpy().tolist() == list(range(64 * k, 64 * k + 64))


# ---- order and number over many chunks

@pytest.mark.parametrize("size", [1, 3, 50, 1000])
def test_many_datapoints_once_and_in_order(size):
    n = 9_000
    queue = QueueInput(lambda: ([i, np.float32(i)] for i in range(n)), size=size)
    got = np.array([x for x, _ in queue.as_numpy_iterator()])
    np.testing.assert_array_equal(got, np.arange(n))


@pytest.mark.parametrize("batch", [1, 7, 128, 5000])
def test_many_datapoints_in_batches(batch):
    n = 9_003
    queue = QueueInput(lambda: ([i] for i in range(n)), size=1000)
    batches = [x for x, in queue.batch(batch).as_numpy_iterator()]
    assert [len(b) for b in batches] == [batch] * (n // batch) + ([n % batch] if n % batch else [])
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(n))


# ---- meter

def test_meter_counts(numbers):
    queue = QueueInput(numbers(30), size=1000)
    meter = queue.meter
    assert (meter.capacity, meter.produced, meter.consumed, meter.occupancy) == (1000, 0, 0, 0)
    iterator = iter(queue)
    for n in range(1, 11):
        next(iterator)
        assert n <= meter.consumed <= meter.produced <= 30
        assert meter.occupancy == meter.produced - meter.consumed
    rest = len(list(iterator))
    assert rest == 20
    assert (meter.produced, meter.consumed, meter.occupancy) == (30, 30, 0)
    assert queue.queue is meter


def test_meter_never_passes_the_capacity():
    produced = []

    def flow():
        for i in range(200):
            produced.append(i)
            yield [np.full((512, 600), i, "float32")]
    queue = QueueInput(flow, size=4)
    iterator = iter(queue)
    for n in range(1, 150):
        next(iterator)
        # the queue's four, the datapoint in the producer's hand, and two chunks in TensorFlow
        assert len(produced) - n <= 4 + 1 + 3
    end = time.monotonic() + 60
    while queue.meter.occupancy < 4:  # until the queue is full, and the producer waits
        assert time.monotonic() < end
        time.sleep(0.001)
    for _ in range(3):
        next(iterator)
    while not queue.meter.producer_wait:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_meter_says_who_is_slow():
    def slow():
        for i in range(40):
            threading.Event().wait(0.01)
            yield [i]
    queue = QueueInput(slow)
    assert len(list(queue)) == 40
    assert queue.meter.consumer_wait > 0.2 and "data-bound" in queue.meter.verdict()


# ---- a user's own queue

def test_fifo_queue_gives_capacity_and_dtypes():
    with tf.Graph().as_default(), v1.Session() as sess:
        own = v1.FIFOQueue(7, [tf.float32, tf.uint8], shapes=[[2], []])
        queue = QueueInput([[np.array([i, i]), i] for i in range(5)], own)
        x, y = queue.dequeue()
        assert (x.dtype, x.shape, y.dtype) == (tf.float32, [2], tf.uint8)
        assert queue.meter.capacity == 7
        assert [int(sess.run([x, y])[1]) for _ in range(7)] == [0, 1, 2, 3, 4, 0, 1]


def test_dtypes_of_a_queue_without_shapes():
    with tf.Graph().as_default(), v1.Session() as sess:
        own = v1.FIFOQueue(50, [tf.float32, tf.uint8])
        x, y = QueueInput([[1, 2]], queue=own).dequeue()
        assert (x.dtype, y.dtype) == (tf.float32, tf.uint8)
        assert sess.run([x, y]) == [1.0, 2]


def test_queue_and_data_that_disagree():
    with tf.Graph().as_default(), v1.Session() as sess:
        own = v1.FIFOQueue(7, [tf.int32], shapes=[[]])
        with pytest.raises(SignatureMismatch, match="int32"):
            sess.run(QueueInput([[0.5]], own).dequeue())


def test_random_shuffle_queue():
    with tf.Graph().as_default(), v1.Session() as sess:
        own = tf.queue.RandomShuffleQueue(100, 60, [tf.int32], shapes=[[]], seed=3)
        x = QueueInput([[i] for i in range(1000)], queue=own).dequeue()[0]
        got = [int(sess.run(x)) for _ in range(900)]
    assert len(set(got)) == 900 and got != sorted(got)
    # with 60 others left behind in the queue, and at most 100 in it and some in flight
    late = np.array(got) - np.arange(900)
    assert late.max() > 20
    assert np.mean(np.abs(late)) > 20


def test_other_queues_are_refused():
    with tf.Graph().as_default():
        with pytest.raises(NotSupported, match="FIFOQueue"):
            QueueInput([[1]], tf.queue.PriorityQueue(5, [tf.int32], [[]]))


# ---- BatchQueueInput

def test_batch_queue_input():
    points = [[np.full(2, i, "float32"), i] for i in range(10)]
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = BatchQueueInput(points, 4)
        queue.setup([tf.TensorSpec([None, 2], tf.float32, "x"),
                     tf.TensorSpec([None], tf.int32, "y")])
        x, y = queue.get_input_tensors()
        assert x.shape[1] == 2 and queue.size() == 2
        assert queue.meter.capacity == 3000
        got = [sess.run([x, y]) for _ in range(5)]
    assert [b.tolist() for _, b in got] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]
    assert [a[:, 1].tolist() for a, _ in got] == [b.tolist() for _, b in got]


def test_batch_queue_input_eagerly_drops_the_rest():
    queue = BatchQueueInput([[i] for i in range(10)], 4)
    assert [x.numpy().tolist() for x, in queue] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_batch_queue_input_fixed_batch_dimension():
    with tf.Graph().as_default():
        queue = BatchQueueInput([[i] for i in range(10)], 4)
        queue.setup([tf.TensorSpec([4], tf.int32, "y")])
        assert queue.get_input_tensors()[0].shape == [4]
        with pytest.raises(ValueError, match="'y'"):
            BatchQueueInput([[1]], 4).setup([tf.TensorSpec([5], tf.int32, "y")])


def test_batch_queue_input_with_a_queue_of_single_datapoints():
    with tf.Graph().as_default(), v1.Session() as sess:
        own = v1.FIFOQueue(30, [tf.int64], shapes=[[]])
        queue = BatchQueueInput([[i] for i in range(6)], 3, own)
        x = queue.dequeue()[0]
        assert queue.meter.capacity == 30 and x.dtype == tf.int64
        assert sess.run(x).tolist() == [0, 1, 2]
