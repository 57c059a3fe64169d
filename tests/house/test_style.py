# SPDX-License-Identifier: Apache-2.0
"""Rules of the house that a machine can hold."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

import tfqueue_compat

PACKAGE = Path(tfqueue_compat.__file__).parent
FILES = sorted(p for p in PACKAGE.rglob("*.py"))
IDS = [str(p.relative_to(PACKAGE)) for p in FILES]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def all_of(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and ast.unparse(target) == "__all__":
            assert node.value is not None
            names = ast.literal_eval(node.value)  # raises where it is not literal
            assert isinstance(names, list) and all(isinstance(n, str) for n in names)
            return names
    return None


def imported(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    return found


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_one_licence_line_on_top(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    assert text.count("SPDX") == 1 and text.endswith("\n") and not text.endswith("\n\n")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_all_is_literal_and_true(path: Path) -> None:
    tree = tree_of(path)
    names = all_of(tree)
    if names is None:  # a package's __init__ that offers nothing
        assert path.name == "__init__.py" and len(tree.body) <= 1, "no __all__"
        return
    assert len(names) == len(set(names))
    if path.name == "__main__.py":
        return
    module = importlib.import_module(module_of(path))
    for name in names:
        if not hasattr(module, name):  # a submodule, which `import *` imports
            importlib.import_module(f"{module.__name__}.{name}")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_faces_define_nothing(path: Path) -> None:
    tree = tree_of(path)
    if not (ast.get_docstring(tree) or "").startswith("tensorpack's path of"):
        return
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.Expr)):
            continue
        if isinstance(node, ast.FunctionDef):  # a lazy face
            assert node.name in ("__getattr__", "__dir__"), node.name
        else:  # its list of names, and where a lazy face finds them
            assert isinstance(node, (ast.Assign, ast.AnnAssign)), f"line {node.lineno}"
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            name = ast.unparse(target)
            assert name == "__all__" or name.startswith("_") and name.isupper(), name


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_tensorflows_private_modules_are_imported_in_one_file(path: Path) -> None:
    private = {m for m in imported(tree_of(path)) if m.startswith("tensorflow.python")}
    assert not private or path == PACKAGE / "compat" / "internals.py", private


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_no_bare_except_and_no_print_outside_the_command_line(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        assert not (isinstance(node, ast.ExceptHandler) and node.type is None), node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) \
                and node.func.id == "print":
            assert PACKAGE / "cli" in path.parents, f"print, line {node.lineno}"


def test_the_command_line_imports_nothing_of_the_house_at_module_level() -> None:
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in tree_of(path).body:
            if isinstance(node, ast.ImportFrom) and node.level > 1:
                assert node.module == "libinfo", f"{path.name}, line {node.lineno}"


def test_modules_are_what_their_files_say() -> None:
    assert sys.modules["tfqueue_compat"].__file__ == str(PACKAGE / "__init__.py")
