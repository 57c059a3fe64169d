# SPDX-License-Identifier: Apache-2.0
"""ZMQInput: datapoints from other processes or machines, over pyzmq."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.remote import RemoteDataZMQ
from ..engine.signature import Signature
from .queue import QueueInput

__all__ = ["ZMQInput"]


class ZMQInput(QueueInput):
    """What ``dataflow.remote.send_dataflow_zmq`` sends, as an input.

    Args:
        end_point: of ZeroMQ, e.g. ``tcp://0.0.0.0:8877`` or ``ipc:///tmp/data``.
        hwm: ZeroMQ's high-water mark, in datapoints; also how many wait here at most.
        bind: whether this side binds the end point; the other one then connects.
    """

    def __init__(self, end_point: str, hwm: int, bind: bool = True) -> None:
        super().__init__(RemoteDataZMQ(end_point, hwm=hwm, bind=bind), size=hwm)

    def to_dataset(self, input_signature: Sequence[Any]) -> tf.data.Dataset:
        """The same as a dataset of this signature (``tf.TensorSpec`` for each component)."""
        self._source.set_signature(Signature.from_specs(list(input_signature)))
        return self
