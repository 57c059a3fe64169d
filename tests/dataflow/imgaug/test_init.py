# SPDX-License-Identifier: Apache-2.0
"""The face of the package: what it offers, and what importing it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tfqueue_compat.dataflow import imgaug


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_neither_opencv_nor_tensorflow() -> None:
    out = fresh("import sys\n"
                "from tfqueue_compat.dataflow import imgaug\n"
                "augs = imgaug.AugmentorList([imgaug.Flip(horiz=True), imgaug.Resize(3),\n"
                "    imgaug.Hue(), imgaug.Rotation(3), imgaug.Grayscale(), imgaug.JpegNoise()])\n"
                "print([m for m in ('cv2', 'tensorflow', 'imgaug', 'albumentations')"
                " if m in sys.modules])")
    assert out.strip() == "[]"


def test_without_opencv_the_call_names_the_package_to_install() -> None:
    out = fresh("import sys\n"
                "sys.modules['cv2'] = None\n"
                "import numpy as np\n"
                "from tfqueue_compat.dataflow import imgaug\n"
                "img = np.full((6, 7, 3), 9, np.uint8)\n"
                "augs = imgaug.AugmentorList([imgaug.Flip(horiz=True), imgaug.CenterCrop(5),\n"
                "    imgaug.Brightness(5), imgaug.Contrast((0.5, 1)), imgaug.GaussianNoise()])\n"
                "print(augs.augment(img).shape)\n"
                "try:\n"
                "    imgaug.Resize(3).augment(img)\n"
                "except ImportError as e:\n"
                "    print(e)\n")
    assert out.splitlines()[0] == "(5, 5, 3)"
    assert "pip install opencv-python-headless" in out


def test_star_import_gives_the_classes_and_no_modules() -> None:
    names: dict[str, object] = {}
    exec("from tfqueue_compat.dataflow.imgaug import *", names)
    names.pop("__builtins__")
    assert set(names) == set(imgaug.__all__)
    assert all(isinstance(x, type) for x in names.values())


def test_modules_are_attributes_and_typos_get_a_hint() -> None:
    assert imgaug.transform.CropTransform is imgaug.CropTransform
    assert imgaug.deform.GaussianDeform.__module__.endswith("imgaug.deform")
    assert imgaug.transform.TransformAugmentorBase is imgaug.ImageAugmentor
    assert set(imgaug.__all__) <= set(dir(imgaug))
    with pytest.raises(AttributeError, match="CenterCrop"):
        imgaug.CentreCrop


def test_global_import_sets_a_modules_names() -> None:
    out = fresh("from tfqueue_compat.dataflow import imgaug\n"
                "imgaug.global_import('crop')\n"
                "print('RandomCrop' in vars(imgaug), 'Flip' in vars(imgaug))")
    assert out.strip() == "True False"
