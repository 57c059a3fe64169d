# SPDX-License-Identifier: Apache-2.0
"""CIFAR-10 and CIFAR-100."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...utils import logger  # noqa: F401 - tensorpack's module has it too
from ...utils.errors import say
from ...utils.fs import get_dataset_path
from ..base import RNGDataFlow
from .common import check_name, download_and_extract, shuffled

__all__ = ["Cifar10", "Cifar100", "CifarBase"]

DATA_URL_CIFAR_10 = ("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz", 170498071)
DATA_URL_CIFAR_100 = ("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz", 169001437)


def get_filenames(dir: str, cifar_classnum: int) -> tuple[list[str], list[str], str]:
    """Return the files of training, the files of testing, and the file of the names.

    Args:
        dir: where the archive was unpacked.
        cifar_classnum: 10 or 100.
    """
    if cifar_classnum == 10:
        folder = os.path.join(dir, "cifar-10-batches-py")
        train = [os.path.join(folder, f"data_batch_{k}") for k in range(1, 6)]
        return train, [os.path.join(folder, "test_batch")], os.path.join(folder, "batches.meta")
    if cifar_classnum == 100:
        folder = os.path.join(dir, "cifar-100-python")
        whole, rest, names = (os.path.join(folder, n) for n in ("train", "test", "meta"))
        return [whole], [rest], names
    raise ValueError(say("CIFAR", expected="10 or 100 classes", received=str(cifar_classnum),
                         do="Pass cifar_classnum=10 or 100."))


def maybe_download_and_extract(dest_directory: str, cifar_classnum: int) -> None:
    """Download and unpack what is missing.

    Args:
        dest_directory: where it belongs.
        cifar_classnum: 10 or 100.
    """
    train, test, meta = get_filenames(dest_directory, cifar_classnum)
    if not all(os.path.isfile(f) for f in [*train, *test, meta]):
        url, size = DATA_URL_CIFAR_10 if cifar_classnum == 10 else DATA_URL_CIFAR_100
        download_and_extract(url, dest_directory, size)


def _load(filename: str) -> dict[str, Any]:
    """Read a file that Python 2 pickled; its keys become str."""
    with open(filename, "rb") as file:
        content = pickle.load(file, encoding="bytes")
    return {k.decode() if isinstance(k, bytes) else k: v for k, v in content.items()}


def read_cifar(filenames: Sequence[str], cifar_classnum: int) -> list[list[Any]]:
    """Return ``[image, label]`` of all images in some files, in their order.

    Args:
        filenames: as :func:`get_filenames` returns.
        cifar_classnum: 10 or 100.
    """
    found = []
    for filename in filenames:
        content = _load(filename)
        labels = content["labels" if cifar_classnum == 10 else "fine_labels"]
        images = content["data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        found += [[image, int(label)] for image, label in zip(images, labels)]
    return found


class CifarBase(RNGDataFlow):
    """Produce ``[image, label]`` of CIFAR: 50,000 to train, 10,000 to test.

    Images are (32, 32, 3) uint8, RGB; labels are ints.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: yield them in another random order at each pass; by default in training.
        dir: where ``cifar-10-batches-py`` or ``cifar-100-python`` is; by default
            ``cifar10_data`` or ``cifar100_data`` below the folder of data sets. What is missing
            is downloaded.
        cifar_classnum: 10 or 100.
    """

    def __init__(self, train_or_test: str, shuffle: bool | None = None, dir: str | None = None,
                 cifar_classnum: int = 10) -> None:
        self.train_or_test = check_name(type(self).__name__, train_or_test, ("train", "test"))
        self.cifar_classnum = cifar_classnum
        self.shuffle = train_or_test == "train" if shuffle is None else shuffle
        self.dir = get_dataset_path(f"cifar{cifar_classnum}_data") if dir is None else dir
        maybe_download_and_extract(self.dir, cifar_classnum)
        self.fs = self._files((train_or_test,))
        self.data = read_cifar(self.fs, cifar_classnum)

    def _files(self, names: Sequence[str]) -> list[str]:
        train, test, _ = get_filenames(self.dir, self.cifar_classnum)
        parts = {"train": train, "test": test}
        return [f for n in names for f in parts[check_name("CIFAR", n, ("train", "test"))]]

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.data)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for k in shuffled(len(self.data), self.rng, self.shuffle):
            yield list(self.data[k])

    def get_per_pixel_mean(self, names: Sequence[str] = ("train", "test")) -> np.ndarray:
        """Return the mean image, (32, 32, 3) float32, of the named parts.

        Args:
            names: ``"train"``, ``"test"`` or both.
        """
        images = [image for image, _ in read_cifar(self._files(names), self.cifar_classnum)]
        mean: np.ndarray = np.mean(np.array(images, dtype=np.float32), axis=0)
        return mean

    def get_per_channel_mean(self, names: Sequence[str] = ("train", "test")) -> np.ndarray:
        """Return the mean of each channel, (3,) float32, of the named parts.

        Args:
            names: ``"train"``, ``"test"`` or both.
        """
        mean: np.ndarray = np.mean(self.get_per_pixel_mean(names), axis=(0, 1))
        return mean

    def get_label_names(self) -> list[str]:
        """Return the names of the classes, in the order of their labels."""
        meta = _load(get_filenames(self.dir, self.cifar_classnum)[2])
        names = meta["label_names" if self.cifar_classnum == 10 else "fine_label_names"]
        return [n.decode() if isinstance(n, bytes) else n for n in names]


class Cifar10(CifarBase):
    """Produce ``[image, label]`` of CIFAR-10; see :class:`CifarBase`.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: as in :class:`CifarBase`.
        dir: as in :class:`CifarBase`.
    """

    def __init__(self, train_or_test: str, shuffle: bool | None = None, dir: str | None = None
                 ) -> None:
        super().__init__(train_or_test, shuffle, dir, 10)


class Cifar100(CifarBase):
    """Produce ``[image, label]`` of CIFAR-100, with its fine labels; see :class:`CifarBase`.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: as in :class:`CifarBase`.
        dir: as in :class:`CifarBase`.
    """

    def __init__(self, train_or_test: str, shuffle: bool | None = None, dir: str | None = None
                 ) -> None:
        super().__init__(train_or_test, shuffle, dir, 100)
