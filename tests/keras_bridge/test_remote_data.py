# SPDX-License-Identifier: Apache-2.0
"""A dataflow of another process, which may be on another machine, feeds ``fit``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import tfqueue_compat
from tfqueue_compat.dataflow import RemoteDataZMQ
from tfqueue_compat.input_source import QueueInput

pytest.importorskip("zmq")

SENDER = """
import sys
import numpy as np
from tfqueue_compat.dataflow import DataFromList, send_dataflow_zmq
data = DataFromList([[np.full((4, 1), k, "float32"), np.full((4, 1), 2 * k, "float32")]
                     for k in range(8)], shuffle=False)
print("ready", file=sys.stderr, flush=True)
send_dataflow_zmq(data, sys.argv[1])
"""


class Announced(RemoteDataZMQ):
    """Starts senders to the free port that it was given."""

    def __init__(self) -> None:
        super().__init__("tcp://127.0.0.1:*", hwm=10)
        self.senders: list[subprocess.Popen[str]] = []

    def bind_or_connect(self, socket: Any, addr: str) -> None:
        super().bind_or_connect(socket, addr)
        env = {**os.environ, "PYTHONPATH": str(Path(tfqueue_compat.__file__).parents[1])}
        for _ in range(2):
            self.senders.append(subprocess.Popen(
                [sys.executable, "-c", SENDER, socket.last_endpoint.decode()], env=env,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for sender in self.senders:
            assert sender.stderr is not None
            assert sender.stderr.readline() == "ready\n"


def test_fit_trains_on_what_two_other_processes_send() -> None:
    data = Announced()
    queue = QueueInput(data)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    try:
        model.fit(queue, steps_per_epoch=50, epochs=2, verbose=0, shuffle=False)
    finally:
        queue.stop()
        for sender in data.senders:
            sender.kill()
            sender.communicate()
    np.testing.assert_allclose(model.get_weights()[0], [[2.0]], rtol=1e-4)
    assert len(data.senders) == 2 and data.cnt1 >= 100
