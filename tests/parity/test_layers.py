# SPDX-License-Identifier: Apache-2.0
"""Every layer beside real tensorpack's: variables, values, gradients, updates, penalties."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat import models, tfutils

pytestmark = pytest.mark.parity

SCRIPT = """
import tensorflow as tf
from tensorpack import models, tfutils
names = {'__name__': 'layer_cases'}
exec(inputs['code'], names)
if inputs['what'] == 'run':
    outputs.update(names['run'](models, tfutils, tf.compat.v1))
else:
    outputs.update(names['initial'](models, tfutils, tf.compat.v1))
"""
PATH = Path(__file__).with_name("layer_cases.py")
CODE = PATH.read_text(encoding="utf-8")
LAYERS = runpy.run_path(str(PATH))
CASES = sorted(f"{n} {t}" for n in LAYERS["cases"](models) for t in (True, False)
               if t or "bn" in n or n == "linear")


@pytest.fixture(scope="module")
def theirs(peer: Any) -> dict[str, Any]:
    return peer(SCRIPT, code=CODE, what="run")


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return LAYERS["run"](models, tfutils, tf.compat.v1)


@pytest.mark.parametrize("case", CASES)
def test_same(case: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    a, b = ours[case], theirs[case]
    for key in ("variables", "trainable", "shape", "updates"):
        assert a[key] == b[key], key
    if "unpool" not in case:
        assert a["name"] == b["name"]
    np.testing.assert_allclose(a["out"], b["out"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(a["losses"], b["losses"], rtol=1e-5)
    for group in ("gradients", "after"):
        assert sorted(a[group]) == sorted(b[group])
        for name, value in a[group].items():
            np.testing.assert_allclose(value, b[group][name], rtol=1e-4, atol=1e-4, err_msg=name)


def test_initial_values_have_one_distribution(peer: Any) -> None:
    a = LAYERS["initial"](models, tfutils, tf.compat.v1)
    b = peer(SCRIPT, code=CODE, what="initial")
    assert sorted(a) == sorted(b)
    for name, (mean, std, largest) in a.items():
        their_mean, their_std, their_largest = b[name]
        assert mean == pytest.approx(their_mean, abs=1e-3)
        assert std == pytest.approx(their_std, rel=0.02)
        if std:  # a truncated normal ends at 2.3 std, one that is not goes past 4
            assert largest / std > 4 and their_largest / their_std > 4
