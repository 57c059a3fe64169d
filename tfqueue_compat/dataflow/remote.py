# SPDX-License-Identifier: Apache-2.0
"""Datapoints to and from other processes and machines, over ZeroMQ or a queue."""

from __future__ import annotations

import multiprocessing as mp
from collections.abc import Iterator
from typing import Any

from ..utils import logger
from ..utils.concurrency import DIE
from ..utils.errors import require, say
from ..utils.serialize import dumps, loads
from .base import DataFlow, as_dataflow, reset
from .passes import EmptyPasses

__all__ = ["RemoteDataZMQ", "dump_dataflow_to_process_queue", "send_dataflow_zmq"]

_FORMATS = (None, "zmq_ops")  # zmq_ops is gone; ZMQInput reads the one format that is left


def send_dataflow_zmq(df: Any, addr: str, hwm: int = 50, format: str | None = None,
                      bind: bool = False) -> None:
    """Send the datapoints of a DataFlow to an address, pass after pass. Never returns.

    Args:
        df: the DataFlow.
        addr: e.g. ``"tcp://host:port"`` or ``"ipc://path"``.
        hwm: datapoints that ZeroMQ holds (its high-water mark).
        format: None, or ``"zmq_ops"``, which means the same here.
        bind: bind the address, instead of connecting to it.

    Raises:
        Exception: whatever the DataFlow raises.
    """
    zmq = require("zmq", "pyzmq", "send_dataflow_zmq")
    if format not in _FORMATS:
        raise ValueError(say("send_dataflow_zmq", expected="format None or 'zmq_ops'",
                             received=repr(format), do="Leave it out."))
    ds = as_dataflow(df, "send_dataflow_zmq")
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.set_hwm(hwm)
        if bind:
            socket.bind(addr)
        else:
            socket.connect(addr)
        logger.info("Serving data to %s ...", addr)
        reset(ds)
        passes = EmptyPasses()
        while True:
            came = False
            for dp in ds:
                socket.send(dumps(dp), copy=False)
                came = True
            if passes.hopeless(came):
                socket.linger = 0
                raise RuntimeError(say("send_dataflow_zmq", expected="datapoints from "
                                       f"{type(df).__name__}", received="passes without any",
                                       do="Look whether it is empty."))


class RemoteDataZMQ(DataFlow):
    """Datapoints that :func:`send_dataflow_zmq` sends, without end.

    ``cnt1`` and ``cnt2`` count those from either address.

    Args:
        addr1: address to receive from.
        addr2: a second one, e.g. for another protocol.
        hwm: datapoints that ZeroMQ holds.
        bind: bind the addresses, instead of connecting to them.
    """

    def __init__(self, addr1: str, addr2: str | None = None, hwm: int = 50,
                 bind: bool = True) -> None:
        if not addr1:
            raise ValueError(say("RemoteDataZMQ", expected="an address", received=repr(addr1),
                                 do="Pass e.g. 'tcp://*:8877'."))
        self._addr1 = addr1
        self._addr2 = addr2
        self._hwm = int(hwm)
        self._bind = bind
        self.cnt1 = self.cnt2 = 0

    def reset_state(self) -> None:
        """Count from zero."""
        super().reset_state()
        self.cnt1 = self.cnt2 = 0

    def bind_or_connect(self, socket: Any, addr: str) -> None:
        """Bind a socket to an address, or connect it, as ``bind`` says."""
        if self._bind:
            socket.bind(addr)
        else:
            socket.connect(addr)

    def _socket(self, context: Any, addr: str) -> Any:
        zmq = require("zmq", "pyzmq", "RemoteDataZMQ")
        socket = context.socket(zmq.PULL)
        socket.set_hwm(self._hwm)
        socket.linger = 0
        self.bind_or_connect(socket, addr)
        return socket

    def __iter__(self) -> Iterator[Any]:
        """Yield what comes."""
        zmq = require("zmq", "pyzmq", "RemoteDataZMQ")
        context = zmq.Context()
        try:
            first = self._socket(context, self._addr1)
            poller = zmq.Poller()
            poller.register(first, zmq.POLLIN)
            if self._addr2:
                poller.register(self._socket(context, self._addr2), zmq.POLLIN)
            while True:
                for socket, _ in poller.poll():
                    if socket is first:
                        self.cnt1 += 1
                    else:
                        self.cnt2 += 1
                    yield loads(socket.recv(copy=False))
        finally:
            context.destroy(linger=0)


class _QueueFiller(mp.Process):
    """Puts the datapoints of a DataFlow on a queue, numbered."""

    def __init__(self, ds: DataFlow, queue: Any, nr_consumer: int) -> None:
        super().__init__()
        self.ds = ds
        self.queue = queue
        self.nr_consumer = nr_consumer

    def run(self) -> None:
        """Put all, then say that nothing more comes, even after an error."""
        try:
            reset(self.ds)
            for numbered in enumerate(self.ds):
                self.queue.put(numbered)
        finally:
            for _ in range(self.nr_consumer):
                self.queue.put((DIE, None))


def dump_dataflow_to_process_queue(df: Any, size: int, nr_consumer: int
                                   ) -> tuple[Any, mp.Process]:
    """Return a queue, and a process that fills it once you start it.

    Args:
        df: the DataFlow; it is reset in that process.
        size: capacity of the queue, in datapoints.
        nr_consumer: how many will read: so many ``(DIE, None)`` come at the end.

    Returns:
        The queue of ``(number, datapoint)``, and the process. Where the DataFlow raises, the
        process's exit code is 1.
    """
    queue: Any = mp.Queue(size)
    filler = _QueueFiller(as_dataflow(df, "dump_dataflow_to_process_queue"), queue, nr_consumer)
    return queue, filler
