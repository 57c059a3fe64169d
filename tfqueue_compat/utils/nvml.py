# SPDX-License-Identifier: Apache-2.0
"""Memory and load of NVIDIA GPUs, read from the driver's library ``libnvidia-ml``."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

from .errors import say

__all__ = ["NVMLContext"]

_LIBRARY = "libnvidia-ml.so.1"
_MEANINGS = {1: "not initialised", 2: "bad argument", 3: "not supported", 4: "no permission",
             6: "not found", 9: "driver not loaded", 12: "library not found",
             13: "function not found", 15: "the GPU is lost", 999: "unknown"}
_NO_LIBRARY, _NO_FUNCTION = 12, 13


class NvmlException(Exception):
    """The library is not there or answered with an error.

    Args:
        error_code: NVML's number.
    """

    def __init__(self, error_code: int) -> None:
        super().__init__(say("NVML", expected="an NVIDIA driver that answers",
                             received=f"error {error_code}, "
                             f"{_MEANINGS.get(error_code, 'see nvml.h')}",
                             do="Look whether nvidia-smi works here."))
        self.error_code = error_code


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class _Load(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]


class NVML:
    """The driver's library, loaded when first needed."""

    def __init__(self) -> None:
        self._library: Any = None
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the library, once.

        Raises:
            NvmlException: where there is none.
        """
        with self._lock:
            if self._library is None:
                try:
                    self._library = ctypes.CDLL(_LIBRARY)
                except OSError as e:
                    raise NvmlException(_NO_LIBRARY) from e

    def get_function(self, name: str) -> Callable[..., None]:
        """Return a function of the library that raises on an error.

        Args:
            name: e.g. ``"nvmlInit_v2"``.
        """
        self.load()
        function = getattr(self._library, name, None)
        if function is None:
            raise NvmlException(_NO_FUNCTION)

        def call(*args: Any) -> None:
            code = function(*args)
            if code != 0:
                raise NvmlException(code)
        return call


_NVML = NVML()


class NvidiaDevice:
    """One GPU.

    Args:
        hnd: NVML's handle of it.
    """

    def __init__(self, hnd: Any) -> None:
        self.hnd = hnd

    def memory(self) -> dict[str, int]:
        """Return ``total``, ``free`` and ``used`` memory in bytes."""
        got = _Memory()
        _NVML.get_function("nvmlDeviceGetMemoryInfo")(self.hnd, ctypes.byref(got))
        return {"total": got.total, "free": got.free, "used": got.used}

    def utilization(self) -> dict[str, int]:
        """Return the percent of the last second in which ``gpu`` and its ``memory`` worked."""
        got = _Load()
        _NVML.get_function("nvmlDeviceGetUtilizationRates")(self.hnd, ctypes.byref(got))
        return {"gpu": got.gpu, "memory": got.memory}

    def name(self) -> bytes:
        """Return the model's name."""
        got = ctypes.create_string_buffer(96)
        _NVML.get_function("nvmlDeviceGetName")(self.hnd, got, ctypes.c_uint(96))
        return got.value


class NVMLContext:
    """A ``with`` block in which GPUs can be asked.

    Example:
        .. code-block:: python

            with NVMLContext() as context:
                for device in context.devices():
                    print(device.name(), device.memory()["used"])
    """

    def __enter__(self) -> NVMLContext:
        """Start NVML."""
        _NVML.get_function("nvmlInit_v2")()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop NVML."""
        _NVML.get_function("nvmlShutdown")()

    def num_devices(self) -> int:
        """Return the number of GPUs."""
        n = ctypes.c_uint()
        _NVML.get_function("nvmlDeviceGetCount_v2")(ctypes.byref(n))
        return n.value

    def devices(self) -> list[NvidiaDevice]:
        """Return all GPUs."""
        return [self.device(k) for k in range(self.num_devices())]

    def device(self, idx: int) -> NvidiaDevice:
        """Return GPU number ``idx``."""
        handle = ctypes.c_void_p()
        _NVML.get_function("nvmlDeviceGetHandleByIndex_v2")(ctypes.c_uint(idx),
                                                            ctypes.byref(handle))
        return NvidiaDevice(handle)
