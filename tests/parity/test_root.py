# SPDX-License-Identifier: Apache-2.0
"""Every name that real tensorpack's root gives is known to ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tfqueue_compat

pytestmark = pytest.mark.parity

STAR = """
import types
import tensorpack
found = {}
exec("from tensorpack import *", found)
outputs["names"] = sorted(n for n in found if not n.startswith("_"))
outputs["modules"] = {n: v.__name__ for n, v in found.items() if isinstance(v, types.ModuleType)}
"""

#: A leftover of its source, and the name of another library's module.
NOT_API = {"STATICA_HACK"}


def test_star_import(peer: Callable[..., dict[str, Any]]) -> None:
    theirs = peer(STAR)
    table = {**tfqueue_compat._NAMES, **tfqueue_compat._ROOMS}
    assert set(theirs["names"]) - NOT_API <= set(table)
    for name, module in theirs["modules"].items():
        if module.startswith("tensorpack."):
            assert table[name] == module.removeprefix("tensorpack.")
