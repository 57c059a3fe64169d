# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import imgaug

SIZES = st.integers(1, 30)


@settings(max_examples=60, deadline=None)
@given(h=SIZES, w=SIZES, seed=st.integers(0, 99), data=st.data())
def test_random_crop_is_a_part_of_the_image(h: int, w: int, seed: int,
                                            data: st.DataObject) -> None:
    ch, cw = data.draw(st.integers(1, h)), data.draw(st.integers(1, w))
    img = np.arange(h * w, dtype="float32").reshape(h, w)
    aug = imgaug.RandomCrop((ch, cw))
    aug.rng = np.random.RandomState(seed)
    out, t = aug.augment_return_params(img)
    assert out.shape == (ch, cw)
    np.testing.assert_array_equal(out, img[t.y0:t.y0 + ch, t.x0:t.x0 + cw])


def test_random_crop_reaches_every_place() -> None:
    img = np.arange(12).reshape(3, 4)
    aug = imgaug.RandomCrop(2)
    assert len({int(aug.augment(img)[0, 0]) for _ in range(300)}) == 6


def test_center_crop_by_hand() -> None:
    img = np.arange(5 * 8).reshape(5, 8)
    np.testing.assert_array_equal(imgaug.CenterCrop((2, 3)).augment(img), img[1:3, 2:5])
    np.testing.assert_array_equal(imgaug.CenterCrop((5, 8)).augment(img), img)


def test_random_shape_stays_within_its_bounds() -> None:
    img = np.zeros((20, 30, 3), np.uint8)
    shapes = set()
    aug = imgaug.RandomCropRandomShape(wmin=5, hmin=7, wmax=9, hmax=10)
    for _ in range(300):
        shapes.add(aug.augment(img).shape[:2])
    assert shapes == {(h, w) for h in range(7, 11) for w in range(5, 10)}
    assert imgaug.RandomCropRandomShape(30, 20).augment(img).shape == img.shape


@pytest.mark.parametrize("aug", [
    imgaug.RandomCrop((21, 3)), imgaug.CenterCrop(31), imgaug.RandomCropRandomShape(31, 2),
    imgaug.RandomCropRandomShape(2, 2, 3, 40), imgaug.RandomCutout(25, 2)], ids=repr)
def test_larger_than_the_image_is_refused(aug: imgaug.ImageAugmentor) -> None:
    with pytest.raises(ValueError, match=r"imgaug\..*an image of at least.*\(20, 30, 3\)"):
        aug.augment(np.zeros((20, 30, 3), np.uint8))


@pytest.mark.parametrize("bad", [0, (3,), (3, 4, 5), "ab", (3.5, 4), -2])
def test_crop_shapes_that_are_none(bad: object) -> None:
    with pytest.raises(ValueError, match="crop_shape"):
        imgaug.RandomCrop(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="crop_shape"):
        imgaug.CenterCrop(bad)  # type: ignore[arg-type]


def test_googlenet_area_and_ratio() -> None:
    img = np.zeros((100, 120, 3), np.uint8)
    aug = imgaug.GoogleNetRandomCropAndResize(target_shape=10)
    for seed in range(100):
        aug.rng = np.random.RandomState(seed)
        out, t = aug.augment_return_params(img)
        assert out.shape == (10, 10, 3)
        crop = t.tfms[0]
        assert 0.075 <= crop.h * crop.w / 12000 <= 1
        assert 0.7 <= crop.w / crop.h <= 1.4
        assert crop.y0 + crop.h <= 100 and crop.x0 + crop.w <= 120


def test_googlenet_falls_back_to_the_centre() -> None:
    img = np.zeros((10, 40), np.float32)
    img[:, 15:25] = 1
    aug = imgaug.GoogleNetRandomCropAndResize((1.0, 1.0), target_shape=20)
    out = aug.augment(img)  # the whole area at a ratio near 1 never fits
    assert out.shape == (20, 20)
    assert out[:, 2:-2].min() > 0.99
    with pytest.raises(ValueError, match="target_shape"):
        imgaug.GoogleNetRandomCropAndResize(target_shape=(3, 4))  # type: ignore[arg-type]


@pytest.mark.parametrize("h_range, heights", [(3, {3}), ((2, 5), {2, 3, 4})])
def test_cutout(h_range: object, heights: set[int]) -> None:
    img = np.full((12, 15, 3), 9, np.uint8)
    found = set()
    aug = imgaug.RandomCutout(h_range, 4, fill=77)  # type: ignore[arg-type]
    for _ in range(80):
        out = aug.augment(img)
        cut = np.argwhere((out == 77).all(axis=2))
        h, w = cut.max(axis=0) - cut.min(axis=0) + 1
        assert len(cut) == h * w and w == 4
        found.add(int(h))
    assert found == heights
