# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow.dataset import Digits


def test_shapes_and_counts():
    train, test = Digits("train"), Digits("test")
    assert (len(train), len(test)) == (1297, 500)
    image, label = next(iter(train))
    assert image.shape == (8, 8) and image.dtype == np.float32 and type(label) is int
    everything = list(train) + list(test)
    values = np.unique(np.stack([dp[0] for dp in everything]))
    np.testing.assert_array_equal(values, np.arange(17) / 16)
    # the class counts that UCI's description states for this file (optdigits.names, testing)
    assert np.bincount([dp[1] for dp in everything]).tolist() == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_a_nearest_neighbour_can_read_them():
    train, test = list(Digits("train")), list(Digits("test", shuffle=False))
    x = np.stack([dp[0].ravel() for dp in train])
    y = np.array([dp[1] for dp in train])
    q = np.stack([dp[0].ravel() for dp in test])
    nearest = ((q ** 2).sum(1)[:, None] - 2 * q @ x.T + (x ** 2).sum(1)).argmin(1)
    assert np.mean(y[nearest] == [dp[1] for dp in test]) > 0.94


def test_order():
    first, second = ([dp[1] for dp in Digits("test", shuffle=False)] for _ in range(2))
    assert first == second
    ds = Digits("test")
    assert [dp[1] for dp in ds] != [dp[1] for dp in ds]


def test_wrong_name():
    with pytest.raises(ValueError, match="'val'"):
        Digits("val")
