# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the everyday dataflows: ``tensorpack.dataflow.common``."""

from __future__ import annotations

from ..utils import logger  # noqa: F401 - it was to be found here
from .batch import BatchData, BatchDataByShape
from .compose import ConcatData, JoinData, RandomChooseData, RandomMixData
from .mapping import MapData, MapDataComponent, SelectComponent
from .probe import PrintData, TestDataSpeed
from .repeat import CacheData, FixedSizeData, RepeatedData, RepeatedDataPoint
from .sampling import LocallyShuffleData

__all__ = ["BatchData", "BatchDataByShape", "CacheData", "ConcatData", "FixedSizeData",
           "JoinData", "LocallyShuffleData", "MapData", "MapDataComponent", "PrintData",
           "RandomChooseData", "RandomMixData", "RepeatedData", "RepeatedDataPoint",
           "SelectComponent", "TestDataSpeed"]
