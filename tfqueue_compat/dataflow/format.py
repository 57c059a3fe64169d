# SPDX-License-Identifier: Apache-2.0
"""Datapoints from files of common formats: HDF5, LMDB, SVMlight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..utils import logger
from ..utils.errors import require, say
from ..utils.serialize import loads
from .base import RNGDataFlow
from .caffe_datum import read_datum
from .lmdb_file import LMDBFile
from .mapping import MapData

__all__ = ["CaffeLMDB", "HDF5Data", "LMDBData", "LMDBDataDecoder", "LMDBDataPoint",
           "SVMLightData"]


class HDF5Data(RNGDataFlow):
    """Rows of some arrays of an HDF5 file, all loaded into memory.

    Args:
        filename: the file.
        data_paths: paths of the arrays in it; the i-th datapoint has the i-th row of each.
        shuffle: yield them in another random order at each pass.
    """

    def __init__(self, filename: str, data_paths: Sequence[str], shuffle: bool = True) -> None:
        h5py = require("h5py", "h5py", "HDF5Data")
        logger.info("Loading %s to memory...", filename)
        with h5py.File(filename, "r") as file:
            missing = [p for p in data_paths if p not in file]
            if missing:
                raise KeyError(say(filename, expected=f"arrays {list(data_paths)}",
                                   received=f"a file without {missing}, with {sorted(file)}",
                                   do="Correct data_paths."))
            self.dps = [file[p][...] for p in data_paths]
        sizes = {p: len(a) for p, a in zip(data_paths, self.dps)}
        if len(set(sizes.values())) > 1:
            raise ValueError(say(filename, expected="arrays of one length", received=str(sizes),
                                 do="Write them anew."))
        self.shuffle = shuffle

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.dps[0])

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield rows."""
        order = np.arange(len(self))
        if self.shuffle:
            self.rng.shuffle(order)
        for k in order:
            yield [array[k] for array in self.dps]


class LMDBData(RNGDataFlow):
    """``[key, value]`` of an LMDB database, both bytes.

    Args:
        lmdb_path: the file, or its directory.
        shuffle: yield them in another random order at each pass; by default in the order of the
            database, which reads faster from a disk.
        keys: only with shuffle: the keys, or a pattern such as ``"{:0>8d}"`` for the numbers from
            0. By default those stored under ``__keys__``, or else all in the database.
    """

    def __init__(self, lmdb_path: str, shuffle: bool = True,
                 keys: Sequence[str] | str | None = None) -> None:
        self._lmdb_path = lmdb_path
        self._shuffle = shuffle
        file = LMDBFile.of(lmdb_path)
        stored = file.stored_keys()
        self._size = file.count() - (stored is not None)
        self.keys: list[bytes] = []
        if shuffle:
            self.keys = self._given(keys) or stored or file.all_keys()
            self._size = len(self.keys)
        logger.info("Found %d entries in %s", self._size, lmdb_path)

    def _given(self, keys: Sequence[str] | str | None) -> list[bytes]:
        if keys is None:
            return []
        names = [keys.format(k) for k in range(self._size)] if isinstance(keys, str) else keys
        return [k if isinstance(k, bytes) else k.encode("ascii") for k in names]

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._size

    def __iter__(self) -> Iterator[list[bytes]]:
        """Yield ``[key, value]``."""
        file = LMDBFile.of(self._lmdb_path)  # this process's own
        if not self._shuffle:
            yield from file.items()
            return
        self.rng.shuffle(self.keys)
        for key in self.keys:
            yield [key, file.get(key)]


class _Decode:
    def __init__(self, decoder: Callable[[bytes, bytes], Any]) -> None:
        self.decoder = decoder

    def __call__(self, dp: Sequence[bytes]) -> Any:
        return self.decoder(dp[0], dp[1])


class LMDBDataDecoder(MapData):
    """Entries of an LMDB database, decoded by a function.

    Args:
        lmdb_data: an :class:`LMDBData`.
        decoder: ``(key, value) -> datapoint``, or None to discard.
    """

    def __init__(self, lmdb_data: Any, decoder: Callable[[bytes, bytes], Any]) -> None:
        super().__init__(lmdb_data, _Decode(decoder))


def _load_value(key: bytes, value: bytes) -> Any:
    return loads(value)


class LMDBDataPoint(LMDBDataDecoder):
    """The datapoints in a database that ``LMDBSerializer.save`` (or its forerunner) wrote.

    Its name before tensorpack 0.9; now ``LMDBSerializer.load``.

    Args:
        lmdb_data: path of the database, or a DataFlow of ``[key, value]``.
        shuffle: as in :class:`LMDBData`; only with a path.
        keys: as in :class:`LMDBData`; only with a path.
    """

    def __init__(self, lmdb_data: Any, shuffle: bool = True,
                 keys: Sequence[str] | str | None = None) -> None:
        if isinstance(lmdb_data, str):
            lmdb_data = LMDBData(lmdb_data, shuffle=shuffle, keys=keys)
        super().__init__(lmdb_data, _load_value)


def _load_datum(key: bytes, value: bytes) -> list[Any]:
    return list(read_datum(value))


def CaffeLMDB(lmdb_path: str, shuffle: bool = True,
              keys: Sequence[str] | str | None = None) -> LMDBDataDecoder:
    """Return ``[image, label]`` of a Caffe database, whose values are ``caffe.Datum``.

    Images are (height, width, channel), uint8 or float32.

    Args:
        lmdb_path: the file, or its directory.
        shuffle: as in :class:`LMDBData`.
        keys: as in :class:`LMDBData`.
    """
    return LMDBDataDecoder(LMDBData(lmdb_path, shuffle, keys), _load_datum)


class SVMLightData(RNGDataFlow):
    """``[features, target]`` of an SVMlight file, dense, float64, all in memory.

    Args:
        filename: lines of ``target index:value ... # comment``; indices count from 1, or from 0
            where a 0 occurs.
        shuffle: yield them in another random order at each pass.
    """

    def __init__(self, filename: str, shuffle: bool = True) -> None:
        self.shuffle = shuffle
        targets, rows = [], []
        with open(filename) as file:
            for number, line in enumerate(file, 1):
                fields = line.partition("#")[0].split()
                if fields:
                    targets.append(float(fields[0]))
                    rows.append(_features(fields[1:], filename, number))
        indices = [k for row in rows for k in row]
        first = 0 if 0 in indices else 1
        self.X = np.zeros((len(rows), max(indices, default=first - 1) + 1 - first))
        for i, row in enumerate(rows):
            for k, value in row.items():
                self.X[i, k - first] = value
        self.y = np.array(targets)

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.y)

    def __iter__(self) -> Iterator[list[Any]]:
        """Yield ``[features, target]``."""
        order = np.arange(len(self))
        if self.shuffle:
            self.rng.shuffle(order)
        for k in order:
            yield [self.X[k], self.y[k]]


def _features(fields: Sequence[str], filename: str, number: int) -> dict[int, float]:
    try:
        pairs = (f.split(":") for f in fields if not f.startswith("qid:"))
        return {int(k): float(v) for k, v in pairs}
    except ValueError as e:
        raise ValueError(say(f"{filename}, line {number}", expected="index:value ...",
                             received=" ".join(fields)[:80], do="Correct the line.")) from e
