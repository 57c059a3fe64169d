# SPDX-License-Identifier: Apache-2.0
"""A ModelDesc as tensorpack's users wrote them, and data for it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import BatchData, DataFlow, dataset
from tfqueue_compat.utils import logger


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def models() -> ModuleType:
    """Return the module ``legacy_models.py``."""
    return _load("legacy_models")


@pytest.fixture
def train() -> DataFlow:
    """Return batches of 64 digits, in order, without an end."""
    return BatchData(dataset.Digits("train", shuffle=False), 64)


@pytest.fixture
def test() -> DataFlow:
    """Return 500 digits in batches of 64; the last one has 52."""
    return BatchData(dataset.Digits("test", shuffle=False), 64, remainder=True)


@pytest.fixture
def images() -> np.ndarray:
    """Return ten images."""
    return np.random.default_rng(1).random((10, 8, 8), "float32")


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Set a log directory, and return it."""
    logger.set_logger_dir(str(tmp_path / "log"), action="k")
    return tmp_path / "log"


@pytest.fixture
def values() -> Any:
    """Return ``values(model)``: name -> value of all its variables."""
    return lambda model: {v.path: v.numpy() for v in model.weights}
