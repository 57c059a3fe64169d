# SPDX-License-Identifier: Apache-2.0
"""The other input sources: fed, made of tensors, of datasets, staged, remapped, from afar."""

from __future__ import annotations

import importlib
import inspect
import threading

import numpy as np
import pytest
import tensorflow as tf

import tfqueue_compat.input_source as package
from tfqueue_compat.dataflow.remote import send_dataflow_zmq
from tfqueue_compat.engine.errors import SignatureMismatch
from tfqueue_compat.input_source import (BatchQueueInput, DummyConstantInput, FeedInput,
                                         PlaceholderInput, QueueInput, StagingInput,
                                         TensorInput, TFDatasetInput, ZMQInput,
                                         remap_input_source)
from tfqueue_compat.input_source.input_source_base import (build_or_reuse_placeholder,
                                                           get_sublist_by_names,
                                                           get_tensors_inputs)

v1 = tf.compat.v1


@pytest.fixture
def graph():
    """A fresh graph, entered, with the global step that monitored sessions want."""
    with tf.Graph().as_default() as graph:
        v1.train.get_or_create_global_step()
        yield graph


def first(label):
    return int(np.ravel(label)[0])


def test_both_paths_give_the_same_objects():
    old = importlib.import_module("tfqueue_compat.input_source.input_source")
    for name in old.__all__:
        if hasattr(package, name):
            assert getattr(old, name) is getattr(package, name)
    assert set(package.__all__) >= {"QueueInput", "ZMQInput", "remap_input_source"}


@pytest.mark.parametrize("made", [FeedInput([[1]]), PlaceholderInput(), TFDatasetInput([[1]]),
                                  DummyConstantInput([[2]])])
def test_setup_comes_first(made, graph):
    with pytest.raises(RuntimeError, match="setup"):
        made.get_input_tensors()


# ---- placeholders, feeding

def test_placeholder_input(graph, specs):
    source = PlaceholderInput()
    assert source.setup(specs) == [] and source.setup_done()
    image, label = source.get_input_tensors()
    assert (image.op.type, image.op.name, label.op.name) == ("Placeholder", "image", "label")
    assert image.shape.as_list() == [None, 3] and label.dtype == tf.int32
    again = source.get_input_tensors()
    assert again[0] is image and again[1] is label
    with pytest.raises(NotImplementedError):
        source.size()


def test_feed_input(graph, numbers, specs):
    source = FeedInput(numbers(3))
    hooks = source.setup(specs)
    assert source.size() == 3
    with v1.name_scope("tower0"):
        image, label = source.get_input_tensors()
    total = tf.reduce_sum(image)
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        for i in range(7):
            got = sess.run([label, total])
            assert first(got[0]) == i % 3 and got[1] == pytest.approx(numbers.image(i % 3).sum())


def test_feed_input_ends_where_it_may(graph, numbers, specs):
    source = FeedInput(numbers(2), infinite=False)
    source.setup(specs)
    assert [first(source.next_feed()[source.get_input_tensors()[1]]) for _ in range(2)] == [0, 1]
    with pytest.raises(StopIteration):
        source.next_feed()


def test_feed_input_reset(graph, numbers, specs):
    source = FeedInput(numbers(5))
    source.setup(specs)
    label = source.get_input_tensors()[1]
    for _ in range(2):
        source.reset_state()
        assert [first(source.next_feed()[label]) for _ in range(3)] == [0, 1, 2]


def test_feed_input_checks_and_reports(graph, numbers, specs):
    source = FeedInput([[np.zeros((4, 3), "float32"), np.full(4, 0.5)]])
    source.setup(specs)
    with pytest.raises(SignatureMismatch, match="'label'"):
        source.next_feed()
    source = FeedInput(numbers(3, fail_at=1, error=lambda: KeyError("mine")))
    hooks = source.setup(specs)
    label = source.get_input_tensors()[1]
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        assert first(sess.run(label)) == 0
        with pytest.raises(KeyError, match="mine"):
            sess.run(label)
    with pytest.raises(ValueError, match="empty"):
        empty = FeedInput([])
        empty.setup(specs)
        empty.next_feed()


# ---- tensors

def test_tensor_input(graph, specs):
    calls = []

    def make():
        calls.append(1)
        return [tf.ones([2, 3]), tf.constant([len(calls), 0])]
    source = TensorInput(make, size=11)
    source.setup(specs)
    towers = [source.get_input_tensors() for _ in range(2)]
    assert source.size() == 11 and len(calls) == 2
    with v1.Session() as sess:
        assert [first(label) for _, label in sess.run(towers)] == [1, 2]
    with pytest.raises(NotImplementedError):
        TensorInput(make).size()


@pytest.mark.parametrize("make, match", [
    (lambda: [tf.ones([2, 3])], "2 components"),
    (lambda: [tf.ones([2, 3]), tf.ones([2])], "'label'.*int32.*float32"),
    (lambda: [tf.ones([2, 4]), tf.zeros([2], tf.int32)], "'image'")])
def test_tensor_input_is_checked(make, match, graph, specs):
    source = TensorInput(make)
    source.setup(specs)
    with pytest.raises(ValueError, match=match):
        source.get_input_tensors()


def test_dummy_constant_input(graph, specs):
    source = DummyConstantInput([[8, 3], [8]])
    source.setup(specs)
    image, label = source.get_input_tensors()
    assert image.shape == [8, 3] and label.dtype == tf.int32
    with v1.Session() as sess:
        got = sess.run([image, label])
    assert not got[0].any() and not got[1].any()
    wrong = DummyConstantInput([[8, 3]])
    wrong.setup(specs)
    with pytest.raises(ValueError, match="2 shapes"):
        wrong.get_input_tensors()


# ---- tf.data

def test_tf_dataset_input_of_a_dataflow(graph, numbers, specs):
    source = TFDatasetInput(numbers(5))
    hooks = source.setup(specs)
    assert source.size() == 5
    towers = [source.get_input_tensors()[1] for _ in range(2)]
    got = []
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        for _ in range(2):
            got += [first(x) for x in sess.run(towers)]
        got.append(first(sess.run(towers[0])))
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(towers[0])
    assert sorted(got) == [0, 1, 2, 3, 4]


def test_tf_dataset_input_of_an_eager_dataset(specs):
    data = tf.data.Dataset.range(4).map(
        lambda i: (tf.fill([2, 3], tf.cast(i, tf.float32)), tf.fill([2], tf.cast(i, tf.int32))))
    with tf.Graph().as_default(), v1.Session() as sess:
        source = TFDatasetInput(data)
        source.setup(specs)
        assert source.size() == 4
        image, label = source.get_input_tensors()
        with sess.as_default():
            source.reset_state()
        got = [sess.run([image, label]) for _ in range(4)]
    assert [first(y) for _, y in got] == [0, 1, 2, 3]
    assert [x[1, 2] for x, _ in got] == [0, 1, 2, 3]


def test_tf_dataset_input_of_a_dataset_of_the_graph(graph, specs):
    data = tf.data.Dataset.from_tensors((tf.ones([2, 3]), tf.constant([5, 6]))).repeat()
    source = TFDatasetInput(data)
    hooks = source.setup(specs)
    label = source.get_input_tensors()[1]
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        assert [sess.run(label).tolist() for _ in range(3)] == [[5, 6]] * 3


def test_tf_dataset_input_is_checked(graph, specs):
    with pytest.raises(ValueError, match="'label'.*int64"):
        TFDatasetInput(tf.data.Dataset.from_tensors(
            (tf.ones([2, 3]), tf.constant([1], tf.int64)))).setup(specs)
    with pytest.raises(TypeError, match="DataFlow"):
        TFDatasetInput(5)


def test_tf_dataset_input_reports_the_dataflows_error(graph, numbers, specs):
    source = TFDatasetInput(numbers(5, fail_at=2, error=lambda: KeyError("mine")))
    hooks = source.setup(specs)
    label = source.get_input_tensors()[1]
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        assert [first(sess.run(label)) for _ in range(2)] == [0, 1]
        with pytest.raises(KeyError, match="mine"):
            sess.run(label)


def test_dataflow_to_dataset(numbers):
    data = TFDatasetInput.dataflow_to_dataset(numbers(5), [tf.float32, tf.int64])
    assert isinstance(data, tf.data.Dataset) and int(data.cardinality()) == 5
    got = list(data)
    assert [first(label) for _, label in got] == [0, 1, 2, 3, 4]
    assert (got[0][0].dtype, got[0][1].dtype) == (tf.float32, tf.int64)
    assert len(list(data)) == 5
    with pytest.raises(SignatureMismatch, match="types"):
        list(TFDatasetInput.dataflow_to_dataset(numbers(5), [tf.float32]))


# ---- staging

def test_staging_input_keeps_the_order(graph, numbers, specs):
    source = StagingInput(QueueInput(numbers(1000)), nr_stage=3)
    hooks = source.setup(specs)
    tensors = source.get_input_tensors()
    assert tensors[0].shape.as_list() == [None, 3]
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        got = [sess.run(tensors) for _ in range(20)]
    assert [first(label) for _, label in got] == list(range(20))
    for i, (image, _) in enumerate(got):
        np.testing.assert_array_equal(image, numbers.image(i))
    assert source.size() == 1000


def test_staging_input_of_two_towers(graph, numbers, specs):
    source = StagingInput(QueueInput(numbers(1000)), device="/cpu:0")
    hooks = source.setup(specs)
    towers = [source.get_input_tensors() for _ in range(2)]
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        got = [sess.run(towers) for _ in range(10)]
    assert sorted(first(label) for pair in got for _, label in pair) == list(range(20))
    for pair in got:
        for image, label in pair:
            np.testing.assert_array_equal(image, numbers.image(first(label)))


def test_staging_input_reports_the_dataflows_error(graph, numbers, specs):
    source = StagingInput(QueueInput(numbers(9, fail_at=3, error=lambda: KeyError("mine"))))
    hooks = source.setup(specs)
    label = source.get_input_tensors()[1]
    seen = []
    with pytest.raises(KeyError, match="mine"):
        with v1.train.MonitoredSession(hooks=hooks) as sess:
            while True:
                seen.append(first(sess.run(label)))
    assert seen == list(range(len(seen))) and len(seen) >= 2


@pytest.mark.parametrize("stages", [1, 3])
def test_staging_input_is_ahead(stages, graph):
    made = []

    def make():
        return np.int32(made.append(len(made)) or made[-1])
    tensor = TensorInput(lambda: [tf.ensure_shape(tf.numpy_function(make, [], tf.int32), [])])
    source = StagingInput(tensor, nr_stage=stages)
    hooks = source.setup([tf.TensorSpec([], tf.int32, "x")])
    x, = source.get_input_tensors()
    with v1.train.MonitoredSession(hooks=hooks) as sess:
        assert len(made) == stages
        for i in range(5):
            assert sess.run(x) == i and len(made) == stages + i + 1


@pytest.mark.parametrize("stage", [0, -1, 1.5])
def test_staging_input_arguments(stage, numbers):
    with pytest.raises(ValueError, match="nr_stage"):
        StagingInput(QueueInput(numbers(3)), nr_stage=stage)
    with pytest.raises(TypeError, match="InputSource"):
        StagingInput(numbers(3))


# ---- names

def test_remap_input_source(graph, numbers, specs):
    swapped = [[label, image] for image, label in numbers(4)]
    source = remap_input_source(QueueInput(swapped), ["label", "image"])
    extra = tf.TensorSpec([], tf.bool, "training")
    source.setup([specs[0], extra, specs[1]])
    image, training, label = source.get_input_tensors()
    assert training.op.type == "Placeholder" and training.op.name == "training"
    assert source.size() == 4 and isinstance(source, package.InputSource)
    with v1.Session() as sess:
        for i in range(4):
            got = sess.run([image, label, training], {training: True})
            np.testing.assert_array_equal(got[0], numbers.image(i))
            assert first(got[1]) == i and got[2]


def test_remap_input_source_names_what_is_missing(graph, numbers, specs):
    with pytest.raises(ValueError, match="'lable'.*Did you mean 'label'"):
        remap_input_source(QueueInput(numbers(4)), ["image", "lable"]).setup(specs)


def test_helpers_on_names(graph, specs):
    image, label = specs
    assert get_sublist_by_names(specs, ["label", "image"]) == [label, image]
    a, b = build_or_reuse_placeholder(image), build_or_reuse_placeholder(label)
    assert build_or_reuse_placeholder(image) is a
    other = tf.zeros([2], tf.int32)
    out = get_tensors_inputs([a, b], [other], ["label"])
    assert out[0] is a and out[1] is other
    with pytest.raises(ValueError):
        get_tensors_inputs([a, b], [other], ["label", "image"])
    tf.zeros([1], name="taken")
    with pytest.raises(ValueError, match="taken"):
        build_or_reuse_placeholder(tf.TensorSpec([1], tf.float32, "taken"))


# ---- from another process

SENDER = """
import sys
import numpy as np
from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.dataflow.remote import send_dataflow_zmq
points = [[np.full((4, 3), i, "float32"), np.full(4, i, "int32")] for i in range(6)]
send_dataflow_zmq(DataFromList(points, shuffle=False), sys.argv[1], hwm=10)
"""


def test_zmq_input_from_another_process(graph, python, specs, tmp_path):
    pytest.importorskip("zmq")
    address = f"ipc://{tmp_path}/data"
    source = ZMQInput(address, 10)
    source.setup(specs)
    image, label = source.get_input_tensors()
    sender = python(SENDER, address)
    with v1.Session() as sess:
        for i in range(20):
            got = sess.run([image, label], options=v1.RunOptions(timeout_in_ms=120_000))
            assert got[0].tolist() == [[i % 6] * 3] * 4 and got[1].tolist() == [i % 6] * 4
    assert sender.poll() is None
    assert source.meter.capacity == 10


def test_zmq_input_as_a_dataset_over_tcp(specs):
    zmq = pytest.importorskip("zmq")
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        socket.unbind(f"tcp://127.0.0.1:{port}")
    address = f"tcp://127.0.0.1:{port}"
    done = threading.Event()

    def points():
        for i in range(30):
            yield [np.full((4, 3), i, "float32"), np.full(4, i, "int32")]
        done.wait(60)

    sender = threading.Thread(target=send_dataflow_zmq, args=(points, address), daemon=True,
                              kwargs={"bind": True})
    sender.start()
    data = ZMQInput(address, 10, bind=False).to_dataset(specs)
    assert data.element_spec[0].shape.as_list() == [None, 3]
    got = [first(label) for _, label in data.take(30)]
    assert got == list(range(30))


# ---- the contract

def test_defaults_and_order_of_arguments():
    """As scripts call them: positions and names are the contract."""
    def names(cls):
        return list(inspect.signature(cls).parameters)
    assert names(QueueInput)[:2] == ["ds", "queue"]
    assert names(BatchQueueInput)[:3] == ["ds", "batch_size", "queue"]
    assert names(FeedInput) == ["ds", "infinite"]
    assert names(StagingInput) == ["input", "nr_stage", "device"]
    assert names(ZMQInput)[:3] == ["end_point", "hwm", "bind"]
    assert names(TensorInput) == ["get_tensor_fn", "size"]


def test_size_as_old_tutorials_write_it(numbers):
    assert QueueInput(numbers(3), size=1000).meter.capacity == 1000
    assert QueueInput(numbers(3)).meter.capacity == 50
