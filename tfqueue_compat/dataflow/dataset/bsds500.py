# SPDX-License-Identifier: Apache-2.0
"""Berkeley Segmentation Data Set 500: images and where people see edges."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...utils.errors import say
from ...utils.fs import get_dataset_path
from ..base import RNGDataFlow
from .common import check_name, download_and_extract, read_image, read_mat, shuffled

__all__ = ["BSDS500"]

DATA_URL = ("http://www.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/BSR/"
            "BSR_bsds500.tgz")
DATA_SIZE = 70763455
IMG_W, IMG_H = 481, 321


def _landscape(array: np.ndarray, path: str) -> np.ndarray:
    """Return an array of (321, 481, ...), turned if it stands upright."""
    if array.shape[0] > array.shape[1]:
        array = array.swapaxes(0, 1)
    if array.shape[:2] != (IMG_H, IMG_W):
        raise ValueError(say(path, expected=f"{IMG_H} x {IMG_W} pixels, or turned",
                             received=f"{array.shape}", do="Get the data set again."))
    return array


class BSDS500(RNGDataFlow):
    """Produce ``[image, edges]``. Needs ``scipy`` and OpenCV.

    Images are (321, 481, 3) uint8, BGR; edges (321, 481) float32 in [0, 1]: the share of the
    annotators who marked an edge at that pixel.

    Args:
        name: ``"train"``, ``"test"`` or ``"val"``.
        data_dir: where the folder ``BSR`` is; by default ``bsds500_data`` below the folder of
            data sets. It is downloaded if missing.
        shuffle: yield them in another random order at each pass.
    """

    def __init__(self, name: str, data_dir: str | None = None, shuffle: bool = True) -> None:
        check_name("BSDS500", name, ("train", "test", "val"))
        folder = get_dataset_path("bsds500_data") if data_dir is None else data_dir
        self.data_root = os.path.join(folder, "BSR", "BSDS500", "data")
        self.shuffle = shuffle
        if not os.path.isdir(self.data_root):
            download_and_extract(DATA_URL, folder, DATA_SIZE)
        pictures = sorted(glob.glob(os.path.join(self.data_root, "images", name, "*.jpg")))
        if not pictures:
            raise FileNotFoundError(say("BSDS500", expected=f"images for {name!r}",
                                        received=f"none below {self.data_root}",
                                        do="Get the data set again."))
        self.data = np.stack([_landscape(read_image(p, "BSDS500"), p) for p in pictures])
        self.label = np.stack([self._edges(p, name) for p in pictures])

    def _edges(self, picture: str, name: str) -> np.ndarray:
        base = os.path.splitext(os.path.basename(picture))[0]
        path = os.path.join(self.data_root, "groundTruth", name, f"{base}.mat")
        people = read_mat(path, "BSDS500")["groundTruth"][0]
        marks = [np.asarray(p["Boundaries"][0][0], np.float32) for p in people]
        return _landscape(sum(marks[1:], start=marks[0]) / np.float32(len(marks)), path)

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.data)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, edges]``."""
        for k in shuffled(len(self.data), self.rng, self.shuffle):
            yield [self.data[k], self.label[k]]
