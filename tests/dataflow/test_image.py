# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tfqueue_compat.dataflow import (
    AugmentImageComponent, AugmentImageComponents, AugmentImageCoordinates, DataFromList,
    ImageFromFile, MapDataComponent, imgaug)
from tfqueue_compat.dataflow import image as under_test

IMG = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
COORDS = np.array([[1.0, 2.0], [3.0, 4.5]], np.float32)
FLIP = imgaug.Flip(horiz=True, prob=1)


def source(*dps: Any) -> DataFromList:
    return DataFromList(list(dps), shuffle=False)


class Scribble(imgaug.ImageAugmentor):
    """Works in place, as an old augmentor may."""

    def _augment(self, img: np.ndarray, _: Any) -> np.ndarray:
        img[:] = 0
        return img

    def _augment_coords(self, coords: np.ndarray, _: Any) -> np.ndarray:
        coords[:] = -1
        return coords


@pytest.mark.parametrize("dp, index", [([IMG, 5], 0), ((5, IMG), 1), ({"x": IMG, "y": 5}, "x")],
                         ids=["list", "tuple", "dict"])
def test_component(dp: Any, index: Any) -> None:
    [out] = AugmentImageComponent(source(dp), [FLIP], index)
    assert isinstance(out, dict if isinstance(dp, dict) else list)
    np.testing.assert_array_equal(out[index], IMG[:, ::-1])
    assert out[{0: 1, 1: 0, "x": "y"}[index]] == 5


def test_takes_a_list_or_an_augmentor_list_and_nothing_else() -> None:
    augs = imgaug.AugmentorList([FLIP])
    assert AugmentImageComponent(source([IMG]), augs).augs is augs
    for cls in (AugmentImageComponent, AugmentImageComponents, AugmentImageCoordinates):
        with pytest.raises(TypeError, match=f"{cls.__name__}.*list of ImageAugmentor"):
            cls(source([IMG]), FLIP)
        with pytest.raises(TypeError, match=f"{cls.__name__}, number 1"):
            cls(source([IMG]), [FLIP, len])


def test_length_and_several_passes() -> None:
    ds = AugmentImageComponent(source([IMG], [IMG]), [FLIP])
    assert len(ds) == ds.size() == 2
    ds.reset_state()
    ds.reset_state()
    assert len(list(ds)) == len(list(ds)) == len(list(ds.get_data())) == 2


def test_copy_protects_the_source() -> None:
    img, coords = IMG.copy(), COORDS.copy()
    for ds in (AugmentImageComponent(source([img, coords]), [Scribble()]),
               AugmentImageCoordinates(source([img, coords]), [Scribble()]),
               AugmentImageComponents(source([img, coords]), [Scribble()], (0,), (1,))):
        [out] = ds
        assert (out[0] == 0).all()
    np.testing.assert_array_equal(img, IMG)
    np.testing.assert_array_equal(coords, COORDS)
    [out] = AugmentImageComponent(source([img]), [Scribble()], copy=False)
    assert out[0] is img and (img == 0).all()


def test_coordinates_follow() -> None:
    [out] = AugmentImageCoordinates(source([COORDS, IMG]), [FLIP, imgaug.CenterCrop(4)], 1, 0)
    np.testing.assert_array_equal(out[1], IMG[1:5, ::-1][:, 2:6])
    np.testing.assert_array_equal(out[0], [[8 - 1 - 2, 2 - 1], [8 - 3 - 2, 4.5 - 1]])
    assert out[0].dtype == np.float32
    [out] = AugmentImageCoordinates(source([IMG, np.zeros((0, 2))]), [FLIP])
    assert out[1].shape == (0, 2)


def test_components_share_the_random_choice() -> None:
    mask = IMG[:, :, 0].astype("float32")
    ds = AugmentImageComponents(source(*[[IMG, mask, COORDS, COORDS + 1]] * 30),
                                [imgaug.RandomCrop(3), imgaug.Flip(vert=True)], (0, 1), (2, 3))
    places = set()
    for img, out_mask, a, b in ds:
        np.testing.assert_array_equal(img[:, :, 0], out_mask)
        np.testing.assert_allclose(np.abs(b - a), 1)
        places.add(img.tobytes())
    assert len(places) > 10


def test_components_by_key_and_by_one_index() -> None:
    [out] = AugmentImageComponents(source({"a": IMG, "m": IMG[:, :, 0], "c": COORDS}), [FLIP],
                                   ("a", "m"), ("c",))
    np.testing.assert_array_equal(out["m"], IMG[:, ::-1, 0])
    np.testing.assert_array_equal(out["c"][:, 0], 8 - COORDS[:, 0])
    [out] = AugmentImageComponents(source([IMG, COORDS]), [FLIP], 0, 1)
    np.testing.assert_array_equal(out[0], IMG[:, ::-1])
    with pytest.raises(ValueError, match="at least one image"):
        AugmentImageComponents(source([IMG]), [FLIP], ())


@pytest.mark.parametrize("bad, error, text", [
    (COORDS.astype(int), TypeError, "floating point.*int64"),
    (COORDS.tolist(), TypeError, "floating point.*list"),
    (COORDS[0], ValueError, r"\(n, 2\).*\(2,\)"),
    (np.zeros((3, 3)), ValueError, r"\(n, 2\).*\(3, 3\)")])
def test_coordinates_that_are_none(bad: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        list(AugmentImageCoordinates(source([IMG, bad]), [FLIP]))
    with pytest.raises(error, match=text):
        under_test.validate_coords(bad)


def test_an_error_names_the_augmentor_and_the_image() -> None:
    ds = AugmentImageComponent(source([IMG]), [FLIP, imgaug.CenterCrop(7)])
    with pytest.raises(ValueError) as caught:
        list(ds)
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "imgaug.CenterCrop(crop_shape=(7, 7))" in said and "(6, 8, 3)" in said
    assert "uint8" in said or not hasattr(caught.value, "add_note")  # Python 3.10 edits own text
    with pytest.raises(TypeError, match="Augmentor.*Received int"):
        list(AugmentImageComponent(source([3]), [FLIP]))
    with pytest.raises(ValueError, match=r"\(6,\)"):
        list(AugmentImageComponent(source([np.zeros(6)]), [FLIP]))


@pytest.mark.parametrize("ds, error", [
    (AugmentImageComponent(source([IMG]), [FLIP], 3), IndexError),
    (AugmentImageComponents(source([IMG]), [FLIP]), IndexError),
    (AugmentImageCoordinates(source([IMG]), [FLIP]), IndexError),
    (AugmentImageComponents(source({"a": IMG}), [FLIP], ("b",)), KeyError)],
    ids=["one", "several", "coordinates", "dict"])
def test_a_missing_component_is_named(ds: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Expected a component .* Received a datapoint with"):
        list(ds)


@pytest.mark.parametrize("cls, where", [
    (AugmentImageComponent, {}), (AugmentImageCoordinates, {}),
    (AugmentImageComponents, {"index": (0,), "coords_index": (1,)})])
def test_catch_exceptions_drops_and_logs_some(cls: Any, where: dict[str, Any],
                                              caplog: pytest.LogCaptureFixture) -> None:
    ds = source(*[[IMG, COORDS], [IMG[:3], COORDS]] * 110)
    with caplog.at_level(logging.ERROR):
        assert len(list(cls(ds, [imgaug.CenterCrop(6)], catch_exceptions=True, **where))) == 110
    counts = [r.args[0] for r in caplog.records if "augmentation error" in r.msg]
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]
    assert all(r.exc_info for r in caplog.records)


def test_catch_exceptions_lets_ctrl_c_through() -> None:
    def interrupt(img: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(AugmentImageComponent(source([IMG]), [imgaug.MapImage(interrupt)],
                                   catch_exceptions=True))


def test_reset_state_gives_new_numbers_and_pickles() -> None:
    ds = AugmentImageComponent(source([IMG]), [imgaug.RandomCrop(2)])
    before = ds.augs.augmentors[0].rng
    ds.reset_state()
    assert ds.augs.augmentors[0].rng is not before
    for flow in (ds, AugmentImageCoordinates(source([IMG, COORDS]), [imgaug.CenterCrop(2)])):
        [out] = pickle.loads(pickle.dumps(flow))
        assert out[0].shape == (2, 2, 3)


def test_below_another_map() -> None:
    ds = MapDataComponent(AugmentImageComponent(source([IMG, 1]), [FLIP]), lambda x: x + 1, 1)
    [out] = ds
    assert out[1] == 2
    np.testing.assert_array_equal(out[0], IMG[:, ::-1])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [str(tmp_path / f"{i}.png") for i in range(3)]
    for i, path in enumerate(paths):
        bgr = np.full((4, 5, 3), [10 * i, 20, 200], np.uint8)
        assert cv2.imwrite(path, bgr if i != 2 else bgr[:, :, 0])
    return paths


def test_image_from_file(files: list[str]) -> None:
    ds = ImageFromFile(files)
    assert len(ds) == 3
    out = [dp for dp in ds]
    assert all(len(dp) == 1 and dp[0].shape == (4, 5, 3) and dp[0].dtype == np.uint8 for dp in out)
    assert out[1][0][0, 0].tolist() == [200, 20, 10]  # RGB
    assert out[2][0][0, 0].tolist() == [20, 20, 20]
    [gray, *_] = ImageFromFile(files, channel=1)
    assert gray[0].shape == (4, 5, 1)
    assert abs(gray[0][0, 0, 0] - (200 * 0.299 + 20 * 0.587)) <= 1  # the decoder converts
    shapes = [dp[0].shape for channel in (1, 3)
              for dp in ImageFromFile(files, channel=channel, resize=(6, 7))]
    assert shapes == [(6, 7, 1)] * 3 + [(6, 7, 3)] * 3
    assert next(iter(ImageFromFile([Path(files[0])], resize=3)))[0].shape == (3, 3, 3)


def test_image_from_file_shuffles_its_own_list(files: list[str]) -> None:
    given = list(files)
    ds = ImageFromFile(given, shuffle=True)
    orders = {tuple(int(dp[0][0, 0, 2]) for dp in ds) for _ in range(60)}
    assert len(orders) == 6 and given == files


def test_image_from_file_errors(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.png"):
        list(ImageFromFile([*files, str(tmp_path / "nowhere.png")]))
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    with pytest.raises(ValueError, match="broken.png"):
        list(ImageFromFile([str(broken)]))
    with pytest.raises(ValueError, match="channel"):
        ImageFromFile(files, channel=4)
    for none in ([], files[0]):
        with pytest.raises(ValueError, match="list of paths"):
            ImageFromFile(none)
