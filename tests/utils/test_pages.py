# SPDX-License-Identifier: Apache-2.0
"""Page faults of arrays that are made again and again, after TensorFlow has set malloc's ways."""

from __future__ import annotations

import platform
from collections.abc import Callable

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="it is about glibc")

FAULTS = """
import resource
import numpy as np
import tensorflow as tf

def faults():
    kept = [np.ones(500_000) for _ in range(7)]  # 4 MB each
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        del kept
        kept = [np.ones(500_000) for _ in range(7)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

next(iter(tf.data.Dataset.from_generator(lambda: iter([1]), tf.int32)))  # ends glibc's own rule
"""


def test_pages_are_kept_after_a_generator_of_tensorflow(fresh_process: Callable[..., str]) -> None:
    def measured(first: str) -> int:
        return int(fresh_process(f"{FAULTS}\n{first}\nprint(faults())",
                                 TF_CPP_MIN_LOG_LEVEL="3").splitlines()[-1])

    kept = measured("from tfqueue_compat.utils.pages import keep_pages; keep_pages()")
    assert kept * 3 < measured("")


def test_workers_and_queues_keep_them(fresh_process: Callable[..., str]) -> None:
    out = fresh_process(FAULTS + """
plain = faults()
from tfqueue_compat import QueueInput
from tfqueue_compat.dataflow import DataFlow, MultiProcessRunner

class Measure(DataFlow):
    def __iter__(self):
        for i in range(3):
            yield [faults()]

    def __len__(self):
        return 3

runner = MultiProcessRunner(Measure(), 10, 1)
runner.reset_state()
in_worker = [n for n, in runner][1:]
queue = QueueInput(Measure())
in_thread = [int(n) for n, in queue][1:]
queue.stop()
print(plain, max(in_worker), max(in_thread))
""", TF_CPP_MIN_LOG_LEVEL="3").splitlines()[-1]
    plain, in_worker, in_thread = map(int, out.split())
    assert in_worker * 3 < plain and in_thread * 3 < plain
