# SPDX-License-Identifier: Apache-2.0
"""Random numbers, progress bars and other small helps."""

from __future__ import annotations

import ctypes.util
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import logger  # noqa: F401 - tensorpack's module has it too

if TYPE_CHECKING:
    from tqdm import tqdm

__all__ = ["change_env", "execute_only_once", "fix_rng_seed", "get_rng", "get_tqdm",
           "humanize_time_delta"]

_RNG_SEED: int | None = None  # users reach for it
_executed: set[tuple[str, int]] = set()


@contextmanager
def change_env(name: str, val: str | int) -> Iterator[None]:
    """Set an environment variable for the time of a ``with`` block.

    Args:
        name: the variable.
        val: its value; turned into a string.
    """
    before = os.environ.get(name)
    os.environ[name] = str(val)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def fix_rng_seed(seed: int) -> None:
    """Make every later :func:`get_rng` start from ``seed``.

    Call it at the start of a program, before dataflows are reset.

    Args:
        seed: an integer in ``[0, 2**32)``.
    """
    global _RNG_SEED
    _RNG_SEED = int(seed)


def get_rng(obj: Any = None) -> np.random.RandomState:
    """Return a generator of random numbers for ``obj``.

    It is seeded by :func:`fix_rng_seed`, or else by the object, the process and the time, so that
    two objects, and one object in two processes, draw different numbers.

    Args:
        obj: the object that will draw.

    Example:
        >>> fix_rng_seed(1)
        >>> int(get_rng().randint(100)) == int(get_rng().randint(100))
        True
    """
    if _RNG_SEED is not None:
        return np.random.RandomState(_RNG_SEED)
    return np.random.RandomState((id(obj) + os.getpid() * 1000003 + time.time_ns()) % 2**32)


def get_tqdm_kwargs(**kwargs: Any) -> dict[str, Any]:
    """Return the keywords this package gives to ``tqdm``, with ``kwargs`` on top.

    ``TENSORPACK_PROGRESS_REFRESH`` sets the seconds between two refreshes; by default 0.5 on a
    terminal and 180 elsewhere.
    """
    out = kwargs.get("file") or sys.stderr
    interval = 0.5 if getattr(out, "isatty", bool)() else 180
    interval = float(os.environ.get("TENSORPACK_PROGRESS_REFRESH", interval))
    mine = {"smoothing": 0.5, "dynamic_ncols": True, "ascii": True, "mininterval": interval,
            "bar_format": "{l_bar}{bar}|{n_fmt}/{total_fmt}"
                          "[{elapsed}<{remaining},{rate_noinv_fmt}]"}
    return {**mine, **kwargs}


def get_tqdm(*args: Any, **kwargs: Any) -> tqdm[Any]:
    """Return a ``tqdm`` progress bar in the house's form.

    Args:
        *args: as for ``tqdm``.
        **kwargs: as for ``tqdm``; they win over the house's.
    """
    from tqdm import tqdm as bar  # costs 30 ms
    return bar(*args, **get_tqdm_kwargs(**kwargs))


def humanize_time_delta(sec: float) -> str:
    """Return a number of seconds in words.

    Args:
        sec: seconds, not negative.

    Example:
        >>> humanize_time_delta(3661)
        '1 hour 1 minute 1 second'
    """
    if sec < 0:
        raise ValueError(f"humanize_time_delta: Expected seconds >= 0. Received {sec}. "
                         "Do: subtract the earlier time from the later.")
    if 0 < sec < 1:
        return f"{sec:.3g} second"
    left = int(sec)
    words = []
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        n, left = divmod(left, size)
        if n:
            words.append(f"{n} {unit}{'s' if n > 1 else ''}")
    return " ".join(words) or "0 second"


def execute_only_once() -> bool:
    """Return True the first time a line of code asks, and False ever after.

    Example:
        >>> [execute_only_once() for _ in range(3)]
        [True, False, False]
    """
    frame = inspect.currentframe()
    caller = frame.f_back if frame is not None else None
    if caller is None:
        return True
    key = (caller.f_code.co_filename, caller.f_lineno)
    first = key not in _executed
    _executed.add(key)
    return first


def find_library_full_path(name: str) -> str | None:
    """Return where the shared library ``lib<name>`` lies, or None.

    Args:
        name: name as a linker takes it, e.g. ``"nvidia-ml"``.
    """
    found = ctypes.util.find_library(name)
    if found is None or os.path.isabs(found) or sys.platform != "linux":
        return found
    with open("/proc/self/maps") as f:
        loaded = [line.split()[-1] for line in f if found in line]
    if loaded:
        return loaded[0]
    return _search(found) or found


def _search(filename: str) -> str | None:
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    folders += ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib",
                f"/usr/lib/{os.uname().machine}-linux-gnu"]
    is_file: Callable[[str], bool] = os.path.isfile
    paths = (os.path.join(d, filename) for d in folders if d)
    return next((p for p in paths if is_file(p)), None)
