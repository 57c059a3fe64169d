# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import multiprocessing as mp

import numpy as np
import pytest

from tfqueue_compat.dataflow import DataFlow, DataFromList, RemoteDataZMQ, send_dataflow_zmq
from tfqueue_compat.dataflow.remote import dump_dataflow_to_process_queue
from tfqueue_compat.utils.concurrency import DIE

pytest.importorskip("zmq")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on


def numbers(n):
    return DataFromList([[k, np.full(3, k)] for k in range(n)], shuffle=False)


@pytest.fixture
def sender():
    """Start senders; end them with the test."""
    running = []

    def start(*args, **kwargs):
        child = mp.get_context("fork").Process(target=send_dataflow_zmq, args=args, kwargs=kwargs)
        child.start()
        running.append(child)

    yield start
    for child in running:
        child.kill()
        child.join()


@pytest.mark.parametrize("bind", [True, False])
def test_both_ends(tmp_path, sender, bind):
    addr = f"ipc://{tmp_path}/socket"
    sender(numbers(5), addr, bind=not bind)
    ds = RemoteDataZMQ(addr, bind=bind)
    got = list(itertools.islice(ds, 12))
    assert [dp[0] for dp in got] == [k % 5 for k in range(12)]
    np.testing.assert_array_equal(got[4][1], [4, 4, 4])
    assert ds.cnt1 == 12 and ds.cnt2 == 0


def test_two_addresses(tmp_path, sender):
    one, two = f"ipc://{tmp_path}/1", f"ipc://{tmp_path}/2"
    ds = RemoteDataZMQ(one, two)
    iterator = iter(ds)
    sender(numbers(3), one)
    for _ in range(3):
        next(iterator)
    sender(numbers(3), two, format="zmq_ops")
    while not ds.cnt2:
        next(iterator)
    assert ds.cnt1 >= 3
    iterator.close()


def test_what_cannot_be_sent(tmp_path):
    addr = f"ipc://{tmp_path}/socket"
    with pytest.raises(ValueError, match="format"):
        send_dataflow_zmq(numbers(1), addr, format="json")
    with pytest.raises(RuntimeError, match="without any"):
        send_dataflow_zmq(DataFromList([]), addr)
    with pytest.raises(ValueError, match="address"):
        RemoteDataZMQ("")


class Fails(DataFlow):
    def __iter__(self):
        yield [1]
        raise ZeroDivisionError


@pytest.mark.parametrize("ds, n, exitcode", [(numbers(4), 4, 0), (Fails(), 1, 1)])
def test_process_queue(ds, n, exitcode, capfd):
    queue, process = dump_dataflow_to_process_queue(ds, size=2, nr_consumer=2)
    process.start()
    got = [queue.get(timeout=60) for _ in range(n + 2)]
    assert [k for k, _ in got[:n]] == list(range(n))
    assert got[n:] == [(DIE, None)] * 2
    process.join(60)
    assert process.exitcode == exitcode
