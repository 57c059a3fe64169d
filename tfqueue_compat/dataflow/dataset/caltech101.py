# SPDX-License-Identifier: Apache-2.0
"""Caltech 101 Silhouettes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...utils import logger  # noqa: F401 - tensorpack's module has it too
from ...utils.fs import download, get_dataset_path
from ..base import RNGDataFlow
from .common import check_name, read_mat, shuffled

__all__ = ["Caltech101Silhouettes"]

_URL = "https://people.cs.umass.edu/~marlin/data/"
_FILE = "caltech101_silhouettes_28_split1.mat"


def maybe_download(url: str, work_directory: str) -> str:
    """Return the path of a file in ``work_directory``; download it if it is not there.

    Args:
        url: where it can be had; its last part is the file's name.
        work_directory: where it belongs.
    """
    path = os.path.join(work_directory, url.rsplit("/", 1)[-1])
    return path if os.path.isfile(path) else download(url, work_directory)


class Caltech101Silhouettes(RNGDataFlow):
    """Produce ``[image, label]``: (28, 28) float32 of 0 and 1, and 0 to 100. Needs ``scipy``.

    Args:
        name: ``"train"`` (4,100), ``"test"`` (2,307) or ``"val"`` (2,264).
        shuffle: yield them in another random order at each pass.
        dir: where the file is; by default ``caltech101_data`` below the folder of data sets. It
            is downloaded if missing.
    """

    _DIR_NAME = "caltech101_data"
    _SOURCE_URL = _URL

    def __init__(self, name: str, shuffle: bool = True, dir: str | None = None) -> None:
        self.name = check_name("Caltech101Silhouettes", name, ("train", "test", "val"))
        self.shuffle = shuffle
        folder = get_dataset_path(self._DIR_NAME) if dir is None else dir
        content = read_mat(maybe_download(self._SOURCE_URL + _FILE, folder),
                           "Caltech101Silhouettes")
        self.images = content[f"{name}_data"].reshape(-1, 28, 28).astype(np.float32)
        self.labels = content[f"{name}_labels"].ravel() - 1

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.images)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for k in shuffled(len(self.images), self.rng, self.shuffle):
            yield [self.images[k], self.labels[k]]
