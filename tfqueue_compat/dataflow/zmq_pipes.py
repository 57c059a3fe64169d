# SPDX-License-Identifier: Apache-2.0
"""What public code took from tensorpack's runners to make ZeroMQ pipes of its own."""

from __future__ import annotations

import contextlib
import sys
import uuid
from collections.abc import Iterator
from typing import Any

from ..utils import logger
from ..utils.errors import require
from .base import DataFlowTerminated

__all__ = ["_bind_guard", "_get_pipe_name", "_zmq_catch_error"]


def _get_pipe_name(name: str) -> str:
    """Return an address that nobody else has: without a file on Linux, else one here."""
    at = "@" if sys.platform.startswith("linux") else ""
    return f"ipc://{at}{name.replace('/', '-')}-pipe-{uuid.uuid4().hex[:8]}"


def _bind_guard(sock: Any, name: str) -> None:
    """Bind a socket, and log which address it was where that fails."""
    zmq = require("zmq", "pyzmq", "_bind_guard")
    try:
        sock.bind(name)
    except zmq.ZMQError:
        logger.error(f"Expected an address to bind to. Received {name!r}, which can't be. "
                     "Do: for ipc:// use a local file system.")
        raise


@contextlib.contextmanager
def _zmq_catch_error(name: str) -> Iterator[None]:
    """Turn the end of ZeroMQ's context, which another thread closed, into DataFlowTerminated."""
    zmq = require("zmq", "pyzmq", "_zmq_catch_error")
    try:
        yield
    except zmq.ContextTerminated as e:
        logger.info(f"[{name}] ZeroMQ's context was closed.")
        raise DataFlowTerminated from e
