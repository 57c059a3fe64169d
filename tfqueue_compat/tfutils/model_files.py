# SPDX-License-Identifier: Apache-2.0
"""Model files: fetched where they lie behind a URL, and read."""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import Any
from urllib.parse import unquote, urlparse

import numpy as np

from ..utils.errors import say

__all__ = ["arrays_of_file", "local_path"]


def local_path(obj: Any) -> str:
    """Return the path on this machine of a path or a URL, fetched once.

    Args:
        obj: ``~`` and ``$NAME`` are expanded; ``file://`` is read in place; other URLs are
            fetched to a folder of the user's cache.
    """
    text = os.fspath(obj)
    url = urlparse(text)
    if url.scheme == "file":
        return unquote(url.path)
    if url.scheme in ("http", "https", "ftp"):
        return _fetched(text, os.path.basename(url.path))
    return os.path.expandvars(os.path.expanduser(text))


def _fetched(url: str, name: str) -> str:
    from ..utils.fs import download, get_dataset_path
    folder = get_dataset_path("models", hashlib.sha256(url.encode()).hexdigest()[:12])
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            os.replace(download(url, temporary, name), path)
    return path


def arrays_of_file(path: str) -> dict[str, Any]:
    """Return name -> array of an .npz file, or of an .npy file that holds a dict.

    Raises:
        FileNotFoundError: where there is none.
        ValueError: for an .npy file that holds no dict.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(say("model file", expected="a file", received=repr(path),
                                    do="Check the path."))
    if path.endswith(".npz"):
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    held = np.load(path, allow_pickle=True, encoding="latin1")
    content = held.item() if held.shape == () else held
    if not isinstance(content, dict):
        raise ValueError(say(f"model file {path!r}", expected="an .npy file that holds a dict",
                             received=f"an array of shape {held.shape}",
                             do="Save with np.savez(path, **arrays)."))
    return content
