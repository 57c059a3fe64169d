# SPDX-License-Identifier: Apache-2.0
"""Datapoints to bytes and back: what ZMQ, LMDB and TFRecord files carry.

``TENSORPACK_SERIALIZE`` chooses ``pickle`` (the default) or ``msgpack``. Load only bytes that you
trust: a pickle can run code.
"""

from __future__ import annotations

import os
import pickle
from typing import Any

from .errors import NotSupported, require, say

__all__ = ["dumps", "loads"]


class PickleSerializer:
    """Pickle, in the newest protocol."""

    @staticmethod
    def dumps(obj: Any) -> bytes:
        """Return ``obj`` as bytes."""
        return pickle.dumps(obj, protocol=pickle.HIGHEST_PROTOCOL)

    @staticmethod
    def loads(buf: Any) -> Any:
        """Return the object in ``buf``: bytes, a memoryview or a ZMQ frame."""
        return pickle.loads(buf)


class MsgpackSerializer:
    """msgpack with NumPy arrays; needs ``msgpack`` and ``msgpack-numpy``. Tuples become lists."""

    @staticmethod
    def dumps(obj: Any) -> bytes:
        """Return ``obj`` as bytes."""
        msgpack = require("msgpack", "msgpack", "MsgpackSerializer")
        numpy = require("msgpack_numpy", "msgpack-numpy", "MsgpackSerializer")
        packed: bytes = msgpack.packb(obj, use_bin_type=True, default=numpy.encode)
        return packed

    @staticmethod
    def loads(buf: Any) -> Any:
        """Return the object in ``buf``."""
        msgpack = require("msgpack", "msgpack", "MsgpackSerializer")
        numpy = require("msgpack_numpy", "msgpack-numpy", "MsgpackSerializer")
        view = memoryview(buf)
        limits = dict.fromkeys(("max_str_len", "max_bin_len", "max_array_len", "max_map_len",
                                "max_ext_len"), view.nbytes)
        return msgpack.unpackb(view, raw=False, object_hook=numpy.decode, strict_map_key=False,
                               **limits)


class PyarrowSerializer:
    """Not possible any more: pyarrow dropped its serializer in version 14."""

    @staticmethod
    def dumps(obj: Any) -> bytes:
        """Raise NotSupported."""
        raise _no_pyarrow()

    @staticmethod
    def dumps_bytes(obj: Any) -> bytes:
        """Raise NotSupported."""
        raise _no_pyarrow()

    @staticmethod
    def loads(buf: Any) -> Any:
        """Raise NotSupported."""
        raise _no_pyarrow()


def _no_pyarrow() -> NotSupported:
    return NotSupported(say("PyarrowSerializer", expected="pyarrow.serialize",
                            received="a pyarrow without it, as all since version 14",
                            do="Use PickleSerializer, or set TENSORPACK_SERIALIZE=pickle."))


def _chosen() -> Any:
    name = os.environ.get("TENSORPACK_SERIALIZE", "pickle")
    known = {"pickle": PickleSerializer, "msgpack": MsgpackSerializer,
             "pyarrow": PyarrowSerializer}
    if name not in known:
        raise ValueError(say("$TENSORPACK_SERIALIZE", expected=" or ".join(known), received=name,
                             do="Set one of these, or unset it."))
    return known[name]


def dumps(obj: Any) -> bytes:
    """Return ``obj`` as bytes.

    Example:
        >>> loads(dumps([1, "a"]))
        [1, 'a']
    """
    packed: bytes = _chosen().dumps(obj)
    return packed


def loads(buf: Any) -> Any:
    """Return the object that :func:`dumps` made ``buf`` of."""
    return _chosen().loads(buf)
