# SPDX-License-Identifier: Apache-2.0
"""The command line's own words."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

import tfqueue_compat

Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("args", [["--help"], ["run", "--help"], ["demo", "--help"]])
def test_help_loads_no_tensorflow(args: list[str], python: Python) -> None:
    done = python("-X", "importtime", "-m", "tfqueue_compat", *args)
    assert done.returncode == 0 and done.stdout.startswith("usage: python -m tfqueue_compat")
    loaded = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines()]
    assert "tfqueue_compat.cli.main" in loaded
    assert not {"tensorflow", "keras", "numpy", "matplotlib"} & set(loaded)


def test_version(python: Python) -> None:
    done = python("-m", "tfqueue_compat", "--version")
    assert done.stdout.split()[:2] == ["tfqueue_compat", tfqueue_compat.__version__.rstrip(",")
                                       + ","]


def test_an_unknown_verb_is_a_usage_error(python: Python) -> None:
    done = python("-m", "tfqueue_compat", "rnu")
    assert done.returncode == 2 and "run" in done.stderr and "Traceback" not in done.stderr
    assert python("-m", "tfqueue_compat").returncode == 2
