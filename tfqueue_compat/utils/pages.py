# SPDX-License-Identifier: Apache-2.0
"""The pages of freed arrays, kept for arrays to come."""

from __future__ import annotations

import ctypes
import functools
import platform
from typing import Any

__all__ = ["keep_pages"]

_LARGEST_KEPT = 32 << 20  # malloc.c: DEFAULT_MMAP_THRESHOLD_MAX
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h


def keep_pages() -> None:
    """Let glibc keep the pages of freed arrays of up to 32 MB, in this process and its children.

    glibc gives memory of more than 128 KB back to the kernel at once, until it has seen that a
    program frees large blocks: then it keeps as much as the largest one needs. TensorFlow 2.21
    ends that for the whole process when it makes a generator's dataset
    (``generator_dataset_op.cc``: ``mallopt(M_MMAP_THRESHOLD, 131072)``), and each array of a
    dataflow is made in fresh pages from then on, at several times the cost of filling them. Here
    glibc is told the most that it would have learned by itself.
    """
    mallopt = _mallopt()
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
        mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST_KEPT)


@functools.cache
def _mallopt() -> Any:
    if platform.libc_ver()[0] != "glibc":
        return None
    return getattr(ctypes.CDLL(None), "mallopt", None)
