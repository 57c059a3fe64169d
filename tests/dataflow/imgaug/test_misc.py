# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow import imgaug

IMG = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def test_flip() -> None:
    np.testing.assert_array_equal(imgaug.Flip(horiz=True, prob=1).augment(IMG), IMG[:, ::-1])
    np.testing.assert_array_equal(imgaug.Flip(vert=True, prob=1).augment(IMG), IMG[::-1])
    np.testing.assert_array_equal(imgaug.Flip(vert=True, prob=0).augment(IMG), IMG)
    aug = imgaug.Flip(horiz=True, prob=0.3)
    aug.rng = np.random.RandomState(0)
    flips = sum(aug.augment(IMG)[0, 0, 0] != 0 for _ in range(2000))
    assert 500 < flips < 700
    for bad in ({}, {"horiz": True, "vert": True}):
        with pytest.raises(ValueError, match="two Flip"):
            imgaug.Flip(**bad)


def test_transpose() -> None:
    out = imgaug.Transpose(prob=1).augment(IMG)
    np.testing.assert_array_equal(out, IMG.transpose(1, 0, 2))
    assert out.flags.c_contiguous
    assert imgaug.Transpose(prob=0).augment(IMG) is IMG


def test_resize() -> None:
    assert imgaug.Resize(5).augment(IMG).shape == (5, 5, 3)
    assert imgaug.Resize((2, 3)).augment(IMG[:, :, :1]).shape == (2, 3, 1)
    assert imgaug.Resize((2, 3)).augment(IMG[:, :, 0]).shape == (2, 3)
    half = imgaug.Resize((2, 3)).augment(IMG.astype("float32"))
    np.testing.assert_allclose(half, IMG.reshape(2, 2, 3, 2, 3).mean(axis=(1, 3)))
    with pytest.raises(ValueError, match=r"Resize\(shape=\)"):
        imgaug.Resize((1, 2, 3))


@settings(max_examples=60, deadline=None)
@given(h=st.integers(1, 60), w=st.integers(1, 60), size=st.integers(1, 60))
def test_shortest_edge(h: int, w: int, size: int) -> None:
    t = imgaug.ResizeShortestEdge(size).get_transform(np.zeros((h, w)))
    assert min(t.new_h, t.new_w) == size
    assert abs(t.new_w - w * size / min(h, w)) <= 0.5
    assert abs(t.new_h - h * size / min(h, w)) <= 0.5


@pytest.mark.parametrize("xrange, yrange, limits", [
    ((0.5, 2.0), None, (10, 40)), ((10, 40), None, (10, 40)), ((10, 40), (15, 30), (10, 40))])
def test_random_resize_range_and_ratio(xrange: tuple, yrange: tuple, limits: tuple) -> None:
    img = np.zeros((20, 20))
    aug = imgaug.RandomResize(xrange, yrange, aspect_ratio_thres=0.2)
    for seed in range(80):
        aug.rng = np.random.RandomState(seed)
        t = aug.get_transform(img)
        assert limits[0] <= t.new_w <= limits[1]
        assert abs(t.new_w / t.new_h - 1) <= 0.2


def test_random_resize_keeps_the_ratio_and_the_minimum() -> None:
    img = np.zeros((20, 40))
    for seed in range(50):
        aug = imgaug.RandomResize((0.5, 2.0), aspect_ratio_thres=0)
        aug.rng = np.random.RandomState(seed)
        t = aug.get_transform(img)
        assert abs(t.new_w - 2 * t.new_h) <= 1
    assert imgaug.RandomResize((0.1, 0.2), minimum=(33, 22), aspect_ratio_thres=0).augment(
        img).shape == (22, 33)


def test_random_resize_gives_up_with_a_warning(caplog: pytest.LogCaptureFixture,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    img = np.zeros((20, 20))
    with caplog.at_level(logging.WARNING):
        out = imgaug.RandomResize((0.7, 0.8), (1.7, 1.9), aspect_ratio_thres=0.01).augment(img)
    assert out.shape == (20, 20)
    assert "RandomResize failed" in caplog.text + capsys.readouterr().out


@pytest.mark.parametrize("args", [((1, 2.0),), ((0.5, 1.0), (1, 2)), ((0.5, 1.), (0.5, 1.))])
def test_random_resize_refuses(args: tuple) -> None:
    with pytest.raises(ValueError, match="RandomResize"):
        imgaug.RandomResize(*args, aspect_ratio_thres=0)


def test_random_resize_counts_the_ratio_in_whole_pixels() -> None:
    aug = imgaug.RandomResize((0.7, 1.3), (0.8, 1.2))
    aug.rng = np.random.RandomState(2)
    # draws 0.9616 and 0.8104: 19 x 19, whose ratio is off by 0.15 exactly
    assert aug.augment(np.zeros((23, 20))).shape == (19, 19)
