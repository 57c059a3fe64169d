# SPDX-License-Identifier: Apache-2.0
"""``tensorflow.python.platform.build_info`` of TF 1: the CUDA and cuDNN built against."""

from __future__ import annotations

from typing import Any

import tensorflow as _tf

__all__ = ["build_info", "cuda_version_number", "cudnn_version_number"]

#: What TensorFlow says of its build.
build_info: dict[str, Any] = dict(_tf.sysconfig.get_build_info())

#: e.g. ``"12.5"``; empty where built without CUDA.
cuda_version_number: str = str(build_info.get("cuda_version", ""))

#: e.g. ``"9"``; empty where built without CUDA.
cudnn_version_number: str = str(build_info.get("cudnn_version", ""))
