# SPDX-License-Identifier: Apache-2.0
"""Producers of datapoints, and what turns one into another: ``tensorpack.dataflow``.

A name is imported when it is first asked for. Nothing here needs TensorFlow.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..utils.errors import near

_HOMES = {
    "base": ("DataFlow", "DataFlowTerminated", "ProxyDataFlow", "RNGDataFlow", "as_dataflow"),
    "batch": ("BatchData", "BatchDataByShape"),
    "compose": ("ConcatData", "JoinData", "RandomChooseData", "RandomMixData"),
    "format": ("CaffeLMDB", "HDF5Data", "LMDBData", "LMDBDataDecoder", "LMDBDataPoint",
               "SVMLightData"),
    "image": ("AugmentImageComponent", "AugmentImageComponents", "AugmentImageCoordinates",
              "ImageFromFile"),
    "mapping": ("MapData", "MapDataComponent", "SelectComponent"),
    "parallel": ("MultiProcessPrefetchData", "MultiProcessRunner", "MultiProcessRunnerZMQ",
                 "MultiThreadPrefetchData", "MultiThreadRunner", "PrefetchData",
                 "PrefetchDataZMQ", "PrefetchOnGPUs"),
    "parallel_map": ("MultiProcessMapAndBatchData", "MultiProcessMapAndBatchDataZMQ",
                     "MultiProcessMapData", "MultiProcessMapDataZMQ", "MultiThreadMapData",
                     "ThreadedMapData"),
    "probe": ("PrintData", "TestDataSpeed"),
    "raw": ("DataFromGenerator", "DataFromIterable", "DataFromList", "DataFromQueue", "FakeData"),
    "remote": ("RemoteDataZMQ", "dump_dataflow_to_process_queue", "send_dataflow_zmq"),
    "repeat": ("CacheData", "FixedSizeData", "RepeatedData", "RepeatedDataPoint"),
    "sampling": ("LocallyShuffleData",),
    "serialize": ("HDF5Serializer", "LMDBSerializer", "NumpySerializer", "TFRecordSerializer"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = frozenset({*_HOMES, "caffe_datum", "common", "dataset", "dftools", "imgaug", "lmdb_file",
                      "protocol", "transport", "workers"})

__all__ = [
    "AugmentImageComponent", "AugmentImageComponents", "AugmentImageCoordinates", "BatchData",
    "BatchDataByShape", "CacheData", "CaffeLMDB", "ConcatData", "DataFlow", "DataFlowTerminated",
    "DataFromGenerator", "DataFromIterable", "DataFromList", "DataFromQueue", "FakeData",
    "FixedSizeData", "HDF5Data", "HDF5Serializer", "ImageFromFile", "JoinData", "LMDBData",
    "LMDBDataDecoder", "LMDBDataPoint", "LMDBSerializer", "LocallyShuffleData", "MapData",
    "MapDataComponent", "MultiProcessMapAndBatchData", "MultiProcessMapAndBatchDataZMQ",
    "MultiProcessMapData", "MultiProcessMapDataZMQ", "MultiProcessPrefetchData",
    "MultiProcessRunner", "MultiProcessRunnerZMQ", "MultiThreadMapData",
    "MultiThreadPrefetchData", "MultiThreadRunner", "NumpySerializer", "PrefetchData",
    "PrefetchDataZMQ", "PrefetchOnGPUs", "PrintData", "ProxyDataFlow", "RNGDataFlow",
    "RandomChooseData", "RandomMixData", "RemoteDataZMQ", "RepeatedData", "RepeatedDataPoint",
    "SVMLightData", "SelectComponent", "TFRecordSerializer", "TestDataSpeed", "ThreadedMapData",
    "as_dataflow", "dataset", "dftools", "dump_dataflow_to_process_queue", "imgaug",
    "send_dataflow_zmq",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}."
                         f"{near(name, [*_HOME, *_MODULES])}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
