# SPDX-License-Identifier: Apache-2.0
"""Writes PNG files' bytes, so that image summaries need no other package."""

from __future__ import annotations

import struct
import zlib

import numpy as np

__all__ = ["encode_png"]

_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> PNG's colour type: grey, grey + alpha, RGB, RGBA


def encode_png(image: np.ndarray) -> bytes:
    """Return an image as PNG.

    Args:
        image: uint8, (height, width, channel) with 1-4 channels.
    """
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    lines = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter: 0
    lines[:, 1:] = image.reshape(height, -1)
    parts = [_part(b"IHDR", header), _part(b"IDAT", zlib.compress(lines.tobytes())),
             _part(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _part(kind: bytes, data: bytes) -> bytes:
    return (struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data)))
