# SPDX-License-Identifier: Apache-2.0
"""Lets NumPy allocate 64-byte aligned arrays in the calling thread, large ones in warm memory.

TensorFlow aliases such arrays and copies all others. NumPy lets an allocator be set for the
current context (NEP 49), through its C API only; ctypes reaches it, on glibc.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib
import platform
import threading
from typing import Any

import numpy as np

from .buffers import is_aligned
from .recycler import Recycler

__all__ = ["align_this_thread", "restore_this_thread"]

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
    aligner = _aligner()
    return aligner is not None and aligner.begin()


def restore_this_thread() -> None:
    """NumPy's new arrays in this thread come from its default allocator again."""
    aligner = _aligner()
    if aligner is not None:
        aligner.end()


class _Aligner:
    """Our handler, and which threads use it.

    While none does, the handler's ``free`` is libc's: what the threads have left behind is then
    freed where it is dropped, also while Python ends.
    """

    def __init__(self, libc: ctypes.CDLL, set_handler: Any, free: Any) -> None:
        self._recycler = Recycler(libc)
        self._plain_free = free
        malloc, calloc, realloc, self._noting_free = self._recycler.pointers
        self._handler = _Handler(b"tfqueue_aligned", 1,
                                 _Allocator(0, malloc, calloc, realloc, free))
        self._set_handler, self._capsule = set_handler, _capsule(self._handler)
        self._threads: set[int] = set()
        atexit.register(self._leave_all)

    def begin(self) -> bool:
        self._threads.add(threading.get_ident())
        self._handler.allocator.free = self._noting_free
        before = self._set_handler(self._capsule)
        if before is not self._capsule:
            _thread.before = before
        if all(is_aligned(np.empty(size, np.uint8)) for size in (1 << 14, 1 << 17)):
            return True
        self.end()
        return False

    def end(self) -> None:
        before = getattr(_thread, "before", None)
        if before is not None:
            self._set_handler(before)
        self._threads.discard(threading.get_ident())
        if not self._threads:
            self._leave_all()

    def _leave_all(self) -> None:
        self._handler.allocator.free = self._plain_free
        self._recycler.forget()


@functools.cache
def _aligner() -> _Aligner | None:
    """Made once, as arrays refer to it for ever."""
    if platform.python_implementation() != "CPython" or platform.libc_ver()[0] != "glibc":
        return None
    try:
        raw = _Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(0, ctypes.byref(raw))
        if raw.ctx:  # PYTHONMALLOC=debug puts its own state there
            return None
        # CPython's raw free ignores its first argument, as NumPy's handlers may, and is libc's.
        return _Aligner(ctypes.CDLL(None), _numpy_setter(), raw.free)
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
