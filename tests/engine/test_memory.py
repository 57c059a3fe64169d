# SPDX-License-Identifier: Apache-2.0
"""Memory stays where it was: each way in a process of its own, measured in resident bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

SETUP = """
import gc, numpy as np, tensorflow as tf
from tfqueue_compat.engine.dataset import SourceDataset
from tfqueue_compat.engine.graph import GraphIterator
from tfqueue_compat.engine.source import Source
from tfqueue_compat.engine.stream import Mode

def resident():
    gc.collect()
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 >> 20

def tiny(n=10 ** 9):
    for i in range(n):
        yield [i, 0.5]
"""

WAYS = {
    "eager": """
it = iter(SourceDataset(Source(tiny, 50), Mode()))
def go(n):
    for _ in range(n): next(it)
""",
    "batches": """
it = iter(SourceDataset(Source(tiny, 50), Mode()).batch(100))
def go(n):
    for _ in range(n // 100): next(it)
""",
    "function": """
it = iter(SourceDataset(Source(tiny, 50), Mode()))
@tf.function
def many(it, n):
    return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + next(it)[0]), [0, 0])
def go(n): many(it, tf.constant(n))
""",
    "session": """
source = Source(tiny, 50)
graph = tf.Graph()
with graph.as_default():
    out = GraphIterator(source, Mode()).get_next()
    session = tf.compat.v1.Session()
def go(n):
    for _ in range(n // 3): session.run(out)
""",
    "passes": """
source = Source(lambda: tiny(2000), 50)
def go(n):
    for _ in range(n // 2000):
        for _ in SourceDataset(source, Mode()): pass
""",
    "shapes that vary": """
def varied():
    rng = np.random.RandomState(0)
    while True:
        yield [np.zeros(rng.randint(1, 3000), 'float32')]
it = iter(SourceDataset(Source(varied, 1000), Mode()))
def go(n):
    for _ in range(n // 10): next(it)
""",
    "large shapes that vary": """
def varied():
    rng = np.random.RandomState(0)
    while True:
        yield [np.zeros(rng.randint(1 << 20, 1 << 21), 'uint8')]
it = iter(SourceDataset(Source(varied, 4), Mode()))
def go(n):
    for _ in range(n // 100): next(it)
""",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_many_datapoints_take_no_more_memory_than_some(
        fresh_process: Callable[..., str], way: str) -> None:
    text = SETUP + way + "go(10_000); before = resident(); go(100_000); print(resident() - before)"
    assert int(fresh_process(text)) < 30
