# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import multiprocessing as mp
import os
import queue
import signal
import subprocess
import sys
import threading
import time

import pytest

from tfqueue_compat.utils import concurrency as c

FORK = mp.get_context("fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on


def test_stoppable_queues():
    class Worker(c.StoppableThread):
        def run(self):
            self.got = self.queue_get_stoppable(empty)
            self.queue_put_stoppable(full, 1)

    empty, full = queue.Queue(), queue.Queue(1)
    full.put(0)
    worker = Worker()
    worker.start()
    time.sleep(0.05)
    assert worker.is_alive() and not worker.stopped()
    worker.stop()
    worker.join(30)
    assert not worker.is_alive() and worker.got is None and full.qsize() == 1


def test_loop_thread():
    ticks = threading.Semaphore(0)
    calls = []

    def tick():
        calls.append(1)
        ticks.release()
        time.sleep(0.001)

    loop = c.LoopThread(tick)
    loop.start()
    assert ticks.acquire(timeout=30) and loop.daemon
    loop.pause()
    time.sleep(0.2)
    n = len(calls)
    time.sleep(0.1)
    assert len(calls) == n
    loop.resume()
    while len(calls) == n:
        time.sleep(0.01)
    loop.stop()
    loop.join(30)
    assert not loop.is_alive()
    with pytest.raises(RuntimeError, match="pausable"):
        c.LoopThread(tick, pausable=False).pause()


def test_ordered_container():
    box = c.OrderedContainer(start=1)
    box.put(2, "b")
    assert not box.has_next()
    with pytest.raises(RuntimeError, match="object 1"):
        box.get()
    box.put(1, "a")
    assert [box.get(), box.get()] == [(1, "a"), (2, "b")]
    with pytest.raises(ValueError, match="again"):
        box.put(2, "c")


def test_ordered_gathering():
    data = mp.Queue()
    gatherer = c.OrderedResultGatherProc(data, nr_producer=2)
    gatherer.start()
    for item in [(2, "c"), (0, "a"), (c.DIE, None), (1, "b"), (c.DIE, None)]:
        data.put(item)
    assert [gatherer.get() for _ in range(4)] == [(0, "a"), (1, "b"), (2, "c"), (c.DIE, None)]
    gatherer.join(30)
    assert gatherer.exitcode == 0


def _report_and_wait(q):
    q.put(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)
    time.sleep(60)


def test_processes_that_ignore_ctrl_c():
    q = FORK.Queue()
    child = FORK.Process(target=_report_and_wait, args=(q,))
    c.start_proc_mask_signal(child)
    assert q.get(timeout=30) is True
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    child.kill()
    child.join()


def test_mask_sigint_only_in_the_main_thread():
    got = []

    def run():
        with c.mask_sigint() as masked:
            got.append((masked, c.is_main_thread()))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    with c.mask_sigint() as masked:
        got.append((masked, c.is_main_thread()))
    assert got == [(False, False), (True, True)]


PROGRAM = """
import multiprocessing as mp, sys, time
from tfqueue_compat.utils.concurrency import ensure_proc_terminate, enable_death_signal

def work(death):
    if death:
        enable_death_signal()
    time.sleep(60)

p = mp.get_context('fork').Process(target=work, args=(sys.argv[1] == 'death',))
p.start()
print(p.pid, flush=True)
if sys.argv[1] == 'death':
    time.sleep(60)
ensure_proc_terminate([p])
"""


def start_program(how):
    import tfqueue_compat
    above = os.path.dirname(os.path.dirname(tfqueue_compat.__file__))
    return subprocess.Popen([sys.executable, "-c", PROGRAM, how], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "PYTHONPATH": above})


def gone(pid):
    for _ in range(600):
        try:
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["exit", "death"])
@pytest.mark.parametrize("hangup", [signal.SIG_DFL, signal.SIG_IGN], ids=["", "nohup"])
def test_no_process_stays_behind(how, hangup):
    before = signal.signal(signal.SIGHUP, hangup)
    try:
        program = start_program(how)
    finally:
        signal.signal(signal.SIGHUP, before)
    pid = int(program.stdout.readline())
    if how == "death":
        time.sleep(0.3)
        program.kill()
    program.wait(60)
    program.stdout.close()
    assert gone(pid)


def test_subproc_call():
    assert c.subproc_call("echo out; echo err >&2") == (b"out\nerr\n", 0)
    assert c.subproc_call("echo x; exit 3") == (b"x\n", 3)
    assert c.subproc_call("sleep 20", timeout=0.2)[1] == -1


def test_share_session_thread():
    tf = pytest.importorskip("tensorflow").compat.v1
    got = []

    def run():
        got.append((tf.get_default_session(), tf.get_default_graph()))

    with tf.Graph().as_default() as graph, tf.Session() as sess:
        for thread in (c.ShareSessionThread(threading.Thread(target=run, name="mine")),):
            assert thread.name == "mine"
            thread.start()
            thread.join(60)
    assert got == [(sess, graph)]
