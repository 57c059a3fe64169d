# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np
import pytest

from tfqueue_compat.dataflow import (BatchData, DataFlow, DataFromList, FakeData, JoinData,
                                     MapData, PrintData, TestDataSpeed)
from tfqueue_compat.dataflow.probe import count_bytes


def test_print_data(capsys):
    dp = [np.arange(6, dtype="float32").reshape(2, 3), 7, 2.5, "text", None, np.zeros((0, 2)),
          [1, [2, [3, [4]]]], {"a": np.array([True, False])}, list(range(9))]
    source = DataFromList([dp] * 3, shuffle=False)
    ds = PrintData(source, num=2, name="mine")
    assert [len(p) for p in ds] == [9, 9, 9]
    text = capsys.readouterr().out
    assert "(mine)" in text
    assert text.count("with 9 components") == 2
    assert "0: ndarray:float32 of shape (2, 3) in range [0.0, 5.0]" in text
    assert "1: int with value 7" in text and "ndarray:float64 of shape (0, 2)" in text
    assert "ndarray:bool of shape (2,) in range [False, True]" in text
    assert "list of len 9" in text and "..." in text


def test_print_data_of_a_dict(capsys):
    list(PrintData(DataFromList([{"image": np.zeros(2)}])))
    assert "image: ndarray:float64 of shape (2,)" in capsys.readouterr().out


class Slow(DataFlow):
    def __iter__(self):
        while True:
            time.sleep(0.004)
            yield [np.zeros(10)]


def test_speed_tells_which_stage_takes_the_time(capsys):
    def work(dp):
        time.sleep(0.001)
        return dp

    ds = TestDataSpeed(BatchData(MapData(Slow(), work), 2), size=20, warmup=1)
    result = ds.start()
    assert result["datapoints"] == 20
    names = [name for name, _ in result["stages"]]
    shares = dict(result["stages"])
    assert names == ["Slow", "MapData", "BatchData"]
    assert shares["Slow"] > shares["MapData"] > shares["BatchData"]
    assert sum(shares.values()) == pytest.approx(1)
    assert result["bytes_per_second"] == pytest.approx(160 * result["datapoints_per_second"])
    assert "datapoints/s" in capsys.readouterr().out


def test_speed_begins_anew_at_the_end_and_then_yields():
    ds = TestDataSpeed(JoinData([FakeData([[1]], size=3)]), size=10)
    assert len(list(ds)) == 3
    assert ds.start_test()["datapoints"] == 10


def test_speed_of_nothing():
    with pytest.raises(RuntimeError, match="empty"):
        TestDataSpeed(DataFromList([]), size=1).start()


def test_count_bytes():
    assert count_bytes([np.zeros((2, 3), "float32"), 1, b"abc", {"a": np.uint8(1)}]) == 24 + 8 + 4
