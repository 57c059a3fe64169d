# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tfqueue_compat.dataflow import imgaug

RAMP = np.arange(256, dtype=np.uint8).reshape(16, 16)
COLOR = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype("uint8")


def with_params(aug: imgaug.PhotometricAugmentor, img: np.ndarray, params: Any) -> np.ndarray:
    return aug.augment_with_params(img, params)


def test_brightness_adds_and_clips() -> None:
    out = with_params(imgaug.Brightness(50), RAMP, np.float32(20.5))
    np.testing.assert_array_equal(out, np.minimum(RAMP.astype(int) + 20, 255))
    out = with_params(imgaug.Brightness(50), RAMP.astype("float32"), -20)
    np.testing.assert_array_equal(out, np.maximum(RAMP.astype(int) - 20, 0))
    free = imgaug.Brightness(50, clip=False)
    np.testing.assert_array_equal(with_params(free, RAMP.astype("float32"), -20),
                                  RAMP.astype(int) - 20)
    np.testing.assert_array_equal(with_params(free, RAMP, -20),
                                  np.maximum(RAMP.astype(int), 20) - 20)
    with pytest.raises(ValueError, match="delta"):
        imgaug.Brightness(-1)


def test_brightness_scale() -> None:
    out = with_params(imgaug.BrightnessScale((1, 2)), RAMP, 1.5)
    np.testing.assert_array_equal(out, np.minimum(RAMP * 1.5, 255).astype("uint8"))


@pytest.mark.parametrize("img", [COLOR, COLOR[:, :, 0], COLOR[:, :, :2], COLOR[:, :, :1],
                                 np.tile(COLOR, (1, 1, 2))], ids=lambda x: str(x.shape))
def test_contrast_scales_about_each_channels_mean(img: np.ndarray) -> None:
    mean = img.reshape(35, -1).mean(axis=0)
    want = (img - mean) * 0.5 + mean if img.ndim == 3 else (img - mean[0]) * 0.5 + mean[0]
    out = with_params(imgaug.Contrast((0, 1)), img, np.float32(0.5))
    assert out.shape == img.shape and out.dtype == np.uint8
    assert np.abs(out - want).max() <= 1  # cut to whole numbers
    out = with_params(imgaug.Contrast((0, 1)), img.astype("float32"), np.float32(0.5))
    np.testing.assert_allclose(out, want, atol=1e-3)


def test_contrast_about_the_gray_mean() -> None:
    mean = (COLOR @ [0.299, 0.587, 0.114]).mean()
    out = with_params(imgaug.Contrast((0, 1), rgb=True), COLOR.astype("float32"), np.float32(0))
    np.testing.assert_allclose(out, mean, atol=1e-3)
    out = with_params(imgaug.Contrast((0, 1), rgb=False), COLOR.astype("float32"), np.float32(0))
    np.testing.assert_allclose(out, (COLOR @ [0.114, 0.587, 0.299]).mean(), atol=1e-3)
    gray = with_params(imgaug.Contrast((0, 1), rgb=True), RAMP[:, :, None], np.float32(0))
    assert (gray == 127).all()


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9).map(
    lambda s: (*s, 3))), st.floats(0.1, 3))
def test_bytes_and_floats_agree(img: np.ndarray, factor: float) -> None:
    params = np.float32(factor)
    for aug in (imgaug.Brightness(5), imgaug.BrightnessScale((0, 3)), imgaug.Contrast((0, 3)),
                imgaug.Lighting(1, [3, 2, 1], np.eye(3))):
        drawn: Any = np.float32([factor, -1, 2]) if isinstance(aug, imgaug.Lighting) else params
        wide = with_params(aug, img.astype("float32"), drawn)
        # the mean of floats is rounded as float32: a value next to a whole number may fall
        assert np.abs(with_params(aug, img, drawn) - np.floor(wide)).max() <= 1


def test_normalize() -> None:
    for aug, axis in ((imgaug.MeanVarianceNormalize(), None),
                      (imgaug.MeanVarianceNormalize(all_channel=False), (0, 1))):
        out = aug.augment(COLOR)
        assert out.dtype == np.float32
        np.testing.assert_allclose(out.mean(axis=axis), 0, atol=1e-6)
        np.testing.assert_allclose(out.std(axis=axis), 1, atol=1e-6)
    flat = np.full((4, 4, 3), 7, np.uint8)
    assert (imgaug.MeanVarianceNormalize().augment(flat) == 0).all()
    out = imgaug.MinMaxNormalize(-1, 3).augment(COLOR)
    assert out.dtype == np.float32 and (out.min(), out.max()) == (-1, 3)
    each = imgaug.MinMaxNormalize(0, 1, all_channel=False).augment(COLOR)
    np.testing.assert_array_equal(each.min(axis=(0, 1)), 0)
    np.testing.assert_array_equal(each.max(axis=(0, 1)), 1)
    assert (imgaug.MinMaxNormalize(2, 9).augment(flat) == 2).all()


def test_blur() -> None:
    dot = np.zeros((9, 9, 1), np.float32)
    dot[4, 4] = 1
    same = with_params(imgaug.GaussianBlur(), dot, ((1, 1), (0.0, 0.0)))
    np.testing.assert_array_equal(same, dot)
    out = with_params(imgaug.GaussianBlur(), dot, ((3, 1), (0.0, 0.0)))
    np.testing.assert_allclose(out[4, 2:7, 0], [0, 0.25, 0.5, 0.25, 0])  # along x alone
    assert out[3].max() == 0
    sizes = {imgaug.GaussianBlur(3)._get_augment_params(dot)[0] for _ in range(60)}
    assert sizes == {(1, 1), (3, 3), (5, 5)}
    assert imgaug.GaussianBlur(max_size=2).size_range == (0, 2)


def test_gamma() -> None:
    out = with_params(imgaug.Gamma(), RAMP, np.float32(1))
    np.testing.assert_array_equal(out, (np.sqrt(np.float32(RAMP) / 255) * 255).astype("uint8"))
    floats = with_params(imgaug.Gamma(), np.float32([[300, -4, 64.9]]), np.float32(0))
    assert floats.dtype == np.float32 and floats.tolist() == [[255, 0, 64]]


def test_clip() -> None:
    assert imgaug.Clip(50, 100).augment(RAMP).min() == 50
    assert imgaug.Clip(50, 100).augment(RAMP).max() == 100


def test_hue_turns_the_circle() -> None:
    red = np.full((2, 2, 3), [255, 0, 0], np.uint8)
    green = [0, 255, 0]
    assert with_params(imgaug.Hue(), red, np.float32(60))[0, 0].tolist() == green
    assert with_params(imgaug.Hue(rgb=False), red, np.float32(60))[0, 0].tolist() == [0, 0, 255]
    unit = (red / 255).astype("float32")
    np.testing.assert_allclose(with_params(imgaug.Hue(), unit, np.float32(60))[0, 0], [0, 1, 0],
                               atol=1e-6)
    back = with_params(imgaug.Hue(), with_params(imgaug.Hue(), red, 100), 80)
    np.testing.assert_array_equal(back, red)


def test_saturation_mixes_with_gray() -> None:
    floats = COLOR.astype("float32")
    gray = floats @ np.float32([0.299, 0.587, 0.114])
    out = with_params(imgaug.Saturation(clip=False), floats, np.float32(0))
    np.testing.assert_allclose(out, np.repeat(gray[..., None], 3, axis=2), atol=1e-3)
    np.testing.assert_array_equal(with_params(imgaug.Saturation(), COLOR, np.float32(1)), COLOR)
    with pytest.raises(ValueError, match="alpha"):
        imgaug.Saturation(1.5)


def test_lighting_adds_along_the_eigenvectors() -> None:
    vectors = np.array([[1, 0, 0], [0, 0, 2], [0, 3, 0]])
    aug = imgaug.Lighting(0.1, [10, 20, 30], vectors, clip=False)
    out = with_params(aug, np.zeros((2, 2, 3), np.float32), np.float32([1, 0.5, -1]))
    assert out[0, 0].tolist() == [10, -60, 30]
    with pytest.raises(ValueError, match=r"\(2,\)"):
        imgaug.Lighting(0.1, [1, 2], vectors)


@pytest.mark.parametrize("aug", [
    imgaug.Hue(), imgaug.Saturation(), imgaug.Lighting(0.1, [1, 2, 3], np.eye(3))],
    ids=lambda a: type(a).__name__)
def test_colour_augmentors_refuse_gray(aug: imgaug.ImageAugmentor) -> None:
    with pytest.raises(ValueError, match=r"colour.*\(16, 16\), dtype uint8"):
        aug.augment(RAMP)


def test_same_values_without_opencv() -> None:
    code = ("import sys, numpy as np\n"
            "if sys.argv[1] == 'without': sys.modules['cv2'] = None\n"
            "from tfqueue_compat.dataflow import imgaug\n"
            "img = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype('uint8')\n"
            "for a in (imgaug.Brightness(9), imgaug.Contrast((0, 2)), imgaug.Gamma(),\n"
            "          imgaug.Lighting(1, [3, 2, 1], np.eye(3))):\n"
            "    for x in (img, img[:, :, :1], img[:, :, 0]):\n"
            "        if x.shape[-1] == 3 or not isinstance(a, imgaug.Lighting):\n"
            "            a.rng = np.random.RandomState(1)\n"
            "            print(a.augment(x).shape, a.augment_with_params(x, "
            "a._get_augment_params(x) * 0 + 2).tolist())\n")
    outs = [subprocess.run([sys.executable, "-c", code, way], capture_output=True, text=True,
                           timeout=120, check=True).stdout for way in ("with", "without")]
    assert outs[0] == outs[1] and outs[0].count("\n") == 10
