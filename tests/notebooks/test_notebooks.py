# SPDX-License-Identifier: Apache-2.0
"""Each notebook runs from its first cell to its last, offline, in a folder of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbclient
import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(path, tmp_path)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [str(path.parents[1]), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))
    notebook = nbformat.read(tmp_path / path.name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(cell.execution_count for cell in code)
    assert not any("Traceback (most recent call last)" in str(o.get("text", ""))
                   for cell in code for o in cell.outputs)


def test_there_is_one_for_each_of_its_uses() -> None:
    assert [p.stem[:2] for p in NOTEBOOKS] == ["1_", "2_", "3_", "4_"]
