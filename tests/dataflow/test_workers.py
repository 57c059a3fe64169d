# SPDX-License-Identifier: Apache-2.0
"""Worker processes: how they start, fail, die and stop. Each test runs real ones."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import DataFlow, DataFromList, MultiProcessRunner, RNGDataFlow
from tfqueue_compat.dataflow.workers import Finished, ProducerPool, WorkerDied
from tfqueue_compat.utils import utils

PATIENCE = 60.0


class Count(DataFlow):
    """Arrays that say which number they have."""

    def __init__(self, n: int, shape: tuple[int, ...] = (3,)) -> None:
        self.n, self.shape = n, shape

    def __iter__(self) -> Iterator[Any]:
        for i in range(self.n):
            yield [i, np.full(self.shape, i, "float32")]

    def __len__(self) -> int:
        return self.n


class Run(DataFlow):
    """Yields what a function of no arguments yields."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __iter__(self) -> Iterator[Any]:
        return self.func()


class Draw(RNGDataFlow):
    def __iter__(self) -> Iterator[Any]:
        import random
        for _ in range(5):
            yield [int(self.rng.randint(1 << 30)), int(np.random.randint(1 << 30)),
                   random.getrandbits(30)]


@pytest.fixture
def pools() -> Iterator[Any]:
    """Make pools that are stopped at the end, whatever happens."""
    made: list[ProducerPool] = []

    def make(*dataflows: Any, endless: bool = False, **kwargs: Any) -> ProducerPool:
        made.append(ProducerPool(dataflows, endless=endless, **kwargs))
        return made[-1]
    yield make
    for pool in made:
        pool.stop()


def everything(pool: ProducerPool, worker: int = 0) -> list[Any]:
    out: list[Any] = []
    try:
        while True:
            chunk = pool.take(worker, PATIENCE)
            assert chunk is not None, "nothing came"
            out.extend(chunk.datapoints())
    except Finished:
        return out


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def seconds_until(condition: Any) -> float:
    start = time.monotonic()
    while not condition() and time.monotonic() - start < PATIENCE:
        time.sleep(0.01)
    return time.monotonic() - start


def run_script(folder: Path, text: str, *args: str) -> subprocess.CompletedProcess[str]:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, str(path), *args], capture_output=True, text=True,
                          timeout=PATIENCE * 2)


def test_each_worker_sends_its_dataflow_once(pools: Any) -> None:
    pool = pools(Count(1000), Count(500, (200, 100)), Count(0))
    for worker, n in ((1, 500), (0, 1000), (2, 0)):
        got = everything(pool, worker)
        assert [dp[0] for dp in got] == list(range(n))
        assert all((dp[1] == dp[0]).all() for dp in got)


def test_endless_repeats(pools: Any) -> None:
    pool, got = pools(Count(3), endless=True), []
    while len(got) < 100:
        got.extend(dp[0] for dp in pool.take(0, PATIENCE).datapoints())
    assert got[:100] == [i % 3 for i in range(100)]


def test_an_endless_dataflow_without_datapoints_is_an_error(pools: Any) -> None:
    with pytest.raises(ValueError, match="Count: Expected datapoints"):
        everything(pools(Count(0), endless=True))


def test_take_returns_none_after_its_timeout_and_when_woken(pools: Any) -> None:
    never = threading.Event()

    def wait() -> Iterator[Any]:
        yield [1]
        never.wait(1000)
    pool = pools(Run(wait))
    assert everything_now(pool) == [[1]]
    assert pool.take(0, 0.01) is None
    timer = threading.Timer(0.2, pool.wake)
    timer.start()
    assert pool.take(0, PATIENCE) is None and timer.finished.is_set()
    timer.join()


def everything_now(pool: ProducerPool) -> list[Any]:
    return list(pool.take(0, PATIENCE).datapoints())


def test_a_slow_producer_is_never_held_back(pools: Any) -> None:
    """The producer goes on only when the consumer has what it made: else both would wait."""
    gate = multiprocessing.Semaphore(0)

    def source() -> Iterator[Any]:
        for i in range(2000):  # fast, so that they are packed
            yield [i]
        for i in range(2000, 2010):
            yield [i]
            assert gate.acquire(timeout=PATIENCE)
    pool, got = pools(Run(source)), []
    while len(got) < 2001:
        got.extend(dp[0] for dp in pool.take(0, PATIENCE).datapoints())
    for i in range(2001, 2010):
        gate.release()
        got.extend(dp[0] for dp in pool.take(0, PATIENCE).datapoints())
    assert got == list(range(2010))
    gate.release()


def test_takers_in_several_threads(pools: Any) -> None:
    pool = pools(Count(3000), Count(3000), Count(3000))
    got: list[Any] = [None] * 3
    threads = [threading.Thread(target=lambda i=i: got.__setitem__(i, everything(pool, i)))
               for i in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(PATIENCE)
    assert all([dp[0] for dp in one] == list(range(3000)) for one in got)


# errors

class TwoArguments(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


def failing(make: Any) -> Run:
    def source() -> Iterator[Any]:
        yield [0]
        raise make()
    return Run(source)


def local_error() -> Exception:
    class Local(ValueError):
        pass
    return Local("of a class that nobody can find")


def with_lock() -> Exception:
    e = OSError(5, "of the disk")
    e.lock = threading.Lock()  # type: ignore[attr-defined] # cannot be pickled
    return e


@pytest.mark.parametrize(("make", "kind", "text"), [
    (lambda: KeyError("key", 3), KeyError, r"\('key', 3\)"),
    (lambda: TwoArguments(7, "went wrong"), TwoArguments, "7: went wrong"),
    (lambda: UnicodeDecodeError("utf8", b"\xff", 0, 1, "no"), UnicodeDecodeError, "can't decode"),
    (local_error, ValueError, "nobody can find"),
    (with_lock, OSError, "of the disk"),
    (lambda: SystemExit(3), RuntimeError, r"sys.exit\(3\)"),
])
def test_an_error_comes_with_its_type_its_text_and_its_traceback(
        pools: Any, make: Any, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        everything(pools(failing(make)))
    assert isinstance(caught.value, kind)
    if make is local_error:
        assert type(caught.value).__name__ == "Local"
    if kind is TwoArguments:
        assert caught.value.code == 7
    assert "raise make()" in str(caught.value.__cause__)


def test_what_came_before_an_error_is_not_lost(pools: Any) -> None:
    def source() -> Iterator[Any]:
        for i in range(777):
            yield [i]
        raise KeyError("end")
    pool, got = pools(Run(source)), []
    with pytest.raises(KeyError):
        while True:
            got.extend(dp[0] for dp in pool.take(0, PATIENCE).datapoints())
    assert got == list(range(777))


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_worker_is_named(pools: Any, sig: signal.Signals) -> None:
    pool = pools(Count(10 ** 9), Count(10 ** 9), endless=True)
    pool.start()
    os.kill(pool.pids[1], sig)
    killed = time.monotonic()
    with pytest.raises(WorkerDied) as caught:
        while True:
            pool.take(1, PATIENCE)
    assert time.monotonic() - killed < 2
    text = str(caught.value)
    assert str(pool.pids[1]) in text and sig.name in text
    assert ("out of memory" in text) == (sig == signal.SIGKILL)
    assert pool.take(0, PATIENCE).n  # the other one lives


def test_a_killed_worker_is_noticed_while_its_children_hold_its_pipes(pools: Any) -> None:
    def source() -> Iterator[Any]:
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
        yield [pid]
        time.sleep(1000)
    pool = pools(Run(source))
    child = everything_now(pool)[0][0]
    try:
        os.kill(pool.pids[0], signal.SIGKILL)
        killed = time.monotonic()
        with pytest.raises(WorkerDied):
            pool.take(0, PATIENCE)
        assert time.monotonic() - killed < 2
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_worker_that_leaves_silently(pools: Any) -> None:
    def source() -> Iterator[Any]:
        yield [1]
        os._exit(0)
    with pytest.raises(WorkerDied, match="exit status 0"):
        everything(pools(Run(source)))


# stopping

def stuck() -> Iterator[Any]:
    yield [os.getpid()]
    time.sleep(1000)


@pytest.mark.parametrize("source", [Run(stuck), Count(10 ** 9, (100, 100)), Count(10 ** 9)])
def test_stop_ends_the_workers(pools: Any, source: Any) -> None:
    pool = pools(source, source, endless=True)
    pool.take(0, PATIENCE)
    pids = pool.pids
    pool.stop()
    pool.stop()
    assert not any(map(alive, pids))
    assert not multiprocessing.active_children()
    with pytest.raises(Finished):
        pool.take(0, 0.0)


def test_stop_frees_a_taker_in_another_thread(pools: Any) -> None:
    pool = pools(Run(stuck))
    assert everything_now(pool)
    ended = threading.Event()

    def wait() -> None:
        try:
            while pool.take(0, PATIENCE) is None:
                pass
        except Finished:
            ended.set()
    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.1)
    pool.stop()
    thread.join(PATIENCE)
    assert ended.is_set()


def test_a_forgotten_pool_stops() -> None:
    pool = ProducerPool([Run(stuck)], endless=False)
    assert everything_now(pool)
    pids = pool.pids
    del pool
    gc.collect()
    assert not any(map(alive, pids))


def test_arrays_outlive_the_pool(pools: Any) -> None:
    pool = pools(Count(30, (100, 100)))
    got = everything(pool)
    pool.stop()
    del pool
    gc.collect()
    assert all((dp[1] == dp[0]).all() for dp in got)


def test_nothing_is_left_open() -> None:
    def once() -> None:
        pool = ProducerPool([Count(100), Count(100, (300, 300))], endless=False)
        assert len(everything(pool, 0)) == len(everything(pool, 1)) == 100
        pool.stop()
    once()
    gc.collect()
    before, files = sorted(os.listdir("/proc/self/fd")), sorted(os.listdir("/dev/shm"))
    for _ in range(3):
        once()
    gc.collect()
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert sorted(os.listdir("/dev/shm")) == files


def test_generators_in_the_worker_are_closed_at_stop(pools: Any, tmp_path: Path) -> None:
    def source() -> Iterator[Any]:
        try:
            while True:
                yield [np.zeros(1000)]
        finally:
            (tmp_path / "closed").touch()
    pool = pools(Run(source))
    pool.take(0, PATIENCE)
    pool.stop()
    assert (tmp_path / "closed").exists()


PARENT = """
    import sys, time
    import numpy as np
    from tfqueue_compat.dataflow import DataFlow
    from tfqueue_compat.dataflow.workers import ProducerPool
    class Fast(DataFlow):
        def __iter__(self):
            while True:
                yield [np.zeros(1000)]
    class Stuck(DataFlow):
        def __iter__(self):
            yield [1]
            time.sleep(1000)
    if __name__ == "__main__":
        pool = ProducerPool([Fast(), Stuck()], endless=True, start_method=sys.argv[1])
        pool.take(0, 60), pool.take(1, 60)
        print(*pool.pids, flush=True)
        while True:
            pool.take(int(sys.argv[2]), 60)
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_their_parent(tmp_path: Path, method: str, sig: signal.Signals) -> None:
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(PARENT))
    parent = subprocess.Popen([sys.executable, str(path), method, "1"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True)
    pids = [int(x) for x in parent.stdout.readline().split()]  # type: ignore[union-attr]
    assert len(pids) == 2
    if sig == signal.SIGINT:
        os.killpg(parent.pid, sig)  # as a terminal does
    else:
        parent.send_signal(sig)
    parent.wait(PATIENCE)
    assert seconds_until(lambda: not any(map(alive, pids))) < 2
    errors = parent.communicate()[1]
    assert errors.count("Traceback") == (sig == signal.SIGINT), errors


def test_workers_started_by_a_thread_outlive_it(pools: Any) -> None:
    pool = pools(Count(10 ** 9), endless=True)
    thread = threading.Thread(target=pool.start)
    thread.start()
    thread.join()
    del thread
    time.sleep(0.3)
    for _ in range(50):
        assert pool.take(0, PATIENCE).n


# start methods

SPAWN = """
    import multiprocessing, sys
    from tfqueue_compat.dataflow import DataFromList
    from tfqueue_compat.dataflow.workers import Finished, ProducerPool
    class Odd(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} and {b}")
    def fail(i):
        raise Odd(i, "more")
    class Fails:
        def __iter__(self):
            yield [1]
            fail(1)
    if __name__ == "__main__":
        pool = ProducerPool([DataFromList([[i] for i in range(9)], shuffle=False)], endless=False,
                            start_method=sys.argv[1])
        got = []
        try:
            while True:
                got.extend(pool.take(0, 60).datapoints())
        except Finished:
            print(got == [[i] for i in range(9)])
        pool = ProducerPool([Fails()], endless=False, start_method=sys.argv[1])
        try:
            while True:
                pool.take(0, 60)
        except Odd as e:
            print(e, "fail(1)" in str(e.__cause__))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_spawned_workers(tmp_path: Path, method: str) -> None:
    done = run_script(tmp_path, SPAWN, method)
    assert done.stdout.split("\n")[:2] == ["True", "1 and more True"], done.stderr
    assert not done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_cannot_be_pickled_is_refused(pools: Any, method: str) -> None:
    pool = pools(Run(lambda: iter(())), start_method=method)
    with pytest.raises(Exception, match="can be pickled"):
        pool.take(0, PATIENCE)
    assert not multiprocessing.active_children()


def test_a_pool_in_a_daemon(pools: Any) -> None:
    """As in the workers of torch's DataLoader, which are daemons."""
    queue = multiprocessing.SimpleQueue()

    def inside() -> None:
        queue.put([dp[0] for dp in everything(ProducerPool([Count(5)], endless=False))])
    process = multiprocessing.get_context("fork").Process(target=inside, daemon=True)
    process.start()
    assert queue.get() == [0, 1, 2, 3, 4]
    process.join(PATIENCE)
    assert process.exitcode == 0
    queue.close()


def test_a_forked_copy_of_an_array_gives_nothing_back(pools: Any) -> None:
    pool = pools(Count(10 ** 6, (64, 64)), endless=True)
    kept = [dp for _ in range(5) for dp in pool.take(0, PATIENCE).datapoints()]
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            kept.clear()
            gc.collect()
            os._exit(0)
        os.waitpid(pid, 0)
    for _ in range(200):
        pool.take(0, PATIENCE)
    assert all((dp[1] == dp[0]).all() for dp in kept)


# random numbers

def streams(pools: Any, n: int = 3, **kwargs: Any) -> list[Any]:
    pool = pools(*[Draw() for _ in range(n)], **kwargs)
    got = [everything(pool, i) for i in range(n)]
    pool.stop()
    return got


def test_workers_draw_different_numbers(pools: Any) -> None:
    a, b = streams(pools), streams(pools)
    for part in range(3):
        numbers = [dp[part] for worker in a + b for dp in worker]
        assert len(set(numbers)) == len(numbers)


def test_fixed_seed_makes_them_reproducible(pools: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(utils, "_RNG_SEED", 42)
    a, b = streams(pools), streams(pools)
    assert a == b
    assert len({tuple(dp) for worker in a for dp in worker}) == 15
    expected = np.random.RandomState(42)
    assert [dp[0] for dp in a[0]] == [int(expected.randint(1 << 30)) for _ in range(5)]


def test_seeds_may_be_given(pools: Any) -> None:
    a = streams(pools, seeds=[1, 2, 3])
    assert streams(pools, seeds=[1, 2, 3]) == a and streams(pools, seeds=[4, 2, 5])[1] == a[1]
    with pytest.raises(ValueError, match="Expected 3 seeds"):
        streams(pools, seeds=[1])


def test_workers_in_workers_differ_as_well(pools: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(utils, "_RNG_SEED", 7)
    pool = pools(*[MultiProcessRunner(Draw(), 5, 2) for _ in range(2)])
    numbers = [dp[0] for i in range(2) for dp in taken(pool, i, 10)]
    assert len(set(numbers)) == 20


def taken(pool: ProducerPool, worker: int, n: int) -> list[Any]:
    got: list[Any] = []
    while len(got) < n:
        got.extend(pool.take(worker, PATIENCE).datapoints())
    return got[:n]


def test_the_parents_numbers_are_left_alone(pools: Any) -> None:
    np.random.seed(3)
    expected = np.random.RandomState(3).randint(1 << 30)
    everything(pools(DataFromList([[1]])))
    assert np.random.randint(1 << 30) == expected
