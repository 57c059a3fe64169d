# SPDX-License-Identifier: Apache-2.0
"""The front door: what the root offers, and what it says about what it does not."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tfqueue_compat

PACKAGE = Path(tfqueue_compat.__file__).parent
TABLE = {**tfqueue_compat._NAMES, **tfqueue_compat._ROOMS}


# tensorpack's star import has no such names: they might hide a script's own
ROOMS_ASKED_FOR = {"cli", "contrib", "engine", "keras_bridge", "plots"}


def is_there(home: str) -> bool:
    path = PACKAGE.joinpath(*home.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def test_all_lists_what_is_there_and_nothing_else() -> None:
    there = {name for name, home in TABLE.items() if is_there(home)}
    assert set(tfqueue_compat.__all__) == there - ROOMS_ASKED_FOR
    assert there <= set(dir(tfqueue_compat))


@pytest.mark.parametrize("name", sorted(tfqueue_compat.__all__))
def test_a_name_is_what_its_home_defines(name: str) -> None:
    value = getattr(tfqueue_compat, name)
    if name in tfqueue_compat._ROOMS:
        assert value is importlib.import_module(f"tfqueue_compat.{TABLE[name]}")
    elif name in TABLE:
        home = importlib.import_module(f"tfqueue_compat.{TABLE[name]}")
        assert value is getattr(home, name)


def test_star_import_binds_all_of_it() -> None:
    scope: dict[str, object] = {}
    exec("from tfqueue_compat import *", scope)
    assert set(tfqueue_compat.__all__) <= set(scope)
    assert scope["QueueInput"] is tfqueue_compat.input_source.QueueInput  # type: ignore


def test_what_is_not_there_yet_says_so() -> None:
    missing = sorted(name for name, home in TABLE.items() if not is_there(home))
    for name in missing:
        with pytest.raises(ImportError, match="does not have it yet"):
            getattr(tfqueue_compat, name)
        with pytest.raises(ImportError, match="does not have it yet"):
            exec(f"from tfqueue_compat import {name}", {})


def test_an_unknown_name_is_an_attribute_error_with_near_names() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'QueueInput'"):
        tfqueue_compat.QueueInptu
    assert not hasattr(tfqueue_compat, "no_such_name")
    with pytest.raises(ImportError):
        exec("from tfqueue_compat import no_such_name", {})


def test_plain_import_gives_rooms_as_attributes() -> None:
    code = ("import tfqueue_compat as tp; "
            "print(tp.dataflow.dataset.Mnist.__name__, tp.utils.logger is tp.logger)")
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, text=True,
                          capture_output=True, timeout=60)
    assert done.stdout == "Mnist True\n", done.stderr


def test_type_checkers_are_told_the_same_names() -> None:
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    named = {}
    for node in stub.body:
        assert isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names:
            assert alias.asname, "a stub re-exports by `as`"
            named[alias.asname] = f"{node.module or ''}.{alias.name}".strip(".")
    assert set(named) == {*tfqueue_compat.__all__, *ROOMS_ASKED_FOR, "__version__"}
    for name, path in named.items():
        home = TABLE.get(name, "libinfo")
        assert path == (home if name in tfqueue_compat._ROOMS else f"{home}.{name}")
