# SPDX-License-Identifier: Apache-2.0
"""Every test of the engine ends without a thread of the engine; values are compared bit by bit."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import HealthCheck, settings

from tfqueue_compat.engine.dataset import SourceDataset
from tfqueue_compat.engine.source import Source
from tfqueue_compat.engine.stream import Mode

# A machine that is busy with other things is no failure.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

SAFETY = 30.0  # seconds after which a test that hangs fails instead


def _producers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("QueueInput ")]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """Fail a test after which a producer's thread is still there."""
    yield
    end = time.monotonic() + SAFETY
    if _producers():
        gc.collect()
    while _producers() and time.monotonic() < end:
        time.sleep(0.01)
    assert not _producers()


@pytest.fixture
def eager() -> Iterator[Callable[..., list[Any]]]:
    """Return ``eager(dataflow, mode, capacity, signature)``: all that comes out, as NumPy."""
    sources = []

    def collect(dataflow: Any, mode: Mode = Mode(), capacity: int = 50,
                signature: Any = None, most: int | None = None) -> list[Any]:
        source = Source(dataflow, capacity, signature)
        sources.append(source)
        out = []
        for element in SourceDataset(source, mode):
            out.append(tf.nest.map_structure(lambda t: t.numpy(), element))
            if len(out) == most:
                break
        return out

    yield collect
    for source in sources:
        source.stop()


@pytest.fixture
def same() -> Callable[[Any, Any], None]:
    """Return ``same(got, want)``: fails unless structure, dtypes, shapes and bytes agree."""
    def check(got: Any, want: Any) -> None:
        tf.nest.assert_same_structure(got, want)
        for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want)):
            a, b = np.asarray(a), np.asarray(b)
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            assert a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()
    return check
