# SPDX-License-Identifier: Apache-2.0
"""Each augmentor against real tensorpack's: same seed, same image and coordinates out."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import tfqueue_compat.dataflow as flow
from tfqueue_compat.dataflow import imgaug
from tfqueue_compat.dataflow.imgaug import deform

pytestmark = pytest.mark.parity

TEXT = Path(__file__).with_name("imgaug_cases.py").read_text()
CASES = runpy.run_path(str(Path(__file__).with_name("imgaug_cases.py")))
NAMES = list(CASES["augmentors"](imgaug, deform))

OLD_PROTOCOL = """
class Draws(imgaug.ImageAugmentor):
    def __init__(self, most=9):
        super(Draws, self).__init__()
        self._init(locals())

    def _get_augment_params(self, img):
        return self.rng.randint(1, self.most)

    def _augment(self, img, param):
        return img[param:]

    def _augment_coords(self, coords, param):
        return coords - [0, param]


class PixelsOnly(imgaug.ImageAugmentor):
    def _augment(self, img, _):
        return img * 2


class Photo(imgaug.PhotometricAugmentor):
    def __init__(self, low, high):
        super(Photo, self).__init__()
        self._init(locals())

    def _get_augment_params(self, _):
        return self._rand_range(self.low, self.high)

    def _augment(self, img, v):
        return img + v


class GivesTransform(imgaug.transform.TransformAugmentorBase):
    def _get_augment_params(self, img):
        return imgaug.CropTransform(self.rng.randint(5), 2, 7, 8)


class New(imgaug.ImageAugmentor):
    def get_transform(self, img):
        return imgaug.FlipTransform(img.shape[0], img.shape[1], self.rng.rand() < 0.5)


def old_protocol():
    img, coords = images()["f32"], COORDS
    found = []
    for seed in range(4):
        for aug in (Draws(), PixelsOnly(), Photo(2, 5), GivesTransform(), New(),
                    imgaug.AugmentorList([Draws(4), New(), Photo(1, 2)])):
            share_rng(aug, np.random.RandomState(seed))
            out, params = aug.augment_return_params(img.copy())
            found += [out, aug.augment_with_params(img.copy() + 1, params),
                      aug.augment_coords(coords.copy(), params), aug.augment(img.copy())]
    return [np.ascontiguousarray(x) for x in found]
"""

DATAPOINTS = """
def datapoints():
    img = images()["u8"]
    aug = lambda: [imgaug.Flip(horiz=True), imgaug.RandomCrop(20), imgaug.Brightness(30),
                   imgaug.Rotation(20)]
    first = [[img, 1], [img[::-1].copy(), 2]] * 3
    both = [[img, img[:, :, 0].copy(), COORDS.copy(), 5]] * 3
    named = [{"a": img, "b": COORDS.astype("float32")}] * 3
    flows = [
        AugmentImageComponent(DataFromList(first, shuffle=False), aug()),
        AugmentImageComponent(DataFromList(named, shuffle=False), aug(), "a"),
        AugmentImageCoordinates(DataFromList(both, shuffle=False), aug(), 0, 2),
        AugmentImageCoordinates(DataFromList(named, shuffle=False), aug(), "a", "b"),
        AugmentImageComponents(DataFromList(both, shuffle=False), aug(), (0, 1), (2,)),
        ImageFromFile(files), ImageFromFile(files, channel=1, resize=10),
        ImageFromFile(files, resize=(21, 33), shuffle=True)]
    found = []
    for i, flow in enumerate(flows):
        flow.reset_state()
        if hasattr(flow, "augs"):
            share_rng(flow.augs, np.random.RandomState(i))
        else:
            flow.rng = np.random.RandomState(i)
        found.append((len(flow), list(flow), list(flow)))
    return found
"""

SCRIPT = TEXT + """
import cv2
from tensorpack.dataflow import *
from tensorpack.dataflow import imgaug
from tensorpack.dataflow.imgaug import deform, transform

# cv2 refuses the array of no dimensions that Affine gives as angle: give it a float
draw = imgaug.Affine._rand_range
imgaug.Affine._rand_range = lambda self, *a, **k: float(draw(self, *a, **k))
# coordinates are asked to be of np.float, which NumPy of its time read as any float
np.float = np.floating
imgaug.transform = transform
files = inputs["files"]
""" + OLD_PROTOCOL + DATAPOINTS + """
outputs.update(found=results(imgaug, deform), old=old_protocol(), datapoints=datapoints(),
               cv2=cv2.__version__)
"""

# Float arithmetic in another order: absolute differences, in the image's and in pixel units.
IMAGE_TOLERANCE = {
    "MeanVarianceNormalize": 1e-6,       # float32 as documented; with NumPy 2 the other's is
    "MeanVarianceNormalize_each": 1e-6,  # float64
    "GaussianDeform": 2e-3,              # float32 coordinates (1e-6 of 51 pixels) on steps of 255
    "GaussianDeform_wide": 2e-3,
}
COORDS_TOLERANCE = {"Affine_shear": 1e-12, "Affine_all": 1e-12}
OTHER_DTYPE = {"MeanVarianceNormalize", "MeanVarianceNormalize_each"}

# Where ours does more: tensorpack raises, or (deformed gray) answers in three channels.
ONE = {"one_u8", "one_f32"}
EXTENDS = {
    "Contrast_rgb": ONE, "Contrast_bgr": ONE,
    "GaussianDeform": {"one_u8", "gray_u8"}, "GaussianDeform_wide": set(),
}
HAS_COORDS = {"CenterPaste", "CenterPaste_value", "RandomPaste"}
# Where ours refuses: an image of another size than GaussianDeform was made for.
DEFORM_SIZE = {"GaussianDeform": (37, 51), "GaussianDeform_wide": (40, 33)}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    paths = [str(tmp_path_factory.mktemp("images") / f"{i}.png") for i in range(3)]
    for path, name in zip(paths, ["u8", "gray_u8", "smooth_u8"]):
        assert cv2.imwrite(path, CASES["images"]()[name])
    return paths


@pytest.fixture(scope="module")
def theirs(peer: Any, files: list[str]) -> dict[str, Any]:
    return peer(SCRIPT, files=files)


@pytest.fixture(scope="module")
def ours() -> dict[Any, Any]:
    return CASES["results"](imgaug, deform)


@pytest.mark.parametrize("name", NAMES)
def test_equals_tensorpack(name: str, theirs: dict[str, Any], ours: dict[Any, Any]) -> None:
    if theirs["cv2"] != cv2.__version__:
        pytest.skip(f"OpenCV {cv2.__version__} here, {theirs['cv2']} there: pixels may differ")
    compared = 0
    for key, (want, want_coords, _) in theirs["found"].items():
        if key[0] != name or key[1] in EXTENDS.get(name, ()):
            continue
        got, got_coords, again = ours[key]
        if name in DEFORM_SIZE and CASES["images"]()[key[1]].shape[:2] != DEFORM_SIZE[name]:
            assert got == "ValueError"
            continue
        if isinstance(want, str) or isinstance(got, str):
            assert isinstance(want, str) and isinstance(got, str), (key, want, got)
            continue
        compared += 1
        assert got.shape == want.shape, key
        assert got.dtype == (np.float32 if name in OTHER_DTYPE else want.dtype), key
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=0,
                                   atol=IMAGE_TOLERANCE.get(name, 0), err_msg=str(key))
        np.testing.assert_array_equal(again, got, err_msg=f"{key}: not deterministic")
        if isinstance(want_coords, str):
            assert isinstance(got_coords, str) or name in HAS_COORDS, key
        else:
            assert got_coords.dtype == want_coords.dtype, key
            np.testing.assert_allclose(got_coords, want_coords, rtol=0,
                                       atol=COORDS_TOLERANCE.get(name, 0), err_msg=str(key))
    assert compared >= 10


def test_covers_every_augmentor() -> None:
    base = imgaug.ImageAugmentor
    abstract = {"Augmentor", "ImageAugmentor", "PhotometricAugmentor", "IAAugmentor",
                "Albumentations"}  # the last two are other libraries'
    wanted = {n for n in imgaug.__all__ if isinstance(getattr(imgaug, n), type)
              and issubclass(getattr(imgaug, n), base)} - abstract
    built = {type(make()).__name__ for make in CASES["augmentors"](imgaug, deform).values()}
    assert wanted <= built


def test_old_protocol_equals_tensorpack(theirs: dict[str, Any]) -> None:
    names: dict[str, Any] = {"imgaug": imgaug}
    exec(TEXT + OLD_PROTOCOL, names)
    ours = names["old_protocol"]()
    assert len(ours) == len(theirs["old"]) == 96
    for got, want in zip(ours, theirs["old"]):
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


def test_datapoints_equal_tensorpack(theirs: dict[str, Any], files: list[str]) -> None:
    names: dict[str, Any] = {n: getattr(flow, n) for n in flow.__all__}
    names["files"] = files
    exec(TEXT + DATAPOINTS, names)
    ours = names["datapoints"]()
    assert len(ours) == len(theirs["datapoints"]) == 8
    for got, want in zip(ours, theirs["datapoints"]):
        assert got[0] == want[0]
        for a, b in zip(got[1] + got[2], want[1] + want[2], strict=True):
            assert type(a) is type(b) and len(a) == len(b)
            keys = a if isinstance(a, dict) else range(len(a))
            for k in keys:
                np.testing.assert_array_equal(a[k], b[k])
                assert np.asarray(a[k]).dtype == np.asarray(b[k]).dtype
