# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import weakref

import pytest

from tfqueue_compat.utils import argtools


def test_map_arg():
    @argtools.map_arg(a=abs, c=str)
    def f(a, b=-2, c=3):
        return a, b, c

    assert f(-1) == (1, -2, "3") and f(b=-5, a=-7) == (7, -5, "3")


def test_memoized():
    calls = []

    @argtools.memoized
    def f(x):
        calls.append(x)
        return x

    assert (f(1), f(1), f(2)) == (1, 1, 2) and calls == [1, 2]


def test_memoized_ignoreargs():
    @argtools.memoized_ignoreargs
    def f(x):
        return x

    assert (f(1), f(2)) == (1, 1)


def test_memoized_method_lives_and_dies_with_the_object():
    class A:
        calls = 0

        @argtools.memoized_method
        def f(self, x):
            self.calls += 1
            return self, x

    a, b = A(), A()
    assert a.f(1) == a.f(1) == (a, 1) and a.f(2)[1] == 2 and a.calls == 2
    assert b.f(1) == (b, 1) and b.calls == 1
    ref = weakref.ref(a)
    del a
    gc.collect()
    assert ref() is None


def test_call_only_once():
    class A:
        @argtools.call_only_once
        def f(self):
            return 1

    a = A()
    assert a.f() == 1 and A().f() == 1
    with pytest.raises(RuntimeError, match="A.f"):
        a.f()


def test_log_once(capsys):
    for _ in range(3):
        argtools.log_once("said once, for this test", "warning")
    out = capsys.readouterr().out
    assert out.count("said once") == 1 and "test_argtools.py" in out


def test_shapes():
    assert argtools.shape2d(3) == [3, 3] and argtools.shape2d((1, 2)) == [1, 2]
    assert argtools.shape4d(3) == [1, 3, 3, 1]
    assert argtools.shape4d((1, 2), "NCHW") == argtools.shape4d([1, 2], "channels_first") == [
        1, 1, 1, 2]
    for bad in ((1, 2, 3), "a", None):
        with pytest.raises(ValueError, match="shape2d"):
            argtools.shape2d(bad)


def test_data_format():
    assert argtools.get_data_format("NHWC") == "channels_last"
    assert argtools.get_data_format("channels_first", keras_mode=False) == "NCHW"
    with pytest.raises(ValueError, match="NHWC"):
        argtools.get_data_format("NHCW")


def test_graph_memoized():
    tf = pytest.importorskip("tensorflow")

    @argtools.graph_memoized
    def f(x):
        return object()

    with tf.Graph().as_default():
        first = f(1)
        assert f(1) is first and f(2) is not first
    with tf.Graph().as_default():
        assert f(1) is not first
