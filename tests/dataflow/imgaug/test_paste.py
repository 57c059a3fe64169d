# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow import imgaug

IMG = np.full((3, 4, 3), 9, np.uint8)


@pytest.mark.parametrize("img", [IMG, IMG[:, :, 0], IMG[:, :, :1], IMG.astype("float32")],
                         ids=lambda x: f"{x.shape}{x.dtype}")
def test_center_paste(img: np.ndarray) -> None:
    out, t = imgaug.CenterPaste((6, 9), imgaug.ConstantBackgroundFiller(7)
                                ).augment_return_params(img)
    want = np.full((6, 9, *img.shape[2:]), 7, img.dtype)
    want[1:4, 2:6] = 9
    np.testing.assert_array_equal(out, want)
    assert out.dtype == img.dtype
    np.testing.assert_array_equal(t.apply_coords(np.array([[0.5, 1]])), [[2.5, 2]])


def test_random_paste_reaches_every_place() -> None:
    aug = imgaug.RandomPaste((5, 6))
    seen = set()
    for seed in range(100):
        aug.rng = np.random.RandomState(seed)
        out, t = aug.augment_return_params(IMG)
        y, x = np.argwhere(out[:, :, 0] == 9).min(axis=0)
        assert (out == 9).sum() == IMG.size
        np.testing.assert_array_equal(t.apply_coords(np.zeros((1, 2))), [[x, y]])
        seen.add((int(y), int(x)))
    assert seen == {(y, x) for y in range(2) for x in range(2)}


def test_own_filler() -> None:
    class Ramp(imgaug.BackgroundFiller):
        def _fill(self, background_shape: tuple, img: np.ndarray) -> np.ndarray:
            out = np.zeros((*background_shape, 3), img.dtype)
            out[:] = np.arange(background_shape[1])[:, None]
            return out

    out = imgaug.CenterPaste(6, Ramp()).augment(IMG)
    assert out[0, :, 0].tolist() == [0, 1, 2, 3, 4, 5]
    assert out[1, :, 0].tolist() == [0, 9, 9, 9, 9, 5]
    with pytest.raises(NotImplementedError, match="_fill"):
        imgaug.BackgroundFiller().fill((3, 4), IMG)


def test_refuses_a_background_that_is_too_small() -> None:
    with pytest.raises(ValueError, match=r"at most \(3, 3\).*\(3, 4, 3\)"):
        imgaug.CenterPaste(3).augment(IMG)
    with pytest.raises(ValueError, match="at most"):
        imgaug.RandomPaste(3).augment(IMG)
