# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow.imgaug.deform import GaussianDeform, GaussianMap, np_sample

IMG = np.random.RandomState(0).randint(0, 256, (8, 10, 3)).astype("uint8")


def test_sample_by_hand() -> None:
    img = np.arange(6, dtype=np.uint8).reshape(2, 3, 1)  # value 3 y + x
    at = np.float32([[0, 0], [1, 2], [0.5, 1.25], [-3, 1], [9, 9]])
    assert np_sample(img, at).tolist() == [[0], [5], [2.75], [1], [5]]


def test_weights() -> None:
    weights = GaussianMap((10, 20), 0.5).get_gaussian_weight((0.5, 0.25))
    assert weights.shape == (10, 20) and weights.dtype == np.float32
    assert weights[5, 5] == 1 == weights.max()
    assert weights[0, 5] == pytest.approx(np.exp(-0.25 / 0.5))


@pytest.mark.parametrize("img", [IMG, IMG[:, :, 0], IMG[:, :, :1]], ids=lambda x: str(x.shape))
def test_deform(img: np.ndarray) -> None:
    still = GaussianDeform([(0.5, 0.5)], (8, 10), randrange=0).augment(img)
    np.testing.assert_array_equal(still, img)
    aug = GaussianDeform([(0.2, 0.3), (0.8, 0.6)], (8, 10), randrange=3)
    out, t = aug.augment_return_params(img)
    assert out.shape == img.shape
    assert img.min() <= out.min() and out.max() <= img.max()
    assert np.abs(out - img).max() > 1
    np.testing.assert_array_equal(t.apply_image(img), out)


def test_refuses_another_size() -> None:
    with pytest.raises(ValueError, match=r"\(8, 10\).*\(10, 8\)"):
        GaussianDeform([(0.5, 0.5)], (8, 10)).augment(np.zeros((10, 8)))
