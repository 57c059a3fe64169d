# SPDX-License-Identifier: Apache-2.0
"""ImageNet's 1000 classes (ILSVRC12), and TinyImageNet."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ...utils import logger
from ...utils.errors import require, say
from ...utils.fs import get_dataset_path
from ..base import RNGDataFlow
from ..caffe_datum import read_blob
from .common import check_name, download_and_extract, read_image, shuffled

__all__ = ["ILSVRC12", "ILSVRC12Files", "ILSVRCMeta", "TinyImageNet"]

CAFFE_ILSVRC12_URL = ("http://dl.caffe.berkeleyvision.org/caffe_ilsvrc12.tar.gz", 17858008)
_PARTS = ("train", "val", "test")
_STRUCTURES = ("original", "train")


def _lines(path: str) -> list[str]:
    with open(path) as file:
        return [line.strip() for line in file if line.strip()]


class ILSVRCMeta:
    """Names, lists of files and the mean image of ILSVRC12, from Caffe's archive.

    Args:
        dir: where ``synsets.txt``, ``train.txt`` ... are; by default ``ilsvrc_metadata`` below
            the folder of data sets. The archive is downloaded if they are missing.
    """

    def __init__(self, dir: str | None = None) -> None:
        self.dir = get_dataset_path("ilsvrc_metadata") if dir is None else os.path.expanduser(dir)
        if not os.path.isfile(os.path.join(self.dir, "synsets.txt")):
            url, size = CAFFE_ILSVRC12_URL
            download_and_extract(url, self.dir, size)

    def _numbered(self, name: str) -> dict[int, str]:
        return dict(enumerate(_lines(os.path.join(self.dir, name))))

    def get_synset_words_1000(self) -> dict[int, str]:
        """Return label -> synset and its words."""
        return self._numbered("synset_words.txt")

    def get_synset_1000(self) -> dict[int, str]:
        """Return label -> synset, e.g. ``"n01440764"``."""
        return self._numbered("synsets.txt")

    def get_image_list(self, name: str, dir_structure: str = "original"
                       ) -> list[tuple[str, int]]:
        """Return (file name, label) of all images in a part.

        Args:
            name: ``"train"``, ``"val"`` or ``"test"``.
            dir_structure: as in :class:`ILSVRC12`.
        """
        check_name("ILSVRCMeta", name, _PARTS)
        check_name("ILSVRCMeta, dir_structure", dir_structure, _STRUCTURES)
        pairs = [line.split() for line in _lines(os.path.join(self.dir, f"{name}.txt"))]
        listed = [(filename, int(label)) for filename, label in pairs]
        if name == "train" or dir_structure == "original":
            return listed  # training files always lie in folders, and are listed so
        synsets = self.get_synset_1000()
        return [(os.path.join(synsets[label], filename), label) for filename, label in listed]

    def get_per_pixel_mean(self, size: tuple[int, int] | None = None) -> np.ndarray:
        """Return the mean image, (height, width, 3) float32, BGR, in [0, 255].

        Args:
            size: (height, width) to resize to; by default it is (256, 256).
        """
        with open(os.path.join(self.dir, "imagenet_mean.binaryproto"), "rb") as file:
            mean = read_blob(file.read()).transpose(1, 2, 0)
        if size is None:
            return mean
        cv2 = require("cv2", "opencv-python-headless", "ILSVRCMeta.get_per_pixel_mean")
        resized: np.ndarray = cv2.resize(mean, tuple(size[::-1]))
        return resized

    @staticmethod
    def guess_dir_structure(dir: str) -> str:
        """Return whether the images in a folder lie in sub-folders, ``"train"``, or not.

        Args:
            dir: e.g. ``"/path/to/imagenet/val"``.

        Returns:
            ``"train"`` or ``"original"``.
        """
        first = next(iter(sorted(os.listdir(dir))), None)
        if first is None:
            raise FileNotFoundError(say("ILSVRC12", expected="images", received=f"{dir} is empty",
                                        do="Unpack the data set there."))
        in_folders = first.startswith("n") and os.path.isdir(os.path.join(dir, first))
        found = "train" if in_folders else "original"
        logger.info("[ILSVRC12] Assuming directory %s has '%s' structure.", dir, found)
        return found


class ILSVRC12Files(RNGDataFlow):
    """Produce ``[file name, label]`` of ILSVRC12; the arguments are those of :class:`ILSVRC12`.

    Args:
        dir: as in :class:`ILSVRC12`.
        name: as in :class:`ILSVRC12`.
        meta_dir: as in :class:`ILSVRC12`.
        shuffle: as in :class:`ILSVRC12`.
        dir_structure: as in :class:`ILSVRC12`.
    """

    def __init__(self, dir: str, name: str, meta_dir: str | None = None,
                 shuffle: bool | None = None, dir_structure: str | None = None) -> None:
        self.name = check_name(type(self).__name__, name, _PARTS)
        folder = os.path.expanduser(dir)
        self.full_dir = os.path.join(folder, name)
        if not os.path.isdir(self.full_dir):
            raise FileNotFoundError(say(type(self).__name__, expected=f"a folder {self.full_dir}",
                                        received="none", do="Pass the folder above it as dir."))
        self.shuffle = name == "train" if shuffle is None else shuffle
        self.dir_structure = self._structure(dir_structure)
        self.imglist = ILSVRCMeta(meta_dir).get_image_list(name, self.dir_structure)

    def _structure(self, given: str | None) -> str:
        if self.name != "val":
            return "original"
        return ILSVRCMeta.guess_dir_structure(self.full_dir) if given is None else given

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.imglist)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[file name, label]``."""
        for k in shuffled(len(self.imglist), self.rng, self.shuffle):
            name, label = self.imglist[k]
            yield [os.path.join(self.full_dir, name), label]


class ILSVRC12(ILSVRC12Files):
    """Produce ``[image, label]`` of ILSVRC12: uint8 (height, width, 3) BGR, and 0 to 999.

    Reading images in one process is slow: see :class:`ILSVRC12Files` for decoding in several.

    Args:
        dir: has the folders ``train`` (with a folder for each synset), ``val`` and ``test``.
        name: ``"train"``, ``"val"`` or ``"test"``.
        meta_dir: as ``dir`` of :class:`ILSVRCMeta`.
        shuffle: yield them in another random order at each pass; by default in training.
        dir_structure: ``"original"`` where the files lie in ``val`` itself, ``"train"`` where
            they lie in a folder for each synset; by default a look at it decides.
    """

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for name, label in super().__iter__():
            yield [read_image(name, "ILSVRC12"), label]

    @staticmethod
    def get_training_bbox(bbox_dir: str, imglist: Sequence[tuple[str, int]]
                          ) -> list[np.ndarray | None]:
        """Return the box of the first object in each training image, None where there is none.

        Args:
            bbox_dir: has ``train/{synset}/{image}.xml``.
            imglist: (file name, label), as :meth:`ILSVRCMeta.get_image_list` returns.

        Returns:
            Arrays of x1, y1, x2, y2, float32.
        """
        boxes = []
        for name, _ in imglist:
            path = os.path.join(bbox_dir, "train", os.path.splitext(name)[0] + ".xml")
            boxes.append(_first_box(path) if os.path.isfile(path) else None)
        found = sum(b is not None for b in boxes)
        logger.info("%d/%d images have bounding box.", found, len(imglist))
        return boxes


def _first_box(path: str) -> np.ndarray | None:
    box = ElementTree.parse(path).getroot().find("object/bndbox")
    if box is None:
        return None
    corners = [box.findtext(tag) for tag in ("xmin", "ymin", "xmax", "ymax")]
    return np.array([float(c) for c in corners if c is not None], np.float32)


class TinyImageNet(RNGDataFlow):
    """Produce ``[image, label]``: (64, 64, 3) uint8 BGR, and 0 to 199. Needs OpenCV.

    Args:
        dir: has ``wnids.txt`` (whose order gives the labels), ``train`` and ``val``.
        name: ``"train"`` or ``"val"``.
        shuffle: yield them in another random order at each pass; by default in training.
    """

    def __init__(self, dir: str, name: str, shuffle: bool | None = None) -> None:
        check_name("TinyImageNet", name, ("train", "val"))
        folder = os.path.expanduser(dir)
        self.full_dir = os.path.join(folder, name)
        self.shuffle = name == "train" if shuffle is None else shuffle
        numbers = {s: k for k, s in enumerate(_lines(os.path.join(folder, "wnids.txt")))}
        self.imglist = self._train(numbers) if name == "train" else self._val(numbers)

    def _train(self, numbers: dict[str, int]) -> list[tuple[str, int]]:
        found = []
        for synset, label in numbers.items():
            folder = os.path.join(self.full_dir, synset, "images")
            found += [(os.path.join(folder, n), label) for n in sorted(os.listdir(folder))]
        return found

    def _val(self, numbers: dict[str, int]) -> list[tuple[str, int]]:
        lines = _lines(os.path.join(self.full_dir, "val_annotations.txt"))
        pairs = [line.split("\t")[:2] for line in lines]
        return [(os.path.join(self.full_dir, "images", n), numbers[s]) for n, s in pairs]

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.imglist)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for k in shuffled(len(self.imglist), self.rng, self.shuffle):
            path, label = self.imglist[k]
            yield [read_image(path, "TinyImageNet"), label]
