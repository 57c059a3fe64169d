# SPDX-License-Identifier: Apache-2.0
"""A small real data set that comes with the package: UCI's handwritten digits."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...utils.errors import say
from ..base import RNGDataFlow

__all__ = ["Digits"]

_FILE = os.path.join(os.path.dirname(__file__), "data", "digits.npz")
_TRAIN = 1297  # of 1797; the rest is for testing


class Digits(RNGDataFlow):
    """Produce ``[image, label]`` of 1,797 handwritten digits, offline.

    Images are (8, 8) float32 in [0, 1], labels are ints from 0 to 9. The first 1,297 of the
    file are ``"train"``, the last 500 ``"test"``; the file is ordered by writer, so that most
    digits of the test were written by people whom training has not seen.

    Source: Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning
    Repository, https://doi.org/10.24432/C50P49, CC BY 4.0.

    Args:
        train_or_test: ``"train"`` or ``"test"``.
        shuffle: yield the digits in another random order at each pass.

    Example:
        >>> len(Digits("train")), len(Digits("test"))
        (1297, 500)
    """

    def __init__(self, train_or_test: str, shuffle: bool = True) -> None:
        if train_or_test not in ("train", "test"):
            raise ValueError(say("Digits", expected="'train' or 'test'",
                                 received=repr(train_or_test), do="Pass one of them."))
        self.train_or_test = train_or_test
        self.shuffle = shuffle
        part = slice(0, _TRAIN) if train_or_test == "train" else slice(_TRAIN, None)
        with np.load(_FILE) as file:
            self.images = file["images"][part].astype(np.float32) / 16
            self.labels = file["labels"][part].astype(np.int32)

    def __len__(self) -> int:
        """Return the number of digits in this part."""
        return len(self.images)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        order = np.arange(len(self.images))
        if self.shuffle:
            self.rng.shuffle(order)
        for k in order:
            yield [self.images[k], int(self.labels[k])]
