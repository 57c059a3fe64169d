# SPDX-License-Identifier: Apache-2.0
"""With the other libraries themselves, where they are installed."""

from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow import imgaug

IMG = np.random.RandomState(0).randint(0, 256, (40, 50, 3)).astype("uint8")


def outs(aug: imgaug.ImageAugmentor, n: int = 8) -> list[np.ndarray]:
    found = []
    for seed in range(n):
        aug.rng = np.random.RandomState(seed)
        out, t = aug.augment_return_params(IMG)
        np.testing.assert_array_equal(t.apply_image(IMG), out)  # deterministic
        found.append(out)
    return found


def test_albumentations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_ALBUMENTATIONS_UPDATE", "1")
    lib = pytest.importorskip("albumentations")
    state = np.random.get_state()[1].tolist()
    found = outs(imgaug.Albumentations(lib.HorizontalFlip(p=0.5)))
    kinds = {(np.array_equal(x, IMG), np.array_equal(x, IMG[:, ::-1])) for x in found}
    assert kinds == {(True, False), (False, True)}
    both = imgaug.Albumentations(lib.Compose([lib.RandomCrop(20, 22), lib.ColorJitter(p=1)]))
    first, again = outs(both), outs(both)
    assert all(x.shape == (20, 22, 3) for x in first)
    np.testing.assert_array_equal(first, again)  # our seed decides
    assert len({x.tobytes() for x in first}) == 8
    assert np.random.get_state()[1].tolist() == state
    with pytest.raises(NotImplementedError, match="apply_coords"):
        both.get_transform(IMG).apply_coords(np.zeros((1, 2)))


def test_imgaug() -> None:
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        pytest.skip("the package imgaug does not import with NumPy 2")
    iaa = pytest.importorskip("imgaug.augmenters")
    coords = np.array([[1, 2], [30, 20.5]])
    aug = imgaug.IAAugmentor(iaa.Fliplr(0.5))
    seen = set()
    for out in outs(aug):
        flipped = np.array_equal(out, IMG[:, ::-1])
        assert flipped or np.array_equal(out, IMG)
        seen.add(flipped)
    assert seen == {True, False}
    t = imgaug.IAAugmentor(iaa.Fliplr(1.0)).get_transform(IMG)
    np.testing.assert_allclose(t.apply_coords(coords), [[49, 2], [20, 20.5]])
    assert t.apply_coords(np.zeros((0, 2))).shape == (0, 2)
