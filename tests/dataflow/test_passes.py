# SPDX-License-Identifier: Apache-2.0
"""Dataflows some of whose passes give nothing, iterated without end."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import (
    BatchDataByShape, DataFromGenerator, MultiProcessRunnerZMQ, MultiThreadRunner, RepeatedData)

ENDLESS: dict[str, Any] = {
    "repeated": lambda df: RepeatedData(df, -1),
    "threads": lambda df: MultiThreadRunner(lambda: df, 2, 1),
    "processes": lambda df: MultiProcessRunnerZMQ(df, 1),
}


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_batch_may_take_several_passes(kind: str) -> None:
    """HED's images are resized at random: eight of one shape come in no single pass."""
    images = DataFromGenerator(lambda: iter([[np.zeros(2)], [np.ones(3)]]))
    by_shape = BatchDataByShape(images, 3, 0)
    df = ENDLESS[kind](by_shape)
    df.reset_state()
    shapes = sorted(dp[0].shape for dp in islice(iter(df), 2))
    assert shapes == [(3, 2), (3, 3)]


@pytest.mark.parametrize("kind", ENDLESS)
def test_nothing_for_ever_is_an_error(kind: str) -> None:
    df = ENDLESS[kind](DataFromGenerator(lambda: iter([])))
    df.reset_state()
    with pytest.raises((RuntimeError, ValueError), match="passes without any"):
        next(iter(df))
