# SPDX-License-Identifier: Apache-2.0
"""develop, stats, timer, serialize, naming, globvars, debug, gpu, nvml, palette."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pytest

from tfqueue_compat.utils import (compatible_serialize, debug, develop, globvars, gpu, naming,
                                  nvml, serialize, stats, timer)
from tfqueue_compat.utils.errors import NotSupported
from tfqueue_compat.utils.palette import PALETTE_RGB


def test_dummies():
    cls = develop.create_dummy_class("HDF5Data", "h5py")
    func = develop.create_dummy_func("load", ("a", "b"))
    with pytest.raises(ImportError, match="h5py.*HDF5Data"):
        cls("file")
    with pytest.raises(ImportError, match="h5py"):
        cls.some_method
    with pytest.raises(ImportError, match="a, b.*load"):
        func()


def test_deprecated(capsys):
    @develop.deprecated("Use g.", "2030-01-01", max_num_warnings=2)
    def f(x):
        return x

    assert [f(k) for k in range(4)] == [0, 1, 2, 3]
    out = capsys.readouterr().out
    assert out.count("deprecated. Use g. It ends on 2030-01-01.") == 2
    assert "test_small.py" in out  # where it was called
    with pytest.raises(ValueError):
        develop.log_deprecated()


def test_lazy_loader():
    name = "colorsys"
    sys.modules.pop(name, None)
    namespace = {}
    namespace["module"] = develop.LazyLoader("module", namespace, name)
    assert name not in sys.modules
    assert namespace["module"].rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)
    assert namespace["module"] is sys.modules[name]


def test_building_rtfd(monkeypatch):
    monkeypatch.delenv("READTHEDOCS", raising=False)
    monkeypatch.delenv("DOC_BUILDING", raising=False)
    assert not develop.building_rtfd()
    monkeypatch.setenv("READTHEDOCS", "True")
    assert develop.building_rtfd()


def test_stat_counter():
    c = stats.StatCounter()
    with pytest.raises(ValueError, match="feed"):
        c.average
    for v in (1.0, 4.0, 1.0):
        c.feed(v)
    assert (c.count, c.average, c.sum, c.max, c.min) == (3, 2.0, 6.0, 4.0, 1.0)
    assert c.samples() == [1.0, 4.0, 1.0]
    c.reset()
    assert c.count == 0
    c.feed(np.array([1, 2]))
    c.feed(np.array([3, 4]))
    assert c.average.tolist() == [2, 3]


def test_ratio_counter():
    c = stats.Accuracy()
    assert c.ratio == c.accuracy == 0
    c.feed(3, 4)
    c.feed(1)
    assert (c.count, c.total, c.accuracy) == (4, 5, 0.8)


def test_binary_statistics():
    s = stats.BinaryStatistics()
    assert (s.precision, s.recall, s.false_positive, s.false_negative) == (0, 0, 0, 0)
    s.feed(np.array([1, 0, 1, 1]), np.array([1, 1, 0, 1]))
    assert s.precision == s.recall == pytest.approx(2 / 3)
    assert s.false_positive == s.false_negative == pytest.approx(1 / 3)
    assert (s.nr_pos, s.nr_neg, s.corr_neg) == (3, 1, 0)
    with pytest.raises(ValueError, match="shape"):
        s.feed(np.zeros(2), np.zeros(3))


def test_online_moments():
    values = np.random.RandomState(0).rand(20, 3)
    m = stats.OnlineMoments()
    assert m.mean == m.variance == m.std == 0
    for v in values:
        m.feed(v)
    np.testing.assert_allclose(m.mean, values.mean(0))
    np.testing.assert_allclose(m.variance, values.var(0, ddof=1))
    np.testing.assert_allclose(m.std, values.std(0, ddof=1))


def test_timer():
    t = timer.Timer()
    time.sleep(0.02)
    t.pause()
    stopped = t.seconds()
    time.sleep(0.02)
    assert t.seconds() == stopped >= 0.02 and t.is_paused()
    with pytest.raises(RuntimeError):
        t.pause()
    t.resume()
    with pytest.raises(RuntimeError):
        t.resume()
    assert t.seconds() >= stopped
    t.reset()
    assert not t.is_paused() and t.seconds() < stopped + 10


def test_timed_operations(capsys, monkeypatch):
    monkeypatch.setattr(timer, "_totals", {})
    with timer.timed_operation("cooking", log_start=True):
        pass
    for _ in range(2):
        with timer.total_timer("eating"):
            pass
    timer.print_total_timer()
    speed = timer.IterSpeedCounter(2, "spoons")
    for _ in range(4):
        speed()
    out = capsys.readouterr().out
    assert "Start cooking" in out and "cooking finished, time:" in out
    assert "eating" in out and "2 times" in out and out.count("spoons:") == 2


OBJECT = [1, "a", b"b", {"x": np.arange(6, dtype="float32").reshape(2, 3)}, [np.uint8(3), None]]


@pytest.mark.parametrize("name", ["pickle", "msgpack"])
def test_serializers(name, monkeypatch):
    if name == "msgpack":
        pytest.importorskip("msgpack")
        pytest.importorskip("msgpack_numpy")
    monkeypatch.setenv("TENSORPACK_SERIALIZE", name)
    packed = serialize.dumps(OBJECT)
    assert isinstance(packed, bytes)
    for loads in (serialize.loads, compatible_serialize.loads):
        got = loads(memoryview(packed))
        assert got[:3] == OBJECT[:3] and got[4] == OBJECT[4]
        np.testing.assert_array_equal(got[3]["x"], OBJECT[3]["x"])
        assert got[3]["x"].dtype == np.float32


def test_serializers_that_are_not_there(monkeypatch):
    monkeypatch.setenv("TENSORPACK_SERIALIZE", "pyarrow")
    with pytest.raises(NotSupported, match="PickleSerializer"):
        serialize.dumps(1)
    monkeypatch.setenv("TENSORPACK_SERIALIZE", "json")
    with pytest.raises(ValueError, match="msgpack"):
        serialize.dumps(1)


def test_names_and_globals():
    assert naming.GLOBAL_STEP_INCR_OP_NAME == "global_step_incr"
    globvars.use_global_argument(argparse.Namespace(batch=3))
    assert globvars.globalns.batch == 3


def test_call_trace(capsys):
    def traced_function():
        return 1

    before = sys.getprofile()
    debug.enable_call_trace()
    try:
        traced_function()
    finally:
        sys.setprofile(before)
    assert "Call to traced_function" in capsys.readouterr().out


@pytest.mark.parametrize("value, n", [("", 0), ("-1", 0), ("0", 1), ("0,3", 2), ("GPU-ab", 1)])
def test_visible_gpus(monkeypatch, value, n):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", value)
    assert gpu.get_num_gpu() == gpu.get_nr_gpu() == n
    with gpu.change_gpu(-1):
        assert gpu.get_num_gpu() == 0
    with gpu.change_gpu([1, 2]):
        assert gpu.get_num_gpu() == 2


def test_gpus_of_the_machine(monkeypatch, tmp_path):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: A (UUID: x)'\necho 'GPU 1: B (UUID: y)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert gpu.get_num_gpu() == 2


def test_nvml_where_there_is_none(monkeypatch):
    monkeypatch.setattr(nvml, "_LIBRARY", "libno-such-nvml.so")
    monkeypatch.setattr(nvml, "_NVML", nvml.NVML())
    with pytest.raises(nvml.NvmlException, match="library not found"):
        with nvml.NVMLContext():
            pass


def test_palette():
    assert PALETTE_RGB.shape == (79, 3) and PALETTE_RGB.dtype == np.float32
    assert PALETTE_RGB.min() == 0 and PALETTE_RGB.max() == 255
    np.testing.assert_allclose(PALETTE_RGB[:2], [[0, 113.985, 188.955], [216.75, 82.875, 24.99]],
                               rtol=1e-6)
