# SPDX-License-Identifier: Apache-2.0
"""Lets NumPy allocate 64-byte aligned arrays in the calling thread.

TensorFlow aliases such arrays and copies all others. NumPy lets an allocator be set for the
current context (NEP 49), through its C API only; ctypes reaches it, on glibc.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import platform
import threading
from typing import Any

import numpy as np

from .buffers import is_aligned

__all__ = ["align_this_thread", "keep_pages", "restore_this_thread"]

_LARGEST_KEPT = (32 << 20) - (1 << 17)  # malloc.h: DEFAULT_MMAP_THRESHOLD_MAX, less its header
_SET_HANDLER = 304  # PyDataMem_SetHandler in NumPy's C API table, since 1.22


_thread = threading.local()


class _Allocator(ctypes.Structure):  # numpy: PyDataMemAllocator, CPython: PyMemAllocatorEx
    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


class _Handler(ctypes.Structure):  # numpy: PyDataMem_Handler
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8),
                ("allocator", _Allocator)]


def align_this_thread() -> bool:
    """From now on, NumPy's new arrays in this thread are aligned.

    Arrays keep the allocator they came from, so they may outlive the thread and be freed anywhere.

    Returns:
        False where it can't be done (not glibc, a debug allocator); nothing has changed then.
    """
    made = _handler()
    if made is None:
        return False
    set_handler, capsule = made
    before = set_handler(capsule)
    if before is not capsule:
        _thread.before = before
    if all(is_aligned(np.empty(size, np.uint8)) for size in (1 << 14, 1 << 17)):
        return True
    set_handler(before)
    return False


def restore_this_thread() -> None:
    """NumPy's new arrays in this thread come from its default allocator again."""
    made = _handler()
    before = getattr(_thread, "before", None)
    if made is not None and before is not None:
        made[0](before)


@functools.cache
def keep_pages() -> None:
    """Let glibc keep the pages of freed arrays of up to 32 MB, for arrays to come.

    glibc gives memory of more than 128 KB back to the kernel at once, until it has seen that a
    program frees large blocks: then it keeps as much as the largest one needs. Here it sees one,
    which is never written to. Without it, the arrays of a dataflow may each be made in fresh
    pages, at several times the cost of filling them.
    """
    np.empty(_LARGEST_KEPT, np.uint8)


@functools.cache
def _handler() -> tuple[Any, Any] | None:
    """The setter and our handler's capsule; made once, as arrays refer to it for ever."""
    if platform.python_implementation() != "CPython" or platform.libc_ver()[0] != "glibc":
        return None
    try:
        libc = ctypes.CDLL(None)
        raw = _Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(0, ctypes.byref(raw))
        if raw.ctx:  # PYTHONMALLOC=debug puts its own state there
            return None
        # NumPy calls malloc(ctx, size): with ctx = 64 that is aligned_alloc(64, size).
        # CPython's raw calloc, realloc and free ignore ctx and end in libc's.
        handler = _Handler(b"tfqueue_aligned", 1, _Allocator(
            64, ctypes.cast(libc.aligned_alloc, ctypes.c_void_p).value,
            raw.calloc, raw.realloc, raw.free))
        return _numpy_setter(), _capsule(handler)
    except (AttributeError, OSError, ValueError):
        return None


def _numpy_setter() -> Any:
    home = "numpy._core" if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else "numpy.core"
    umath = importlib.import_module(f"{home}._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


_kept: list[Any] = []


def _capsule(handler: _Handler) -> Any:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    name = ctypes.c_char_p(b"mem_handler")
    _kept.extend([handler, name])
    return new(ctypes.addressof(handler), name, None)
