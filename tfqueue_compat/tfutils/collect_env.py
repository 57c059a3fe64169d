# SPDX-License-Identifier: Apache-2.0
"""What a bug report should say about the machine and the packages on it."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import platform
import sys
from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np
import tabulate as _tabulate
import tensorflow as tf

import tfqueue_compat as tensorpack

from ..utils.nvml import NVMLContext, NvmlException
from ..utils.utils import find_library_full_path as find_library

__all__ = ["NVMLContext", "OrderedDict", "collect_env_info", "defaultdict", "find_library",
           "parse_TF_build_info", "tabulate", "tensorpack"]

tabulate = _tabulate.tabulate


def parse_TF_build_info() -> list[tuple[str, str]]:
    """Return (name, value) of what TensorFlow was built for: versions of CUDA and cuDNN.

    Empty on a build for CPUs.
    """
    info = tf.sysconfig.get_build_info()
    names = {"cuda_version": "TF built with CUDA", "cudnn_version": "TF built with cuDNN"}
    return [(label, str(info[key])) for key, label in names.items() if info.get(key)]


def collect_env_info() -> str:
    """Return a table of versions and devices, to paste into a bug report.

    Example:
        >>> "Python" in collect_env_info()
        True
    """
    rows: list[tuple[str, str]] = [
        ("sys.platform", sys.platform),
        ("Python", sys.version.replace("\n", "")),
        ("tfqueue_compat", tensorpack.__version__),
        ("NumPy", np.__version__),
        ("TensorFlow", f"{tf.version.VERSION}/{tf.version.GIT_VERSION}"),
        ("TF compiler", tf.version.COMPILER_VERSION.replace("\n", " ")),
        ("CUDA support", str(tf.test.is_built_with_cuda())),
        ("XLA flags", os.environ.get("TF_XLA_FLAGS", "")),
        *parse_TF_build_info(),
        *_libraries(),
        *_devices(),
        ("CPU cores", f"{os.cpu_count()} ({platform.machine()})"),
        *((name, _version(name)) for name in ("keras", "opencv-python-headless", "pyzmq",
                                              "msgpack", "horovod")),
    ]
    return str(tabulate([row for row in rows if row[1]]))


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _libraries() -> list[tuple[str, str]]:
    return [(name, find_library(name) or "") for name in ("cuda", "cudart", "cudnn", "nccl")]


def _devices() -> list[tuple[str, Any]]:
    try:
        with NVMLContext() as context:
            names: dict[str, list[str]] = defaultdict(list)
            for i, device in enumerate(context.devices()):
                names[_text(device.name())].append(str(i))
    except (NvmlException, OSError):
        return []
    return [("GPU " + ",".join(ids), name) for name, ids in OrderedDict(names).items()]


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)
