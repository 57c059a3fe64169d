# SPDX-License-Identifier: Apache-2.0
"""Files, folders and downloads."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Iterator

from . import logger
from .errors import say

__all__ = ["download", "get_dataset_path", "mkdir_p", "normpath", "recursive_walk"]


def mkdir_p(dirname: str) -> None:
    """Make a folder and those above it; fine if it exists.

    Args:
        dirname: the folder; ``""`` does nothing.
    """
    if dirname:
        os.makedirs(dirname, exist_ok=True)


def normpath(path: str) -> str:
    """Return ``path`` normalised, ``~`` expanded; a URL such as ``hdfs://...`` is left alone."""
    return path if "://" in path else os.path.normpath(os.path.expanduser(path))


def recursive_walk(rootdir: str) -> Iterator[str]:
    """Yield the path of every file below ``rootdir``."""
    for folder, _, names in os.walk(rootdir):
        for name in names:
            yield os.path.join(folder, name)


def get_dataset_path(*args: str) -> str:
    """Return the path of a dataset: below ``$TENSORPACK_DATASET``, or ``~/tensorpack_data``.

    Args:
        *args: path components below that folder.

    Example:
        >>> get_dataset_path("mnist_data").endswith("mnist_data")
        True
    """
    base = os.environ.get("TENSORPACK_DATASET")
    if base is None:
        base = os.path.join(os.path.expanduser("~"), "tensorpack_data")
    elif not os.path.isdir(base):
        raise FileNotFoundError(say("$TENSORPACK_DATASET", expected="a folder that exists",
                                    received=repr(base), do="Make it, or unset the variable."))
    return os.path.join(base, *args)


def _fetch(url: str, path: str) -> None:
    """Stream ``url`` into ``path`` with a progress bar; leave no half a file behind."""
    from .utils import get_tqdm
    part = path + ".part"
    try:
        with urllib.request.urlopen(url) as source, open(part, "wb") as sink:
            total = int(source.headers.get("Content-Length") or 0) or None
            with get_tqdm(total=total, unit="B", unit_scale=True,
                          desc=os.path.basename(path)) as bar:
                while block := source.read(1 << 16):
                    sink.write(block)
                    bar.update(len(block))
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def download(url: str, dir: str, filename: str | None = None,
             expect_size: int | None = None) -> str:
    """Download a file, unless it is there with the expected size, and return its path.

    Args:
        url: what to download.
        dir: folder to put it in; made if missing.
        filename: name of the file; by default the last part of the URL.
        expect_size: its size in bytes, where known; another size is warned about.

    Raises:
        OSError: where the download fails; the text says which file to put where by hand.
    """
    mkdir_p(dir)
    name = filename or url.rsplit("/", 1)[-1].partition("?")[0]
    path = os.path.join(dir, name)
    if os.path.isfile(path) and expect_size is not None and os.path.getsize(path) == expect_size:
        logger.info("File %s exists! Skip download.", name)
        return path
    try:
        _fetch(url, path)
    except OSError as e:  # URLError is one
        if isinstance(e, urllib.error.HTTPError):
            e.close()
        raise OSError(say(f"download of {url}", expected="the network to answer",
                          received=f"{type(e).__name__}: {e}",
                          do=f"Get the file elsewhere and put it at {path}.")) from e
    size = os.path.getsize(path)
    if expect_size is not None and size != expect_size:
        logger.warning("File %s has %d bytes, not the %d expected: it may be broken.",
                       path, size, expect_size)
    return path
