# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The folder of data sets, empty."""
    monkeypatch.setenv("TENSORPACK_DATASET", str(tmp_path))
    return tmp_path
