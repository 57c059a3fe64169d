# SPDX-License-Identifier: Apache-2.0
"""The parallel dataflows beside real tensorpack's: the same script, run by both.

Its maps by processes are left out, as they hang there in about half of the runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfqueue_compat.dataflow as ours

pytestmark = pytest.mark.parity

SCRIPT = """
import numpy as np
from itertools import islice

def square(dp):
    return [dp[0] ** 2, dp[1] + 1]

def numbers(n):
    return D.DataFromList([[i, np.full((2, 3), i, 'float32')] for i in range(n)], shuffle=False)

def read(df, passes=1):
    df.reset_state()
    out = [[[int(x[0]) if np.ndim(x[0]) == 0 else x[0].tolist(), np.asarray(x[1])] for x in df]
           for _ in range(passes)]
    return len(df), out

for name, df in [
        ('runner', D.MultiProcessRunner(numbers(20), 5, 1)),
        ('zmq', D.MultiProcessRunnerZMQ(numbers(20), 1, hwm=5)),
        ('threads', D.MultiThreadRunner(lambda: numbers(20), 5, 1)),
        ('batches of a runner', D.MultiProcessRunnerZMQ(D.BatchData(numbers(20), 6), 1))]:
    outputs[name] = read(df, 2)
size, passes = read(D.MultiThreadMapData(numbers(50), 2, square, buffer_size=10, strict=True), 2)
outputs['strict threads'] = size, [sorted(p, key=lambda dp: dp[0]) for p in passes]
"""


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def test_the_same_streams(peer: Callable[..., dict[str, Any]]) -> None:
    theirs = peer("import tensorpack.dataflow as D\n" + SCRIPT)
    mine: dict[str, Any] = {}
    exec(compile(SCRIPT, "script", "exec"), {"D": ours, "outputs": mine})
    assert theirs.keys() == mine.keys()
    assert [k for k in mine if not equal(mine[k], theirs[k])] == []
