# SPDX-License-Identifier: Apache-2.0
"""A whole DataFlow written to a file, and read back."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..utils import logger
from ..utils.errors import require, say
from ..utils.serialize import dumps, loads
from ..utils.utils import get_tqdm
from .base import DataFlow, as_dataflow, length
from .format import HDF5Data, LMDBData
from .lmdb_file import LMDBWriter
from .mapping import MapData
from .raw import DataFromList
from .repeat import FixedSizeData

__all__ = ["HDF5Serializer", "LMDBSerializer", "NumpySerializer", "TFRecordSerializer"]


def _progress(df: Any) -> Iterable[Any]:
    """Return the datapoints of one pass behind a progress bar."""
    ds = as_dataflow(df, "save")
    return get_tqdm(ds, total=length(ds))  # type: ignore[no-any-return]


class LMDBSerializer:
    """An LMDB database: keys are numbers, values are serialized datapoints. Needs ``lmdb``.

    Example:
        .. code-block:: python

            LMDBSerializer.save(my_df, "output.lmdb")
            new_df = LMDBSerializer.load("output.lmdb", shuffle=True)
    """

    @staticmethod
    def save(df: Any, path: str, write_frequency: int = 5000) -> None:
        """Write one pass of a DataFlow.

        Args:
            df: the DataFlow.
            path: a file that is not there yet, or a directory.
            write_frequency: datapoints between two commits; fewer need less memory.

        Raises:
            FileExistsError: where there is a database already.
        """
        writer = LMDBWriter(path, write_frequency)
        complete = False
        try:
            for dp in _progress(df):
                writer.put(dumps(dp))
            logger.info("Flushing database ...")
            complete = True
        finally:
            writer.close(complete)

    @staticmethod
    def load(path: str, shuffle: bool = True) -> MapData:
        """Return a DataFlow of what :meth:`save` wrote.

        Args:
            path: the file or directory.
            shuffle: yield it in another random order at each pass.
        """
        return MapData(LMDBData(path, shuffle=shuffle), LMDBSerializer._deserialize_lmdb)

    @staticmethod
    def _deserialize_lmdb(dp: Sequence[bytes]) -> Any:
        return loads(dp[1])


class NumpySerializer:
    """An ``.npz`` file. All is held in memory; large data is better off in LMDB."""

    @staticmethod
    def save(df: Any, path: str) -> None:
        """Write one pass of a DataFlow.

        Args:
            df: the DataFlow.
            path: the file; ``.npz`` is appended where it is missing.
        """
        points = list(_progress(df))
        buffer = np.empty(len(points), dtype=object)  # never an array of the components' shape
        for k, dp in enumerate(points):
            buffer[k] = dp
        np.savez_compressed(path, buffer=buffer)

    @staticmethod
    def load(path: str, shuffle: bool = True) -> DataFromList:
        """Return a DataFlow of what :meth:`save` wrote.

        Args:
            path: the file.
            shuffle: yield it in another random order at each pass.
        """
        with np.load(path, allow_pickle=True) as file:
            return DataFromList(list(file["buffer"]), shuffle=shuffle)


class _TFRecords(DataFlow):
    """The records of a TFRecord file, as bytes; TensorFlow is not needed to read them."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __iter__(self) -> Iterator[bytes]:
        with open(self.path, "rb") as file:
            while head := file.read(12):  # length, and the CRC of the length
                size = struct.unpack("<Q", head[:8])[0] if len(head) == 12 else -1
                record = file.read(size) if size >= 0 else b""
                if len(record) != size or len(file.read(4)) != 4:
                    raise ValueError(say(self.path, expected="a whole TFRecord file",
                                         received="one that breaks off within a record",
                                         do="Write it anew."))
                yield record


class TFRecordSerializer:
    """A TFRecord file of serialized datapoints. It can't be read in random order."""

    @staticmethod
    def save(df: Any, path: str) -> None:
        """Write one pass of a DataFlow. Needs TensorFlow.

        Args:
            df: the DataFlow.
            path: the file; it is replaced.
        """
        tf = require("tensorflow", "tensorflow", "TFRecordSerializer.save")
        with tf.io.TFRecordWriter(path) as writer:
            for dp in _progress(df):
                writer.write(dumps(dp))

    @staticmethod
    def load(path: str, size: int | None = None) -> DataFlow:
        """Return a DataFlow of what :meth:`save` wrote.

        Args:
            path: the file.
            size: number of its records, which the file does not tell; without it the DataFlow has
                no length.
        """
        ds = MapData(_TFRecords(path), loads)
        return ds if size is None else FixedSizeData(ds, size)


class HDF5Serializer:
    """An HDF5 file with one array per component. Needs ``h5py``; all is held in memory."""

    @staticmethod
    def save(df: Any, path: str, data_paths: Sequence[str]) -> None:
        """Write one pass of a DataFlow.

        Args:
            df: the DataFlow; each component has one shape in all datapoints.
            path: the file; it is replaced.
            data_paths: path in the file of each component.
        """
        h5py = require("h5py", "h5py", "HDF5Serializer")
        columns: list[list[Any]] = [[] for _ in data_paths]
        for dp in _progress(df):
            if len(dp) != len(data_paths):
                raise ValueError(say("HDF5Serializer.save", expected="as many data_paths as "
                                     f"components, {len(dp)}", received=str(len(data_paths)),
                                     do="Pass one path for each component."))
            for column, value in zip(columns, dp):
                column.append(value)
        with h5py.File(path, "w") as file:
            for name, column in zip(data_paths, columns):
                file.create_dataset(name, data=column)

    @staticmethod
    def load(path: str, data_paths: Sequence[str], shuffle: bool = True) -> HDF5Data:
        """Return a DataFlow of what :meth:`save` wrote.

        Args:
            path: the file.
            data_paths: paths of the components.
            shuffle: yield it in another random order at each pass.
        """
        return HDF5Data(path, data_paths, shuffle)
