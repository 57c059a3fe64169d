# SPDX-License-Identifier: Apache-2.0
"""Dataflows in processes of their own, behind one input."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.dataflow import DataFlow
from tfqueue_compat.engine import DatasetEnded
from tfqueue_compat.engine.dataset import SourceDataset
from tfqueue_compat.engine.signature import Signature
from tfqueue_compat.engine.stream import Mode
from tfqueue_compat.engine.workers import WorkerSource

LONG = 60  # seconds that nothing here should need


class Count(DataFlow):
    """Datapoints [i, an array of i], in order."""

    def __init__(self, size: int, start: int = 0) -> None:
        self.size_, self.start = size, start

    def __iter__(self) -> Iterator[Any]:
        for i in range(self.start, self.start + self.size_):
            yield [i, np.full((3, 4), i, "float32")]

    def __len__(self) -> int:
        return self.size_


class Unknown(DataFlow):
    """The same without a length."""

    def __iter__(self) -> Iterator[Any]:
        return iter(Count(7))


class Ragged(DataFlow):
    """Arrays of growing length."""

    def __iter__(self) -> Iterator[Any]:
        for i in range(20):
            yield [np.arange(i // 3, dtype="int64")]


class Silent(DataFlow):
    """Never gives anything."""

    def __iter__(self) -> Iterator[Any]:
        threading.Event().wait()
        yield [0]


@pytest.fixture
def source() -> Iterator[Any]:
    made = []

    def make(*dataflows: Any, **kwargs: Any) -> WorkerSource:
        made.append(WorkerSource(dataflows, 50, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def numbers(dataset: Any) -> list[int]:
    return [int(i) for i, x in dataset if (x.numpy() == int(i)).all()]


def test_each_dataflow_gives_its_whole_pass(source: Any) -> None:
    dataset = SourceDataset(source(Count(5), Count(9, 100), shared=False), Mode())
    assert len(dataset) == 14
    for _ in range(3):
        assert sorted(numbers(dataset)) == [*range(5), *range(100, 109)]


def test_a_shared_dataflow_gives_its_length_in_a_pass(source: Any) -> None:
    one = source(Count(1000), Count(1000), shared=True)
    dataset = SourceDataset(one, Mode())
    first, second = numbers(dataset), numbers(dataset)
    assert len(first) == len(second) == 1000
    # two copies of 0..999, mixed: nothing is lost or doubled beyond that, over the passes' border
    times = np.bincount(first + second, minlength=1000)
    assert times.max() <= 4 and times.sum() == 2000


@pytest.mark.parametrize("drop", [False, True])
def test_batches_are_whole_but_for_one(source: Any, drop: bool) -> None:
    dataset = SourceDataset(source(Count(10), Count(11, 100), shared=False), Mode(False, 4, drop))
    for _ in range(2):
        batches = [i.numpy().tolist() for i, _ in dataset]
        assert [len(b) for b in batches] == [4] * 5 + ([] if drop else [1])
        if not drop:
            assert sorted(sum(batches, [])) == [*range(10), *range(100, 111)]


def test_without_a_length_a_pass_is_all_that_comes_and_endless_goes_on(source: Any) -> None:
    one = source(Unknown(), Unknown(), shared=True)
    assert sorted(numbers(SourceDataset(one, Mode()))) == sorted([*range(7)] * 2)
    endless = iter(SourceDataset(one, Mode(True)))
    assert len([next(endless) for _ in range(40)]) == 40


def test_ragged_datapoints_fit_an_open_signature(source: Any) -> None:
    signature = Signature.from_specs([tf.TensorSpec((None,), tf.int64)])
    dataset = SourceDataset(source(Ragged(), shared=False, signature=signature), Mode())
    assert [x.numpy().tolist() for x, in dataset] == [list(range(i // 3)) for i in range(20)]


def test_components_without_elements_are_batched(source: Any) -> None:
    class Hollow(DataFlow):
        def __iter__(self) -> Iterator[Any]:
            for i in range(6):
                yield [np.zeros((0, 3), "float32"), i]

    batches = list(SourceDataset(source(Hollow(), shared=False), Mode(False, 4)))
    assert [(x.shape.as_list(), i.numpy().tolist()) for x, i in batches] == [
        ([4, 0, 3], [0, 1, 2, 3]), ([2, 0, 3], [4, 5])]


def test_stop_wakes_who_waits_for_the_first_datapoint(source: Any) -> None:
    one, errors = source(Silent(), shared=True), []

    def wait() -> None:
        try:
            one.signature
        except DatasetEnded as e:
            errors.append(e)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while one._pool is None or not one._pool.started:
        waiting.join(0.01)
    one.stop()
    waiting.join(LONG)
    assert not waiting.is_alive() and len(errors) == 1
