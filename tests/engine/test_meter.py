# SPDX-License-Identifier: Apache-2.0
"""The meter's counts add up, and its verdict names who waited."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.engine import Meter, Signature
from tfqueue_compat.engine import meter as meter_module
from tfqueue_compat.engine.dataset import SourceDataset
from tfqueue_compat.engine.source import Source
from tfqueue_compat.engine.stream import Mode


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(meter_module.time, "perf_counter", lambda: self.now)


@pytest.mark.parametrize("n, mode", [(7, Mode()), (700, Mode()), (8, Mode(group=3)),
                                     (8, Mode(group=3, drop_remainder=True)), (0, Mode())])
def test_after_a_pass_all_is_consumed_or_dropped(n: int, mode: Mode) -> None:
    source = Source([[i] for i in range(n)], 4, Signature.infer([0]))
    elements = sum(1 for _ in SourceDataset(source, mode))
    source.stop()
    meter = source.meter
    consumed = elements * 3 if mode.drop_remainder else n
    assert (meter.produced, meter.consumed, meter.occupancy) == (n, consumed, 0)


def test_eager_iteration_is_counted_datapoint_by_datapoint() -> None:
    source = Source([[i] for i in range(2000)], 100, Signature.infer([0]))
    iterator = iter(SourceDataset(source, Mode()))
    for i in range(1500):
        next(iterator)
        assert source.meter.consumed >= i + 1
    assert source.meter.consumed <= source.meter.produced
    source.stop()


def test_what_waits_is_the_occupancy() -> None:
    release = threading.Event()

    def produce() -> Iterator[Any]:
        for i in range(6):
            yield [np.zeros(1 << 20, "uint8"), i]  # crosses alone
        release.wait(60)

    source = Source(produce, 50)
    iterator = iter(SourceDataset(source, Mode()))
    next(iterator)
    end = time.monotonic() + 30
    while source.meter.produced < 6 and time.monotonic() < end:
        time.sleep(0.01)
    assert source.meter.occupancy == source.meter.produced - source.meter.consumed
    assert source.meter.produced == 6 and 1 <= source.meter.consumed <= 2
    release.set()
    source.stop()


def test_it_is_known_who_waits() -> None:
    def slow() -> Iterator[Any]:
        for i in range(10):
            time.sleep(0.01)
            yield [i]

    source = Source(slow, 5)
    for _ in SourceDataset(source, Mode()):
        pass
    assert source.meter.consumer_wait > source.meter.producer_wait
    assert source.meter.verdict().startswith("data-bound")
    source.stop()

    source = Source(([np.zeros(1 << 20, "uint8")] for _ in range(12)), 1)
    for _ in SourceDataset(source, Mode()):
        time.sleep(0.02)
    assert source.meter.producer_wait > source.meter.consumer_wait
    assert source.meter.verdict().startswith("model-bound")
    source.stop()


@pytest.mark.parametrize("producer, consumer, verdict", [
    (0.0, 0.5, "data-bound: the model waited for data 50% of the time (10.0 datapoints/s)"),
    (0.25, 0.0, "model-bound: the dataflow waited for the model 25% of the time (10.0 "),
    (0.04, 0.04, "balanced: neither waited for the other for long (10.0 datapoints/s)")])
def test_verdict(monkeypatch: pytest.MonkeyPatch, producer: float, consumer: float,
                 verdict: str) -> None:
    clock, meter = Clock(monkeypatch), Meter(5)
    assert meter.verdict() == "no data has passed yet"
    meter.start()
    clock.now += 10
    meter.produced = 100
    meter.took(100)
    meter.took(0)
    meter.producer_wait, meter.consumer_wait = producer * 10, consumer * 10
    assert meter.verdict().startswith(verdict)


def test_the_history_is_bounded_and_reaches_from_start_to_end(
        monkeypatch: pytest.MonkeyPatch) -> None:
    clock, meter = Clock(monkeypatch), Meter(5)
    assert meter.seconds == 0.0
    meter.start()
    for i in range(40_000):
        clock.now += 0.05
        meter.produced += 1
        meter.took(1)
    history = meter.history()
    times = [t for t, _ in history]
    assert len(history) <= 4097 and times == sorted(times)
    assert times[0] < 10 and times[-1] > 1990 and meter.seconds == pytest.approx(2000)
    assert {occupancy for _, occupancy in history} == {1}  # the one that TensorFlow works on


def test_it_prints_its_numbers() -> None:
    assert repr(Meter(5)) == ("Meter(produced=0, consumed=0, occupancy=0, producer_wait=0.000s, "
                              "consumer_wait=0.000s)")


def test_a_wait_that_goes_on_counts_for_the_time_in_which_it_is() -> None:
    source = Source(([i] for i in range(100)), 1)
    iterator = iter(SourceDataset(source, Mode()))
    next(iterator)
    time.sleep(0.3)
    before = source.meter.read()
    time.sleep(0.1)
    shares = source.meter.read().since(before)
    source.stop()
    assert shares.data_waited == pytest.approx(1.0, abs=0.05)
