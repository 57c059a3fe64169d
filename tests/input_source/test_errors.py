# SPDX-License-Identifier: Apache-2.0
"""A dataflow's exception comes out where its data is used; whoever waits can be woken."""

from __future__ import annotations

import signal
import subprocess
import threading
import traceback

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import BatchData, DataFlow, DataFromList, MapData
from tfqueue_compat.engine.errors import DatasetEnded, SignatureMismatch
from tfqueue_compat.input_source import BatchQueueInput, QueueInput

v1 = tf.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore:.shuffle=True. was passed:UserWarning")
SAFETY = 120  # seconds after which a test that hangs fails


class TwoArguments(Exception):
    """An exception that can't be made from its text."""

    def __init__(self, path, line):
        super().__init__(f"{path}:{line} is broken")
        self.path, self.line = path, line


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def undecodable():
    try:
        b"\xff\xfe".decode("utf-8")
    except UnicodeDecodeError as e:
        return e.with_traceback(None)


ERRORS = {
    "KeyError": lambda: KeyError("no such image"),
    "UnicodeDecodeError": undecodable,
    "TwoArguments": lambda: TwoArguments("train.txt", 7),
    "SystemExit": lambda: SystemExit(3),
    "Unprintable": Unprintable,
}


# ---- ways to consume: each appends the labels that it got

def towers_way(queue, got, specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue.setup(specs)
        towers = [queue.get_input_tensors()[1] for _ in range(1)]
        while True:
            got.append(int(sess.run(towers)[0][0]))


def session_way(queue, got, specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        while True:
            got.append(int(sess.run(queue.dequeue())[1][0]))


def for_way(queue, got, specs):
    for _, label in queue:
        got.append(int(label[0]))


def dequeue_way(queue, got, specs):
    while True:
        got.append(int(queue.dequeue()[1][0]))


def _note(got):
    def note(label):
        got.append(int(label[0]))
        return np.int32(0)
    return lambda label: tf.numpy_function(note, [label], tf.int32)


def function_way(queue, got, specs):
    @tf.function
    def loop():
        for _, label in queue:
            _note(got)(label)
    loop()


def function_dequeue_way(queue, got, specs):
    @tf.function
    def step():
        _note(got)(queue.dequeue()[1])
    while True:
        step()


def mapped_way(queue, got, specs):
    for label in queue.map(lambda image, label: label + 0).prefetch(2):
        got.append(int(label[0]))


WAYS = [towers_way, session_way, for_way, dequeue_way, function_way,
        function_dequeue_way, mapped_way]


def frames(error):
    return [f.name for f in traceback.extract_tb(error.__traceback__)]


def check(error, made):
    """It is the very object that the dataflow raised, and its traceback leads there."""
    assert error is made[0]
    assert "users_own_code" in frames(error)


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("way", WAYS)
def test_every_way(way, name, numbers, specs):
    made, got = [], []

    def make():
        made.append(ERRORS[name]())
        return made[-1]
    queue = QueueInput(numbers(20, fail_at=7, error=make))
    with pytest.raises(BaseException) as raised:
        way(queue, got, specs)
    check(raised.value, made)
    assert got == [0, 1, 2, 3, 4, 5, 6]
    assert len(made) == 1


@pytest.mark.parametrize("way", WAYS)
def test_at_the_very_first_datapoint(way, numbers, specs):
    made, got = [], []

    def make():
        made.append(TwoArguments("a", 1))
        return made[-1]
    with pytest.raises(TwoArguments) as raised:
        way(QueueInput(numbers(20, fail_at=0, error=make)), got, specs)
    assert "users_own_code" in frames(raised.value) and got == []


@pytest.mark.parametrize("steps", [None, 20])
def test_fit(steps, numbers, model, seen):
    made = []

    def make():
        made.append(TwoArguments("train.txt", 7))
        return made[-1]
    queue = QueueInput(numbers(20, fail_at=7, error=make))
    with pytest.raises(TwoArguments) as raised:
        model.fit(queue, steps_per_epoch=steps, verbose=0, callbacks=[seen])
    check(raised.value, made)
    assert seen.labels == [0, 1, 2, 3, 4, 5, 6]
    assert (raised.value.path, raised.value.line) == ("train.txt", 7)


def test_an_error_keeps_what_it_was_raised_from(numbers, specs):
    class Chained(numbers):
        def users_own_code(self):
            try:
                {}["missing"]
            except KeyError as e:
                raise ValueError("bad config") from e

    class InContext(numbers):
        def users_own_code(self):
            try:
                {}["missing"]
            except KeyError:
                raise ValueError("bad config")  # noqa: B904
    for kind in (Chained, InContext):
        for way in (session_way, for_way):  # tf.function raises whatever it raises "from None"
            with pytest.raises(ValueError, match="bad config") as raised:
                way(QueueInput(kind(9, fail_at=2)), [], specs)
            assert "KeyError: 'missing'" in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("call", ["evaluate", "predict"])
def test_evaluate_and_predict(call, numbers, model):
    queue = QueueInput(numbers(20, fail_at=3, error=lambda: KeyError("lost")))
    with pytest.raises(KeyError, match="lost") as raised:
        getattr(model, call)(queue, verbose=0)
    assert "users_own_code" in frames(raised.value)


def test_validation_data(numbers, model):
    bad = numbers(5, fail_at=2, error=lambda: TwoArguments("val.txt", 2))
    with pytest.raises(TwoArguments, match="val.txt:2"):
        model.fit(QueueInput(numbers(2)), validation_data=QueueInput(bad), verbose=0)


def test_second_pass(numbers, specs):
    """The error of a later pass comes after all datapoints of the earlier ones."""
    class Second(numbers):
        def __iter__(self):
            for i, dp in enumerate(super().__iter__()):
                if self.starts == 2 and i == 2:
                    raise TwoArguments("second", 2)
                yield dp
    for way in (session_way, dequeue_way, function_dequeue_way):
        got = []
        with pytest.raises(TwoArguments):
            way(QueueInput(Second(4)), got, specs)
        assert got == [0, 1, 2, 3, 0, 1]


def test_iterators_after_an_error_are_anew(numbers):
    df = numbers(6, fail_at=3, error=lambda: KeyError("once"))
    queue = QueueInput(df)
    for _ in range(2):
        got = []
        with pytest.raises(KeyError):
            for_way(queue, got, None)
        assert got == [0, 1, 2]
    df.fail_at = None
    assert [int(label[0]) for _, label in queue] == [0, 1, 2, 3, 4, 5]


def test_asking_again_after_an_error_does_not_hang(numbers):
    iterator = iter(QueueInput(numbers(6, fail_at=1, error=lambda: KeyError("x"))))
    next(iterator)
    with pytest.raises(KeyError):
        next(iterator)
    with pytest.raises((KeyError, StopIteration)):
        next(iterator)
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(numbers(6, fail_at=1, error=lambda: KeyError("x")))
        sess.run(queue.dequeue())
        for _ in range(3):
            with pytest.raises((KeyError, tf.errors.OutOfRangeError)):
                sess.run(queue.dequeue())


def test_two_queues_keep_their_own_errors(numbers):
    a = QueueInput(numbers(3, fail_at=1, error=lambda: KeyError("a")))
    b = QueueInput(numbers(3, fail_at=1, error=lambda: TwoArguments("b", 1)))
    with tf.Graph().as_default(), v1.Session() as sess:
        sess.run([a.dequeue(), b.dequeue()])
        with pytest.raises(TwoArguments, match="b:1"):
            sess.run(b.dequeue())
        with pytest.raises(KeyError, match="a"):
            sess.run(a.dequeue())


def test_other_errors_of_tensorflow_stay_what_they_are(numbers):
    with tf.Graph().as_default(), v1.Session() as sess:
        image, label = QueueInput(numbers(3)).dequeue()
        checked = v1.debugging.assert_greater(label, 5, message="too small")
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            sess.run(checked)
        with pytest.raises(KeyError, match="nothing"):
            sess.graph.get_operation_by_name("nothing")
    next(iter(QueueInput(numbers(3))))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1, 2]) + tf.constant([1, 2, 3])


# ---- StopIteration is the end only where an iterator says so

class RaisesInIter(DataFlow):
    def __iter__(self):
        return iter([next(iter(()))])


class RaisesInReset(DataFlow):
    def reset_state(self):
        next(iter(()))

    def __iter__(self):
        yield [np.zeros((4, 3), "float32"), np.zeros(4, "int32")]


class RaisesWhenConverted:
    def __array__(self, *args, **kwargs):
        raise StopIteration("in __array__")


def out_of_range():
    """What TensorFlow takes for the end; here it is an accident of the user's."""
    yield [np.int32(1)]
    raise tf.errors.OutOfRangeError(None, None, "the user's own")


def raises_in_map():
    return MapData(DataFromList([[i] for i in range(3)], shuffle=False),
                   lambda dp: [next(iter(()))])


@pytest.mark.parametrize("make", [RaisesInIter, RaisesInReset, raises_in_map,
                                  out_of_range, lambda: [[1], [2], [RaisesWhenConverted()]]])
@pytest.mark.parametrize("given", [False, True])
def test_what_looks_like_the_end_is_an_error(make, given):
    signature = (tf.TensorSpec(None, tf.int32),) if given else None
    with pytest.raises(RuntimeError) as raised:
        list(QueueInput(make(), signature=signature))
    cause = raised.value.__cause__ or raised.value.__context__
    assert isinstance(cause, (StopIteration, tf.errors.OutOfRangeError))


def test_batch_gives_what_was_whole_before_an_error():
    def flow():
        for i in range(7):
            yield [np.int64(i)]
        raise KeyError("at 7")
    got = []
    with pytest.raises(KeyError, match="at 7"):
        for x, in QueueInput(flow).batch(3, drop_remainder=True):
            got.append(x.numpy().tolist())
    assert got == [[0, 1, 2], [3, 4, 5]]


# ---- datapoints that don't fit

def test_component_count(numbers, specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(numbers(3))
        queue.setup(specs[:1])
        with pytest.raises(SignatureMismatch, match="1 components.*2 elements"):
            sess.run(queue.get_input_tensors())


def test_dtype_names_the_input(specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput([[np.zeros((4, 3), "float32"), np.full(4, 0.5, "float32")]])
        queue.setup(specs)
        with pytest.raises(SignatureMismatch, match="'label'.*int32.*float32"):
            sess.run(queue.get_input_tensors())


def test_shape_names_the_input(specs):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput([[np.zeros((4, 5), "float32"), np.zeros(4, "int32")]])
        queue.setup(specs)
        with pytest.raises(SignatureMismatch, match=r"'image'.*None, 3.*4, 5"):
            sess.run(queue.get_input_tensors())


def test_a_later_datapoint_that_differs(numbers):
    class Odd(numbers):
        def __iter__(self):
            yield from super().__iter__()
            yield [self.image(9), "nine"]
    got = []
    with pytest.raises(SignatureMismatch, match="component 1.*int32.*string"):
        for_way(QueueInput(Odd(3)), got, None)
    assert got == [0, 1, 2]


def test_dict_keys_with_a_hint():
    points = [{"image": 1, "label": 2}, {"image": 1, "lable": 2}]
    with pytest.raises(SignatureMismatch, match="Did you mean 'lable'"):
        list(QueueInput(points))


def test_ragged_shows_its_shapes():
    with pytest.raises(SignatureMismatch, match=r"\(2,\).*\(3,\)"):
        list(QueueInput([[[np.zeros(2), np.zeros(3)]]]))


def test_mixed_shapes_in_a_batch():
    points = [[np.zeros(n, "float32")] for n in (2, 2, 2, 3)]
    with pytest.raises(SignatureMismatch, match=r"\(2,\).*\(3,\)"):
        list(QueueInput(points, signature=(tf.TensorSpec([None], tf.float32),)).batch(4))


@pytest.mark.parametrize("bad", [None, object(), {1: 2, "a": 3}, []])
def test_nothing_that_a_tensor_can_hold(bad):
    with pytest.raises(SignatureMismatch):
        list(QueueInput([bad if isinstance(bad, (dict, list)) else [bad]]))


# ---- no data

def test_empty_dataflow(model):
    for empty in ([], iter(()), lambda: iter(())):
        with pytest.raises(DatasetEnded, match="at least one datapoint"):
            list(QueueInput(empty))
    with pytest.raises(DatasetEnded):
        model.fit(QueueInput([]), verbose=0)
    with tf.Graph().as_default(), v1.Session(), pytest.raises(DatasetEnded, match="list"):
        QueueInput([]).dequeue()


def test_empty_pass_with_a_signature(specs):
    assert list(QueueInput([], signature=specs)) == []
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput([])
        queue.setup(specs)
        with pytest.raises(DatasetEnded, match="empty"):
            sess.run(queue.get_input_tensors())


def test_pass_that_comes_up_empty(numbers, specs):
    got = []
    with pytest.raises(DatasetEnded, match="empty passes"):
        session_way(QueueInput(iter(list(numbers(3)))), got, specs)
    assert got == [0, 1, 2]


@pytest.mark.parametrize("make", [
    lambda: QueueInput(5), lambda: QueueInput(DataFlow), lambda: QueueInput("abc"),
    lambda: QueueInput([[1]], size=0), lambda: QueueInput([[1]], size=2.5),
    lambda: QueueInput([[1]], queue=50), lambda: BatchQueueInput([[1]], 0),
    lambda: BatchQueueInput([[1]], 2.5)])
def test_bad_arguments(make):
    with pytest.raises((TypeError, ValueError), match="Do:"):
        make()


# ---- waking who waits

class Gate(DataFlow):
    """Gives 0, 1, 2, then waits to be let through."""

    def __init__(self):
        self.waiting, self.open = threading.Event(), threading.Event()

    def __iter__(self):
        for i in range(1000):
            if i == 3:
                self.waiting.set()
                assert self.open.wait(SAFETY)
            yield [np.full((4, 3), i, "float32"), np.full(4, i, "int32")]

    def __len__(self):
        return 1000


@pytest.fixture
def gate():
    made = Gate()
    yield made
    made.open.set()


def test_run_options_timeout(gate):
    with tf.Graph().as_default(), v1.Session() as sess:
        queue = QueueInput(gate)
        label = queue.dequeue()[1]
        assert [int(sess.run(label)[0]) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(label, options=v1.RunOptions(timeout_in_ms=300))
        # TensorFlow has cancelled the iterator; what comes next is an error, and no hang
        with pytest.raises((tf.errors.OpError, DatasetEnded)):
            sess.run(label, options=v1.RunOptions(timeout_in_ms=1000 * SAFETY))
        gate.open.set()
        queue.refill_queue()
        assert [int(sess.run(label)[0]) for _ in range(5)] == [0, 1, 2, 3, 4]


def run_in_thread(function):
    out = []

    def target():
        try:
            function()
        except BaseException as e:
            out.append(e)
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread, out


def test_session_close_from_another_thread(gate):
    with tf.Graph().as_default():
        label = QueueInput(gate).dequeue()[1]
        sess = v1.Session()
        for _ in range(3):
            sess.run(label)
        thread, out = run_in_thread(lambda: sess.run(label))
        assert gate.waiting.wait(SAFETY)
        sess.close()
        thread.join(SAFETY)
        assert not thread.is_alive()
        assert isinstance(out[0], (tf.errors.CancelledError, RuntimeError))


@pytest.mark.parametrize("way", [session_way, for_way, function_dequeue_way])
def test_stop_from_another_thread(way, gate):
    queue = QueueInput(gate)
    got = []
    thread, out = run_in_thread(lambda: way(queue, got, None))
    assert gate.waiting.wait(SAFETY)
    while len(got) < 3:
        assert thread.is_alive()
        thread.join(0.01)
    queue.stop()
    thread.join(SAFETY)
    assert not thread.is_alive()
    assert isinstance(out[0], DatasetEnded) and got == [0, 1, 2]


def test_stop_before_the_first_datapoint():
    entered, let = threading.Event(), threading.Event()

    def flow():
        entered.set()
        assert let.wait(SAFETY)
        yield [1]
    queue = QueueInput(flow)
    thread, out = run_in_thread(lambda: next(iter(queue)))
    assert entered.wait(SAFETY)
    queue.stop()
    thread.join(SAFETY)
    let.set()
    assert not thread.is_alive() and isinstance(out[0], DatasetEnded)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import tensorflow as tf
from tfqueue_compat.dataflow import DataFlow
from tfqueue_compat.input_source import QueueInput
v1 = tf.compat.v1


class Blocks(DataFlow):
    def __init__(self, at, how):
        self.at, self.how = at, how

    def __iter__(self):
        for i in range(1000):
            if i == self.at:
                self.how()
            yield [np.full((4, 3), i, "float32"), np.full((4, 1), i, "float32")]

    def __len__(self):
        return 1000


def interrupt(after):
    threading.Timer(after, os.kill, [os.getpid(), signal.SIGINT]).start()


def sleeping():
    interrupt(0.5)
    time.sleep(1000)


def at_once():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1000)


def on_a_lock():
    lock = threading.Lock()
    lock.acquire()
    interrupt(0.5)
    lock.acquire()


def session(queue):
    with tf.Graph().as_default(), v1.Session() as sess:
        while True:
            sess.run(queue.dequeue())


def eager(queue):
    for _ in queue:
        pass


def function(queue):
    @tf.function
    def step():
        return queue.dequeue()
    while True:
        step()


def fit(queue):
    import keras
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(loss="mse")
    model.fit(queue, verbose=0, shuffle=False)


def check(way, how, at=3):
    start = []
    def timed():
        start.append(time.monotonic())
        how()
    try:
        way(QueueInput(Blocks(at, timed)))
    except KeyboardInterrupt:
        print(way.__name__, how.__name__, at, f"{time.monotonic() - start[0]:.1f}", flush=True)
    else:
        print("no interrupt", flush=True)
"""


def test_ctrl_c(python):
    """In one process, as a person who stops one run and starts the next."""
    process = python(INTERRUPTED + """
check(session, sleeping)
check(session, on_a_lock)
check(session, at_once)
check(session, sleeping, 0)
check(eager, on_a_lock)
check(eager, at_once)
check(eager, sleeping, 0)
check(function, sleeping)
check(function, at_once)
check(fit, sleeping)
# nothing is left behind: the next run is undisturbed
print(len(list(QueueInput([[i] for i in range(100)]))))
""")
    out, err = process.communicate(timeout=SAFETY)
    lines = out.splitlines()
    assert [line.rpartition(" ")[0] for line in lines[:10]] == [
        "session sleeping 3", "session on_a_lock 3", "session at_once 3", "session sleeping 0",
        "eager on_a_lock 3", "eager at_once 3", "eager sleeping 0",
        "function sleeping 3", "function at_once 3", "fit sleeping 3"], (out, err[-3000:])
    assert all(float(line.rpartition(" ")[2]) < 20 for line in lines[:10]), out
    assert lines[10] == "100" and process.returncode == 0, err[-3000:]


def test_ctrl_c_ends_the_program(python):
    process = python(INTERRUPTED + """
def never():
    print("blocked", flush=True)
    time.sleep(1000)


fit(QueueInput(Blocks(3, never)))
""")
    assert process.stdout.readline() == "blocked\n"
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=SAFETY)
    except subprocess.TimeoutExpired:
        pytest.fail("Ctrl-C did not end the program")
    assert process.returncode not in (0, None)
    assert err.rstrip().endswith("KeyboardInterrupt"), err[-3000:]
    assert err.count("Traceback") == 1 and err.count("\n") < 60, err
    assert "Fatal Python error" not in err


def test_data_flow_length_does_not_matter_to_errors():
    """BatchData's last batch, and an error right behind it."""
    def flow():
        for i in range(5):
            yield [np.int64(i)]
        raise TwoArguments("x", 5)
    sizes = []
    with pytest.raises(TwoArguments):
        for x, in QueueInput(BatchData(flow, 2, remainder=True)):
            sizes.append(len(x))
    assert sizes == [2, 2]
