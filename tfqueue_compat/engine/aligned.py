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

__all__ = ["align_this_thread", "keep_freed_memory", "restore_this_thread"]

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


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory instead of handing it back to the kernel.

    Large arrays are then made in memory whose pages are mapped already. It holds for the whole
    process from now on, and the process keeps the most memory that it ever needed.

    Returns:
        False where it can't be done (not glibc).
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    trim_threshold, mmap_max = -1, -4  # malloc.h: M_TRIM_THRESHOLD, M_MMAP_MAX
    return bool(libc.mallopt(mmap_max, 0) and libc.mallopt(trim_threshold, (1 << 31) - 1))


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
