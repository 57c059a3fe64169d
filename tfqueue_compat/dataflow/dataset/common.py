# SPDX-License-Identifier: Apache-2.0
"""What several data sets need."""

from __future__ import annotations

import os
import tarfile
from typing import Any

import numpy as np

from ...utils.errors import near, require, say
from ...utils.fs import download

__all__ = ["check_name", "download_and_extract", "read_image", "read_mat", "shuffled"]


def check_name(owner: str, name: str, names: tuple[str, ...]) -> str:
    """Return ``name`` if it is one of ``names``.

    Raises:
        ValueError: where it is not.
    """
    if name not in names:
        raise ValueError(say(owner, expected=" or ".join(map(repr, names)),
                             received=repr(name) + near(name, names).rstrip("?"),
                             do="Pass one of them."))
    return name


def shuffled(size: int, rng: np.random.RandomState, shuffle: bool) -> list[int]:
    """Return the numbers below ``size``, in random order if so wished."""
    order = np.arange(size)
    if shuffle:
        rng.shuffle(order)
    return order.tolist()  # type: ignore[no-any-return]


def download_and_extract(url: str, folder: str, size: int | None = None) -> None:
    """Download a ``.tar.gz`` (or ``.tgz``) and unpack it in ``folder``.

    Args:
        url: where it can be had.
        folder: where it belongs; an archive that is there already is used.
        size: its size in bytes.
    """
    archive = os.path.join(folder, url.rsplit("/", 1)[-1])
    if not os.path.isfile(archive):
        archive = download(url, folder, expect_size=size)
    with tarfile.open(archive, "r:gz") as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:  # Python 3.10 and 3.11 before the filters came
            tar.extractall(folder)


def read_mat(path: str, wanted_by: str) -> dict[str, Any]:
    """Return the variables of a MATLAB file."""
    content: dict[str, Any] = require("scipy.io", "scipy", wanted_by).loadmat(path)
    return content


def read_image(path: str, wanted_by: str) -> np.ndarray:
    """Return an image file as (height, width, 3), uint8, BGR.

    Raises:
        OSError: where OpenCV cannot read it.
    """
    image = require("cv2", "opencv-python-headless", wanted_by).imread(path)
    if image is None:
        raise OSError(say(wanted_by, expected=f"an image at {path}",
                          received="nothing that OpenCV can read" if os.path.exists(path)
                          else "no such file", do="Get the file again."))
    found: np.ndarray = image
    return found
