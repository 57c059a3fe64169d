# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import os
import sys

import numpy as np
import pytest

from tfqueue_compat.utils import (change_env, execute_only_once, fix_rng_seed, get_rng, get_tqdm,
                                  humanize_time_delta, utils)


def test_change_env(monkeypatch):
    monkeypatch.setenv("TFQ_A", "before")
    with change_env("TFQ_A", 1), change_env("TFQ_B", "x"):
        assert os.environ["TFQ_A"] == "1" and os.environ["TFQ_B"] == "x"
    assert os.environ["TFQ_A"] == "before" and "TFQ_B" not in os.environ


def test_rng(monkeypatch):
    monkeypatch.setattr(utils, "_RNG_SEED", None)
    a, b = object(), object()
    assert get_rng(a).randint(2**31) != get_rng(b).randint(2**31)
    assert get_rng(a).randint(2**31) != get_rng(a).randint(2**31)
    fix_rng_seed(42)
    want = np.random.RandomState(42).rand(3)
    np.testing.assert_array_equal(get_rng(a).rand(3), want)
    np.testing.assert_array_equal(get_rng().rand(3), want)


@pytest.mark.parametrize("sec, text", [
    (0, "0 second"), (0.5, "0.5 second"), (1, "1 second"), (61.5, "1 minute 1 second"),
    (3661, "1 hour 1 minute 1 second"), (7322, "2 hours 2 minutes 2 seconds"),
    (86400, "1 day")])
def test_humanize(sec, text):
    assert humanize_time_delta(sec) == text


def test_humanize_negative():
    with pytest.raises(ValueError, match="seconds >= 0"):
        humanize_time_delta(-1)


def test_execute_only_once():
    got = []
    for _ in range(3):
        got.append(execute_only_once())
    assert got == [True, False, False]
    assert execute_only_once()  # another line


def test_tqdm(monkeypatch):
    monkeypatch.setenv("TENSORPACK_PROGRESS_REFRESH", "0.25")
    assert utils.get_tqdm_kwargs(total=3)["mininterval"] == 0.25
    assert utils.get_tqdm_kwargs(ascii=False)["ascii"] is False
    out = io.StringIO()
    assert list(get_tqdm(range(3), file=out, desc="bar")) == [0, 1, 2]
    assert "bar" in out.getvalue() and "3/3" in out.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_find_library():
    path = utils.find_library_full_path("c")
    assert os.path.isabs(path) and os.path.exists(path)
    assert utils.find_library_full_path("no-such-library") is None
