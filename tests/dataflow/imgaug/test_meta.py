# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tfqueue_compat.dataflow import imgaug

IMG = np.arange(24, dtype=np.float32).reshape(4, 6)


def add(n: int) -> imgaug.MapImage:
    return imgaug.MapImage(lambda img: img + n, lambda c: c + n)


def test_identity() -> None:
    assert imgaug.Identity().augment(IMG) is IMG


def test_map_image() -> None:
    out, t = add(3).augment_return_params(IMG)
    np.testing.assert_array_equal(out, IMG + 3)
    np.testing.assert_array_equal(t.apply_coords(np.zeros((1, 2))), [[3, 3]])
    with pytest.raises(NotImplementedError, match="MapImage.*apply_coords"):
        imgaug.MapImage(len).get_transform(IMG).apply_coords(np.zeros((1, 2)))


def test_random_apply() -> None:
    aug = imgaug.RandomApplyAug(add(1), 0.25)
    aug.rng = np.random.RandomState(0)
    hits = sum(aug.augment(IMG)[0, 0] == 1 for _ in range(2000))
    assert 430 < hits < 570


@pytest.mark.parametrize("prob", [None, (0.5, 0.3, 0.2)])
def test_random_choose(prob: tuple[float, ...] | None) -> None:
    augs = [add(1), add(2), add(3)]
    aug = imgaug.RandomChooseAug(augs if prob is None else list(zip(augs, prob)))
    aug.rng = np.random.RandomState(0)
    seen = Counter(int(aug.augment(IMG)[0, 0]) for _ in range(3000))
    for k, p in zip((1, 2, 3), prob or (1 / 3,) * 3):
        assert abs(seen[k] / 3000 - p) < 0.04


def test_random_choose_refuses() -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        imgaug.RandomChooseAug([(add(1), 0.5), (add(2), 0.2)])
    with pytest.raises(TypeError, match="number 0"):
        imgaug.RandomChooseAug([3])


def test_random_order() -> None:
    double = imgaug.MapImage(lambda img: img * 2, lambda c: c * 2)
    aug = imgaug.RandomOrderAug([add(1), double])
    seen = Counter()
    for seed in range(60):
        aug.rng = np.random.RandomState(seed)
        out, t = aug.augment_return_params(IMG)
        first = int(out[0, 0])
        assert t.apply_coords(np.zeros((1, 2))).tolist() == [[first, first]]
        seen[first] += 1
    assert set(seen) == {1, 2} and min(seen.values()) > 15


def test_reset_state_reaches_what_is_inside() -> None:
    for make in (lambda a: imgaug.RandomApplyAug(a, 1), lambda a: imgaug.RandomChooseAug([a]),
                 lambda a: imgaug.RandomOrderAug([a]), lambda a: imgaug.AugmentorList([a])):
        inner = imgaug.RandomCrop(2)
        outer = make(inner)
        before = inner.rng
        outer.reset_state()
        assert inner.rng is not before
