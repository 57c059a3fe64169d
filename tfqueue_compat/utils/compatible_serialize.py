# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the serializer that must read old files: the same as ``serialize``."""

from __future__ import annotations

from .serialize import dumps, loads

__all__ = ["dumps", "loads"]
