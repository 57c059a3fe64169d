# SPDX-License-Identifier: Apache-2.0
"""Places365-Standard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ...utils import logger
from ...utils.errors import say
from ..base import RNGDataFlow
from .common import check_name, read_image, shuffled

__all__ = ["Places365Standard"]


class Places365Standard(RNGDataFlow):
    """Produce ``[image, label]``: (256, 256, 3) uint8 BGR, and 0 to 364. Needs OpenCV.

    Args:
        dir: the data set in its "easy directory structure": ``{name}.txt`` there lists images as
            ``{name}/{class}/{file}``. Labels number the classes in alphabetical order.
        name: ``"train"`` or ``"val"``.
        shuffle: yield them in another random order at each pass; by default in training.
    """

    def __init__(self, dir: str, name: str, shuffle: bool | None = None) -> None:
        check_name("Places365Standard", name, ("train", "val"))
        folder = os.path.expanduser(dir)
        self.shuffle = name == "train" if shuffle is None else shuffle
        listing = os.path.join(folder, f"{name}.txt")
        with open(listing) as file:
            names = [line.strip() for line in file if line.strip()]
        if any(n.count("/") < 2 for n in names):
            raise ValueError(say(listing, expected=f"lines of {name}/class/file",
                                 received=next(n for n in names if n.count("/") < 2),
                                 do="Get the 'easy directory structure'."))
        classes = [n.split("/")[1] for n in names]
        self._labels = sorted(set(classes))
        number = {c: k for k, c in enumerate(self._labels)}
        self._files = [(os.path.join(folder, n), number[c]) for n, c in zip(names, classes)]
        logger.info("Found %d images in %s.", len(names), listing)

    def get_label_names(self) -> list[str]:
        """Return the names of the classes, in the order of their labels."""
        return self._labels

    def __len__(self) -> int:
        """Return the number of images in this part."""
        return len(self._files)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[image, label]``."""
        for k in shuffled(len(self._files), self.rng, self.shuffle):
            path, label = self._files[k]
            yield [read_image(path, "Places365Standard"), label]
