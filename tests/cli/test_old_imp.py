# SPDX-License-Identifier: Apache-2.0
"""What is left of ``imp``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tfqueue_compat.cli import old_imp


def test_load_source_and_reload(tmp_path: Path) -> None:
    path = tmp_path / "conf_for_imp.py"
    path.write_text("VALUE = 1\n")
    module = old_imp.load_source("conf_for_imp", str(path))
    assert module.VALUE == 1 and sys.modules["conf_for_imp"] is module
    sys.modules.pop("conf_for_imp")
    assert old_imp.new_module("empty").__name__ == "empty"
    assert old_imp.reload(sys.modules["json"]) is sys.modules["json"]


def test_a_failed_load_leaves_no_module_behind(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        old_imp.load_source("broken_for_imp", str(path))
    assert "broken_for_imp" not in sys.modules
    with pytest.raises(ImportError, match="Expected the path of a Python file"):
        old_imp.load_source("data", str(tmp_path / "data.txt"))
