# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow import imgaug

GRAY = np.full((60, 70, 3), 128, np.uint8)


def test_gaussian() -> None:
    out = imgaug.GaussianNoise(5).augment(GRAY.astype("float32"))
    assert out.dtype == np.float32
    assert abs(out.mean() - 128) < 0.5 and abs(out.std() - 5) < 0.5
    assert imgaug.GaussianNoise(500, clip=False).augment(GRAY).dtype == np.uint8
    wild = imgaug.GaussianNoise(500, clip=False).augment(GRAY)  # clipped all the same: bytes
    assert (wild == 0).mean() > 0.3 and (wild == 255).mean() > 0.3
    free = imgaug.GaussianNoise(500, clip=False).augment(GRAY.astype("float32"))
    assert free.min() < 0 and free.max() > 255


def test_salt_and_pepper() -> None:
    out = imgaug.SaltPepperNoise(0.2, 0.1).augment(GRAY)
    assert abs((out == 255).mean() - 0.2) < 0.03
    assert abs((out == 0).mean() - 0.1) < 0.03
    assert abs((out == 128).mean() - 0.7) < 0.03
    with pytest.raises(ValueError, match="at most 1"):
        imgaug.SaltPepperNoise(0.8, 0.3)


def test_jpeg() -> None:
    draw = np.random.RandomState(0).randint(0, 256, (8, 8, 3)).astype("uint8")
    draw = imgaug.Resize(64, 2).augment(draw)
    worse, better = (imgaug.JpegNoise(q).augment(draw) for q in ((5, 6), (95, 96)))
    assert worse.shape == draw.shape and worse.dtype == np.uint8
    errors = [np.abs(x.astype(int) - draw).mean() for x in (worse, better)]
    assert 0 < errors[1] < errors[0] / 2
    assert np.abs(imgaug.JpegNoise().augment(GRAY).astype(int) - 128).max() <= 2
    assert imgaug.JpegNoise().augment(GRAY[:, :, 0]).shape == (60, 70, 3)
