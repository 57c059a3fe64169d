# SPDX-License-Identifier: Apache-2.0
"""MNIST and Fashion-MNIST."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import numpy as np

from ...utils import logger  # noqa: F401 - tensorpack's module has it too
from ...utils.errors import say
from ...utils.fs import download, get_dataset_path
from ..base import RNGDataFlow

__all__ = ["FashionMnist", "Mnist"]

_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"  # lecun.com turns programs away
_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_FILES = {"train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
          "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}
_IMAGES, _LABELS = 2051, 2049  # first four bytes of the two kinds of file


def maybe_download(url: str, work_directory: str) -> str:
    """Return the path of a file in ``work_directory``; download it if it is not there.

    Args:
        url: where it can be had; its last part is the file's name.
        work_directory: where it belongs.

    Raises:
        OSError: where it has to be downloaded and cannot be; the text says what to put where.
    """
    name = url.rsplit("/", 1)[-1]
    for path in (os.path.join(work_directory, name),
                 os.path.join(work_directory, name.removesuffix(".gz"))):
        if os.path.isfile(path):
            return path
    return download(url, work_directory)


def _open(filename: str) -> BinaryIO:
    opened = gzip.open(filename) if filename.endswith(".gz") else open(filename, "rb")
    return cast(BinaryIO, opened)


def _read(filename: str, magic: int, ndim: int) -> np.ndarray:
    """Read an IDX file of unsigned bytes."""
    with _open(filename) as file:
        head = np.frombuffer(file.read(4 * (1 + ndim)), ">u4")
        data = np.frombuffer(file.read(), np.uint8)
    shape = tuple(int(n) for n in head[1:])
    if len(head) != 1 + ndim or head[0] != magic or data.size != np.prod(shape):
        raise ValueError(say(filename, expected=f"an IDX file, number {magic}, whole",
                             received=f"number {head[0] if len(head) else None}, header {shape}, "
                             f"{data.size} bytes of data",
                             do="Delete it and let it be downloaded again."))
    return data.reshape(shape)


def extract_images(filename: str) -> np.ndarray:
    """Return the images of an IDX file: (n, height, width, 1), float32 in [0, 1].

    Args:
        filename: the file, gzipped or not.
    """
    return _read(filename, _IMAGES, 3)[..., None].astype(np.float32) / np.float32(255)


def extract_labels(filename: str) -> np.ndarray:
    """Return the labels of an IDX file: (n,), uint8.

    Args:
        filename: the file, gzipped or not.
    """
    return _read(filename, _LABELS, 1)


class Mnist(RNGDataFlow):
    """Produce ``[image, label]`` of MNIST: 60,000 to train, 10,000 to test.

    Images are (28, 28) float32 in [0, 1], labels uint8 from 0 to 9.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: yield them in another random order at each pass.
        dir: where the four files are; by default ``mnist_data`` below the folder of
            :func:`~tfqueue_compat.utils.fs.get_dataset_path`. What is missing is downloaded.

    Raises:
        OSError: where a file is missing and cannot be downloaded.
    """

    _DIR_NAME = "mnist_data"
    _SOURCE_URL = _MNIST

    def __init__(self, train_or_test: str, shuffle: bool = True, dir: str | None = None) -> None:
        if train_or_test not in _FILES:
            raise ValueError(say(type(self).__name__, expected="'train' or 'test'",
                                 received=repr(train_or_test), do="Pass one of them."))
        self.train_or_test = train_or_test
        self.shuffle = shuffle
        folder = get_dataset_path(self._DIR_NAME) if dir is None else dir
        images, labels = (maybe_download(self._SOURCE_URL + name, folder)
                          for name in _FILES[train_or_test])
        self.images = extract_images(images)
        self.labels = extract_labels(labels)

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self.images)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        order = np.arange(len(self.images))
        if self.shuffle:
            self.rng.shuffle(order)
        images = self.images.reshape(self.images.shape[:3])
        for k in order:
            yield [images[k], self.labels[k]]


class FashionMnist(Mnist):
    """Produce ``[image, label]`` of Fashion-MNIST, in the form of :class:`Mnist`.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: yield them in another random order at each pass.
        dir: where the four files are; by default ``fashion_mnist_data``.
    """

    _DIR_NAME = "fashion_mnist_data"
    _SOURCE_URL = _FASHION

    def get_label_names(self) -> list[str]:
        """Return the names of the ten classes, in the order of their labels."""
        return ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                "Sneaker", "Bag", "Ankle boot"]
