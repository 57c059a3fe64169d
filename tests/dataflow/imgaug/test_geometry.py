# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import imgaug


def turned(aug: imgaug.Rotation, deg: float) -> imgaug.Rotation:
    """Make ``aug`` draw the middle of its ranges, except for the angle."""
    class Fixed(np.random.RandomState):
        def uniform(self, low: float, high: float, size: object = None) -> np.ndarray:
            if size == (2,):
                return np.full(2, (low + high) / 2)
            return np.asarray(deg)
    aug.rng = Fixed()
    return aug


def test_shift_moves_by_whole_pixels() -> None:
    img = np.zeros((20, 30), np.uint8)
    img[10, 15] = 255
    aug = imgaug.Shift(0.2, 0.3, border=cv2.BORDER_CONSTANT)
    seen = set()
    for seed in range(60):
        aug.rng = np.random.RandomState(seed)
        t = aug.get_transform(img)
        [[y, x]] = np.argwhere(t.apply_image(img) == 255)
        assert abs(x - 15) <= 6 and abs(y - 10) <= 6
        np.testing.assert_allclose(t.apply_coords(np.array([[15.5, 10.5]])), [[x + 0.5, y + 0.5]])
        seen.add((y, x))
    assert len(seen) > 30


def test_a_quarter_turn_is_rot90() -> None:
    img = np.random.RandomState(0).randint(0, 256, (9, 9, 3)).astype("uint8")
    t = turned(imgaug.Rotation(90), 90).get_transform(img)
    np.testing.assert_array_equal(t.apply_image(img), np.rot90(img))
    # the pixel that was upper left is lower left now; its centre is (0, 0) for OpenCV
    np.testing.assert_allclose(t.apply_coords(np.array([[0., 0.]])), [[0, 8]], atol=1e-6)


def test_rotation_steps() -> None:
    aug = imgaug.Rotation(180, step_deg=45)
    found = set()
    for seed in range(60):
        aug.rng = np.random.RandomState(seed)
        mat = aug.get_transform(np.zeros((9, 9))).mat
        found.add(round(math.degrees(math.atan2(mat[0, 1], mat[0, 0]))) % 360)
    assert found == set(range(0, 360, 45))


@pytest.mark.parametrize("cls", [imgaug.Rotation, imgaug.RotationAndCropValid])
@pytest.mark.parametrize("max_deg, step", [(30, 10), (180, 50)])
def test_steps_that_do_not_fit_are_refused(cls: type, max_deg: float, step: float) -> None:
    with pytest.raises(ValueError, match="divides 180"):
        cls(max_deg, step_deg=step)


@settings(max_examples=100, deadline=None)
@given(w=st.integers(8, 80), h=st.integers(8, 80), deg=st.floats(-180, 180))
def test_valid_crop_lies_within_the_rotated_image(w: int, h: int, deg: float) -> None:
    new_w, new_h = imgaug.RotationAndCropValid.largest_rotated_rect(w, h, math.radians(deg))
    sin, cos = math.sin(math.radians(deg)), math.cos(math.radians(deg))
    for x, y in ((new_w / 2, new_h / 2), (new_w / 2, -new_h / 2)):
        back = abs(x * cos + y * sin), abs(-x * sin + y * cos)  # into the image's own axes
        assert back[0] <= w / 2 + 1 and back[1] <= h / 2 + 1    # sizes are rounded to pixels


def test_valid_crop_has_no_border() -> None:
    img = np.full((60, 80, 3), 200, np.uint8)
    aug = imgaug.RotationAndCropValid(40)
    for seed in range(20):
        aug.rng = np.random.RandomState(seed)
        out = aug.augment(img)
        assert out[2:-2, 2:-2].min() == 200
        assert out.shape[0] >= 20 and out.shape[1] >= 20


def test_affine_without_arguments_changes_nothing() -> None:
    img = np.random.RandomState(0).randint(0, 256, (11, 14, 3)).astype("uint8")
    t = imgaug.Affine().get_transform(img)
    np.testing.assert_array_equal(t.apply_image(img), img)
    np.testing.assert_array_equal(t.apply_coords(np.array([[3., 4.]])), [[3., 4.]])


def test_affine_scales_and_shears_about_the_centre() -> None:
    img = np.zeros((21, 31))
    center = np.array([[15., 10.]])
    for seed in range(10):
        aug = imgaug.Affine(scale=(0.5, 2), rotate_max_deg=50, shear=30)
        aug.rng = np.random.RandomState(seed)
        np.testing.assert_allclose(aug.get_transform(img).apply_coords(center), center, atol=1e-9)
    aug = imgaug.Affine(scale=(2, 2))
    np.testing.assert_allclose(aug.get_transform(img).apply_coords(center + 1), center + 2)
    aug = imgaug.Affine(shear=30)
    mat = aug.get_transform(img).mat
    np.testing.assert_allclose(mat[:, 0], [1, 0], atol=1e-12)     # x stays
    np.testing.assert_allclose(np.hypot(*mat[:, 1]), 1)           # y turns
    assert abs(math.degrees(math.asin(mat[0, 1]))) <= 30


@pytest.mark.parametrize("bad", [{"scale": 2}, {"translate_frac": (1, 2, 3)}, {"shear": -1}])
def test_affine_refuses(bad: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        imgaug.Affine(**bad)  # type: ignore[arg-type]
