# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import os
import pickle
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import imgaug
from tfqueue_compat.dataflow.imgaug.base import ImagePlaceholder
from tfqueue_compat.utils import utils

IMG = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
COORDS = np.array([[1.0, 2.0], [3.0, 4.5]])


class Draw(imgaug.ImageAugmentor):
    """Old style, and never calls the base's constructor."""

    def __init__(self, most: int = 9) -> None:
        self._init(locals())

    def _get_augment_params(self, img: np.ndarray) -> Any:
        return self.rng.randint(self.most)

    def _augment(self, img: np.ndarray, param: Any) -> np.ndarray:
        return img + param

    def _augment_coords(self, coords: np.ndarray, param: Any) -> np.ndarray:
        return coords + param


class Fprop(imgaug.ImageAugmentor):
    """As tensorpack 0.3 named it."""

    def _get_augment_params(self, img: np.ndarray) -> int:
        return 3

    def _augment(self, img: np.ndarray, param: Any) -> np.ndarray:
        return img[param:]

    def _fprop_coord(self, coord: np.ndarray, param: Any) -> np.ndarray:
        return coord - [0, param]


class Both(imgaug.transform.TransformAugmentorBase):
    """Params are a transform, and the image gets something more."""

    def _get_augment_params(self, img: np.ndarray) -> Any:
        return imgaug.CropTransform(1, 1, 2, 2)

    def _augment(self, img: np.ndarray, t: Any) -> np.ndarray:
        return t.apply_image(img) + 1


def test_old_protocol() -> None:
    aug = Draw(100)
    out, params = aug.augment_return_params(IMG)
    drawn = int(out[0, 0, 0])
    np.testing.assert_array_equal(out, IMG + drawn)
    np.testing.assert_array_equal(aug.augment_with_params(IMG * 0, params), IMG * 0 + drawn)
    np.testing.assert_array_equal(aug.augment_coords(COORDS, params), COORDS + drawn)
    np.testing.assert_array_equal(params.apply_coords(COORDS), COORDS + drawn)
    # parameters as the old protocol itself passes them
    np.testing.assert_array_equal(aug.augment_with_params(IMG, 7), IMG + 7)
    np.testing.assert_array_equal(aug.augment_coords(COORDS, 7), COORDS + 7)


def test_older_names_of_the_protocol() -> None:
    out, params = Fprop().augment_return_params(IMG)
    np.testing.assert_array_equal(out, IMG[3:])
    np.testing.assert_array_equal(Fprop().augment_coords(COORDS, params), COORDS - [0, 3])
    out, params = Both().augment_return_params(IMG)
    np.testing.assert_array_equal(out, IMG[1:3, 1:3] + 1)
    np.testing.assert_array_equal(params.apply_coords(COORDS), COORDS - 1)


def test_old_and_new_in_one_list() -> None:
    augs = imgaug.AugmentorList([Draw(1), imgaug.CenterCrop((2, 3)), Both(), Draw(1)])
    out, params = augs.augment_return_params(IMG)
    np.testing.assert_array_equal(out, IMG[2:3, 2:4] + 1)
    np.testing.assert_array_equal(augs.augment_coords(COORDS, params), COORDS - [2, 2])


def test_neither_protocol_says_what_to_define() -> None:
    class Nothing(imgaug.ImageAugmentor):
        pass

    with pytest.raises(NotImplementedError, match="Nothing.*get_transform"):
        Nothing().augment(IMG)
    with pytest.raises(NotImplementedError, match="_augment"):
        imgaug.PhotometricAugmentor().augment(IMG)


def test_rand_range() -> None:
    class Mine(imgaug.ImageAugmentor):
        pass

    aug, twin = Mine(), np.random.RandomState(3)
    aug.rng = np.random.RandomState(3)
    assert aug._rand_range() == np.float32(twin.uniform(0, 1))
    assert aug._rand_range(5) == np.float32(twin.uniform(0, 5))
    many = aug._rand_range(2, 4, (3,))
    np.testing.assert_array_equal(many, twin.uniform(2, 4, (3,)).astype("float32"))
    assert many.dtype == np.float32


def test_each_augmentor_has_its_own_rng_without_and_after_reset() -> None:
    augs = [Draw(2 ** 30) for _ in range(4)]
    assert len({int(a.rng.randint(2 ** 30)) for a in augs}) == 4
    for a in augs:
        a.reset_state()
    assert len({int(a.rng.randint(2 ** 30)) for a in augs}) == 4
    both = imgaug.AugmentorList(augs[:2])
    both.reset_state()
    assert both.rng is not augs[0].rng is not augs[1].rng


def test_global_random_state_is_neither_read_nor_changed() -> None:
    augs = imgaug.AugmentorList([imgaug.RandomCrop(3), imgaug.GaussianNoise(5)])
    augs.rng, augs.augmentors[0].rng, augs.augmentors[1].rng = (
        np.random.RandomState(i) for i in range(3))
    outs = []
    state = copy.deepcopy(augs)
    for seed in (0, 1):
        np.random.seed(seed)
        before = np.random.get_state()[1].tolist()
        outs.append(copy.deepcopy(state).augment(IMG))
        assert np.random.get_state()[1].tolist() == before
    np.testing.assert_array_equal(*outs)


def test_fix_rng_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "_RNG_SEED", 7)
    draws = []
    for _ in range(2):
        aug = imgaug.RandomCrop(2)
        aug.reset_state()
        draws.append([aug.augment(IMG).tolist() for _ in range(5)])
    assert draws[0] == draws[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_draws_other_numbers() -> None:
    aug = Draw(2 ** 30)
    aug.rng  # noqa: B018 - exists before the fork
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writable, str(int(aug.rng.randint(2 ** 30))).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    with os.fdopen(readable) as f:
        assert int(f.read()) != int(aug.rng.randint(2 ** 30))


def test_pickle() -> None:
    augs = imgaug.AugmentorList([imgaug.Flip(horiz=True), imgaug.RandomCrop((2, 3)), Draw(1)])
    again = pickle.loads(pickle.dumps(augs))
    assert repr(again) == repr(augs)
    assert again.augment(IMG).shape == (2, 3, 3)


def test_constructor_arguments_become_attributes_and_repr() -> None:
    aug = imgaug.RandomCrop((2, 3))
    assert aug.crop_shape == (2, 3)
    assert repr(aug) == "imgaug.RandomCrop(crop_shape=(2, 3))"
    assert repr(imgaug.Flip(horiz=True)) == "imgaug.Flip(horiz=True)"
    assert repr(Draw()) == "imgaug.Draw()"
    both = imgaug.AugmentorList([Draw(3)])
    assert repr(both) == "imgaug.AugmentorList([\n  imgaug.Draw(most=3)])"


def test_list_refuses_what_is_no_augmentor() -> None:
    for bad, text in [([imgaug.Flip(horiz=True), 3], "number 1.*Received 3"),
                      ([imgaug.Identity], "instance"),
                      ([lambda x: x], "MapImage"),
                      (imgaug.Identity(), "list of ImageAugmentor")]:
        with pytest.raises(TypeError, match=text):
            imgaug.AugmentorList(bad)  # type: ignore[arg-type]


def test_refuses_what_is_no_image() -> None:
    augs = imgaug.AugmentorList([imgaug.Identity()])
    with pytest.raises(TypeError, match="Received list"):
        augs.augment([[1, 2]])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="dtype complex128, shape \\(2, 2\\)"):
        augs.augment(np.zeros((2, 2), complex))
    with pytest.raises(ValueError, match=r"shape \(2, 2, 3, 3\), dtype float64"):
        augs.augment(np.zeros((2, 2, 3, 3)))
    with pytest.raises(ValueError, match=r"\(h, w\) or \(h, w, c\).*shape \(5,\)"):
        imgaug.Flip(horiz=True).augment(np.zeros(5))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_error_keeps_its_type_and_names_augmentor_and_image(place: int) -> None:
    def fail(img: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("my own words")

    class Fails(imgaug.ImageAugmentor):
        def get_transform(self, img: np.ndarray) -> Any:
            raise ZeroDivisionError("my own words")

    inner: list[Any] = [imgaug.Identity(), imgaug.ToFloat32()]
    for bad in (Fails(), imgaug.MapImage(fail)):
        augs = imgaug.AugmentorList([*inner[:place], bad, *inner[place:]])
        with pytest.raises(ZeroDivisionError, match="my own words") as caught:
            augs.augment(IMG)
        said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
        assert said.count("While augmenting") == 1
        assert ("Fails" in said or "MapImage" in said) and "(4, 5, 3)" in said
        assert ("float32" if place == 2 else "uint8") in said


def test_an_error_of_a_lone_augmentor_is_named_too() -> None:
    with pytest.raises(Exception) as caught:  # OpenCV's own type
        imgaug.Resize(3).augment(np.zeros((4, 5), np.int64))
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "imgaug.Resize(shape=(3, 3))" in said and "dtype int64" in said


def test_input_is_never_changed_by_a_built_in() -> None:
    img = IMG.copy()
    for aug in (imgaug.RandomCutout(2, 2), imgaug.SaltPepperNoise(0.5, 0.5), imgaug.Brightness(9),
                imgaug.Saturation(), imgaug.Gamma(), imgaug.CenterPaste((9, 9))):
        aug.augment(img)
        np.testing.assert_array_equal(img, IMG, err_msg=repr(aug))
        floats = IMG.astype("float32")
        aug.augment(floats)
        np.testing.assert_array_equal(floats, IMG, err_msg=repr(aug))


def test_placeholder_stands_for_an_image_where_shape_is_enough() -> None:
    assert imgaug.CenterCrop(2).get_transform(ImagePlaceholder((6, 8))).x0 == 3
