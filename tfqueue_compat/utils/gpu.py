# SPDX-License-Identifier: Apache-2.0
"""How many GPUs there are, and which of them to use."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import AbstractContextManager

from . import logger
from .nvml import NVMLContext, NvmlException
from .utils import change_env

__all__ = ["change_gpu", "get_nr_gpu", "get_num_gpu"]

_VISIBLE = "CUDA_VISIBLE_DEVICES"


def change_gpu(val: int | str | list[int]) -> AbstractContextManager[None]:
    """Return a context in which ``CUDA_VISIBLE_DEVICES`` is ``val``.

    Args:
        val: index of a GPU, or several, or -1 for none.
    """
    text = ",".join(map(str, val)) if isinstance(val, (list, tuple)) else str(val)
    return change_env(_VISIBLE, "" if text == "-1" else text)


def _listed() -> int | None:
    """Count what ``nvidia-smi`` lists; None where there is no such program or it fails."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    return len(lines) if done.returncode == 0 else None


def get_num_gpu() -> int:
    """Return the number of GPUs in ``CUDA_VISIBLE_DEVICES``, or else in the machine.

    TensorFlow is not asked: that would take hold of the devices.
    """
    visible = os.environ.get(_VISIBLE)
    if visible is not None:
        names = [n.strip() for n in visible.split(",")]
        return sum(1 for n in names if n and n != "-1")
    found = _listed()
    if found is None:
        try:
            with NVMLContext() as context:
                found = context.num_devices()
        except NvmlException as e:
            logger.debug("No GPU found: %s", e)
            found = 0
    return found


get_nr_gpu = get_num_gpu
