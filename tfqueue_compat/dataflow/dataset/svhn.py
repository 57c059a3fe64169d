# SPDX-License-Identifier: Apache-2.0
"""Street View House Numbers, cropped digits."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...utils import logger
from ...utils.fs import download, get_dataset_path
from ..base import RNGDataFlow
from .common import check_name, read_mat, shuffled

__all__ = ["SVHNDigit"]

SVHN_URL = "http://ufldl.stanford.edu/housenumbers/"
_NAMES = ("train", "test", "extra")


def _load(name: str, folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Return images (n, 32, 32, 3) and labels (n,) of a part."""
    folder = get_dataset_path("svhn_data") if folder is None else folder
    filename = f"{name}_32x32.mat"
    path = os.path.join(folder, filename)
    if not os.path.isfile(path):
        download(SVHN_URL + filename, folder)
    logger.info("Loading %s ...", path)
    content = read_mat(path, "SVHNDigit")
    labels = content["y"].reshape(-1)
    return content["X"].transpose(3, 0, 1, 2), np.where(labels == 10, 0, labels)


class SVHNDigit(RNGDataFlow):
    """Produce ``[image, label]``: (32, 32, 3) uint8 RGB, and 0 to 9. Needs ``scipy``.

    Args:
        name: ``"train"``, ``"test"`` or ``"extra"``.
        data_dir: where ``{name}_32x32.mat`` is; by default ``svhn_data`` below the folder of data
            sets. What is missing is downloaded.
        shuffle: yield them in another random order at each pass.
    """

    def __init__(self, name: str, data_dir: str | None = None, shuffle: bool = True) -> None:
        self.name = check_name("SVHNDigit", name, _NAMES)
        self.shuffle = shuffle
        self.X, self.Y = _load(name, data_dir)

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.X)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for k in shuffled(len(self.X), self.rng, self.shuffle):
            # the file has the axes the other way round: hand out plain rows
            yield [np.ascontiguousarray(self.X[k]), self.Y[k]]

    @staticmethod
    def get_per_pixel_mean(names: Sequence[str] = _NAMES) -> np.ndarray:
        """Return the mean image, (32, 32, 3) float64, of the named parts.

        Args:
            names: some of ``"train"``, ``"test"`` and ``"extra"``.
        """
        parts = [_load(check_name("SVHNDigit", n, _NAMES), None)[0] for n in names]
        total = sum(p.sum(axis=0, dtype=np.float64) for p in parts)
        return np.asarray(total / sum(len(p) for p in parts))
