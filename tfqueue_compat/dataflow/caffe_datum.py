# SPDX-License-Identifier: Apache-2.0
"""Caffe's ``Datum`` and ``BlobProto``, read without Caffe and its protobuf module."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..utils.errors import require, say

__all__ = ["read_blob", "read_datum"]

# field numbers of message Datum in caffe.proto
_CHANNELS, _HEIGHT, _WIDTH, _DATA, _LABEL, _FLOATS, _ENCODED = range(1, 8)
_BLOB_CHANNELS, _BLOB_HEIGHT, _BLOB_WIDTH, _BLOB_DATA = 2, 3, 4, 5  # of BlobProto
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # wire types of protobuf


def _varint(buf: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = buf[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(buf: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value) of a protobuf message."""
    at = 0
    while at < len(buf):
        tag, at = _varint(buf, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint(buf, at)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(buf, at)
        else:
            size = {_FIXED64: 8, _FIXED32: 4}[kind]
        if at + size > len(buf):
            raise IndexError("a field ends behind the message")
        yield tag >> 3, buf[at:at + size]
        at += size


def read_datum(buf: bytes) -> tuple[np.ndarray, int]:
    """Return the image and the label in a ``caffe.Datum``.

    Args:
        buf: the message.

    Returns:
        The image, (height, width, channel), uint8 or float32 (BGR where it was encoded), and the
        label.

    Raises:
        ValueError: where the bytes are no Datum.
    """
    numbers: dict[int, int] = {}
    data, floats = b"", b""
    try:
        for field, value in _fields(buf):
            if field == _DATA and isinstance(value, bytes):
                data = value
            elif field == _FLOATS and isinstance(value, bytes):
                floats += value  # packed or one by one
            elif isinstance(value, int):
                numbers[field] = value
        label = numbers.get(_LABEL, 0)
        if numbers.get(_ENCODED):
            cv2 = require("cv2", "opencv-python-headless", "CaffeLMDB")
            return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), label
        flat = np.frombuffer(data, np.uint8) if data else np.frombuffer(floats, "<f4")
        shape = [numbers.get(k, 0) for k in (_CHANNELS, _HEIGHT, _WIDTH)]
        return flat.reshape(shape).transpose(1, 2, 0), label
    except (IndexError, KeyError, ValueError) as e:
        raise ValueError(say("CaffeLMDB", expected="a value that is a caffe.Datum",
                             received=f"{len(buf)} bytes that are not: {e}",
                             do="Look what the database holds with LMDBData.")) from e


def read_blob(buf: bytes) -> np.ndarray:
    """Return the array in a ``caffe.BlobProto`` of the old form: (channel, height, width).

    Args:
        buf: the message; a mean image, for instance.
    """
    numbers: dict[int, int] = {}
    data = b""
    for field, value in _fields(buf):
        if field == _BLOB_DATA and isinstance(value, bytes):
            data += value  # packed or one by one
        elif isinstance(value, int):
            numbers[field] = value
    shape = [numbers.get(k, 1) for k in (_BLOB_CHANNELS, _BLOB_HEIGHT, _BLOB_WIDTH)]
    return np.frombuffer(data, "<f4").reshape(shape).astype(np.float32)
