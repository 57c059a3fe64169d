# SPDX-License-Identifier: Apache-2.0
"""Dataflows of one library inside those of the other, in one process of the peer's Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfqueue_compat

pytestmark = pytest.mark.parity

SCRIPT = """
import sys
sys.path.insert(0, inputs['house'])
import tensorpack.dataflow as theirs
import tfqueue_compat.dataflow as ours
from tfqueue_compat.dataflow.base import ensure_reset, length

class Resets(theirs.DataFlow):
    n = 0
    def reset_state(self):
        self.n += 1
    def __iter__(self):
        yield [self.n]
    def __len__(self):
        return 1

source = Resets()
ds = ours.MapData(ours.ConcatData([source, source]), lambda dp: dp)
outputs['reset once'] = list(ds), list(ds), len(ds)
outputs['shuffled'] = sorted(ours.BatchData(theirs.DataFromList([[1], [2]]), 2)
                             .__iter__().__next__()[0].tolist())
outputs['joined'] = list(ours.JoinData([theirs.FakeData([[1]], size=2), ours.FakeData([[1]])]))
runner = theirs.MultiProcessRunnerZMQ(theirs.FakeData([[1]], size=4), 1)
runner.reset_state()
ensure_reset(runner)  # it refuses a second reset
outputs['runner'] = len([dp for dp, _ in zip(ours.ProxyDataFlow(runner), range(3))])
there = theirs.BatchData(ours.MapData(ours.FakeData([[2]], size=4), lambda dp: dp), 2)
there.reset_state()
outputs['ours in theirs'] = [b[0].shape for b in there]
outputs['length'] = length(theirs.FakeData([[1]], size=7)), length(theirs.DataFromQueue(None))
"""


def test_nested_in_each_other(peer: Any) -> None:
    house = Path(tfqueue_compat.__file__).parent.parent
    got = peer(SCRIPT, house=str(house))
    assert got["reset once"] == ([[1], [1]], [[1], [1]], 2)
    assert got["shuffled"] == [1, 2]
    assert len(got["joined"]) == 2
    assert got["runner"] == 3
    assert got["ours in theirs"] == [(2, 2), (2, 2)]
    assert got["length"] == (7, None)
