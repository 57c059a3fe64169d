# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import cv2
import numpy as np

from tfqueue_compat.dataflow import imgaug

RED = np.full((2, 3, 3), [200, 0, 0], np.uint8)


def test_grayscale_weighs_red_by_0299() -> None:
    assert imgaug.Grayscale(rgb=True).augment(RED).tolist() == [[[60]] * 3] * 2
    assert imgaug.Grayscale(rgb=False).augment(RED)[0, 0, 0] == round(200 * 0.114)
    assert imgaug.Grayscale(keepdims=False).augment(RED).shape == (2, 3)
    same = imgaug.Grayscale(rgb=True, keepshape=True).augment(RED)
    assert same.shape == (2, 3, 3) and (same == 60).all()
    assert imgaug.Grayscale(keepdims=False, keepshape=True).augment(RED).shape == (2, 3, 3)


def test_colorspace() -> None:
    hsv = imgaug.ColorSpace(cv2.COLOR_RGB2HSV).augment(RED)
    assert hsv[0, 0].tolist() == [0, 255, 200]
    back = imgaug.ColorSpace(cv2.COLOR_HSV2RGB).augment(hsv)
    np.testing.assert_array_equal(back, RED)
    assert imgaug.ColorSpace(cv2.COLOR_RGB2GRAY).augment(RED).shape == (2, 3, 1)
    gray = np.zeros((2, 3), np.uint8)
    assert imgaug.ColorSpace(cv2.COLOR_GRAY2RGB).augment(gray).shape == (2, 3, 3)


def test_types() -> None:
    img = np.array([[-3.0, 1.9, 300.0]])
    assert imgaug.ToUint8().augment(img).tolist() == [[0, 1, 255]]
    assert imgaug.ToUint8().augment(img).dtype == np.uint8
    assert imgaug.ToFloat32().augment(RED).dtype == np.float32
