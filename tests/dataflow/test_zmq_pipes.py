# SPDX-License-Identifier: Apache-2.0
"""The helpers that public code imports from ``dataflow.parallel``, with real sockets."""

from __future__ import annotations

import pytest

from tfqueue_compat.dataflow import DataFlowTerminated
from tfqueue_compat.dataflow.parallel import _bind_guard, _get_pipe_name, _zmq_catch_error

zmq = pytest.importorskip("zmq")


def test_a_pipe_of_ones_own() -> None:
    names = {_get_pipe_name("map/1") for _ in range(50)}
    assert len(names) == 50
    with zmq.Context() as context, context.socket(zmq.PUSH) as out, context.socket(zmq.PULL) as in_:
        name = names.pop()
        _bind_guard(out, name)
        in_.connect(name)
        out.send(b"datapoint")
        assert in_.recv() == b"datapoint"
        with context.socket(zmq.PUSH) as second, pytest.raises(zmq.ZMQError):
            _bind_guard(second, name)


def test_a_closed_context_ends_a_dataflow() -> None:
    context = zmq.Context()
    socket = context.socket(zmq.PULL)
    socket.close()
    context.term()
    with pytest.raises(DataFlowTerminated), _zmq_catch_error("worker"):
        raise zmq.ContextTerminated()
    with pytest.raises(zmq.Again), _zmq_catch_error("worker"):
        raise zmq.Again()
    with pytest.raises(KeyError), _zmq_catch_error("worker"):
        {}["x"]
