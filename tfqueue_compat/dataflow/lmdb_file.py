# SPDX-License-Identifier: Apache-2.0
"""LMDB databases: one open handle per file and process, as LMDB demands."""

from __future__ import annotations

import os
import pickle
import weakref
from collections.abc import Iterator

from ..utils.errors import require, say
from ..utils.serialize import dumps, loads

__all__ = ["LMDBFile", "LMDBWriter"]

_KEYS = b"__keys__"  # where tensorpack stores the list of keys
_open: weakref.WeakValueDictionary[tuple[int, ...], LMDBFile] = weakref.WeakValueDictionary()


class LMDBFile:
    """A database open for reading. Get it by :meth:`of`."""

    def __init__(self, path: str) -> None:
        lmdb = require("lmdb", "lmdb", "LMDBData")
        self.path = path
        self._env = lmdb.open(path, subdir=os.path.isdir(path), readonly=True, lock=False,
                              readahead=True, map_size=1 << 40, max_readers=100)
        self._txn = self._env.begin()

    @staticmethod
    def of(path: str) -> LMDBFile:
        """Return the open database at ``path``; one for all who ask in this process."""
        data = os.path.join(path, "data.mdb") if os.path.isdir(path) else path
        if not os.path.isfile(data):
            raise FileNotFoundError(say("LMDBData", expected="an LMDB file or directory",
                                        received=f"{path!r}, where there is none",
                                        do="Correct the path."))
        stat = os.stat(data)
        key = (os.getpid(), stat.st_dev, stat.st_ino)  # a new file may have an old one's name
        file = _open.get(key)
        if file is None:
            file = _open[key] = LMDBFile(path)
        return file

    def count(self) -> int:
        """Return the number of entries."""
        return int(self._txn.stat()["entries"])

    def stored_keys(self) -> list[bytes] | None:
        """Return the list of keys that tensorpack stored, or None."""
        value = self._txn.get(_KEYS)
        if value is None:
            return None
        try:
            keys: list[bytes] = loads(value)
        except (pickle.UnpicklingError, ValueError):  # written by another serializer
            return [k for k in self.all_keys() if k != _KEYS]
        return keys

    def all_keys(self) -> list[bytes]:
        """Return every key in the database."""
        return [bytes(k) for k in self._txn.cursor().iternext(keys=True, values=False)]

    def items(self) -> Iterator[list[bytes]]:
        """Yield each [key, value] in the order of the database, but not the list of keys."""
        for key, value in self._txn.cursor():
            if key != _KEYS:
                yield [key, value]

    def get(self, key: bytes) -> bytes:
        """Return the value of a key."""
        value: bytes | None = self._txn.get(key)
        if value is None:
            raise KeyError(say(self.path, expected=f"the key {key!r}", received="none such",
                               do="Pass keys= that are in the database."))
        return value


class LMDBWriter:
    """A new database, written in portions; it grows as needed.

    Args:
        path: a file that is not there yet, or a directory without a database.
        every: entries between two commits.
    """

    def __init__(self, path: str, every: int) -> None:
        self._lmdb = require("lmdb", "lmdb", "LMDBSerializer")
        is_dir = os.path.isdir(path)
        if os.path.exists(os.path.join(path, "data.mdb") if is_dir else path):
            raise FileExistsError(say("LMDBSerializer.save", expected="a new path",
                                      received=f"{path!r}, where there is one",
                                      do="Remove it, or pass another."))
        self._env = self._lmdb.open(path, subdir=is_dir, readonly=False, map_size=1 << 26,
                                    meminit=False, map_async=True)
        self._every = max(1, every)
        self._pending: list[tuple[bytes, bytes]] = []
        self._keys: list[bytes] = []

    def put(self, value: bytes) -> None:
        """Add an entry under the next number."""
        key = f"{len(self._keys):08}".encode("ascii")
        self._keys.append(key)
        self._pending.append((key, value))
        if len(self._pending) >= self._every:
            self._commit()

    def _commit(self) -> None:
        while True:
            try:
                with self._env.begin(write=True) as txn:
                    for key, value in self._pending:
                        txn.put(key, value)
                break
            except self._lmdb.MapFullError:
                self._env.set_mapsize(2 * self._env.info()["map_size"])
        self._pending.clear()

    def close(self, complete: bool) -> None:
        """Close the file; write the list of keys first if all went well."""
        try:
            if complete:
                self._pending.append((_KEYS, dumps(self._keys)))
                self._commit()
                self._env.sync()
        finally:
            self._env.close()
