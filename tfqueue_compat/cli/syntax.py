# SPDX-License-Identifier: Apache-2.0
"""Questions about a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

__all__ = ["aliases", "defaults", "is_binary", "is_dimension", "is_number", "is_legacy_star",
           "last_name", "names_bound"]


def aliases(tree: ast.AST, module: str) -> Iterator[ast.alias]:
    """Yield the parts of import statements that import ``module``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a for a in node.names if a.name == module)


def names_bound(tree: ast.AST) -> Iterator[str]:
    """Yield every name the file binds, in any scope, other than by ``import numpy``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        elif isinstance(node, ast.Import):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names
                        if a.name not in ("numpy", "collections"))
        elif isinstance(node, ast.ImportFrom):
            yield from (a.asname or a.name for a in node.names)


def is_legacy_star(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    """Say whether this is a star import from tensorpack."""
    return (isinstance(node, ast.ImportFrom) and not node.level and node.names[0].name == "*"
            and (node.module or "").partition(".")[0] == "tensorpack")


def last_name(func: ast.expr) -> str:
    """Return the last word of a dotted name, or ``""``."""
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""


def is_dimension(node: ast.expr) -> TypeGuard[ast.Subscript]:
    """Say whether this is ``x.shape[i]`` or ``x.get_shape()[i]``."""
    if not isinstance(node, ast.Subscript):
        return False
    owner = node.value.func if isinstance(node.value, ast.Call) else node.value
    return last_name(owner) == ("get_shape" if isinstance(node.value, ast.Call) else "shape")


def is_binary(call: ast.Call) -> bool:
    """Say whether a ``np.fromstring`` call reads bytes: no separator is given."""
    given = {k.arg for k in call.keywords}
    return (not given & {"sep", None} and len(call.args) <= 3
            and not any(isinstance(a, ast.Starred) for a in call.args))


def is_number(node: ast.expr) -> bool:
    """Say whether this is a number, maybe a negative one."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def defaults(args: ast.arguments) -> Iterator[ast.expr]:
    """Yield the default values of a function's parameters."""
    yield from args.defaults
    yield from (d for d in args.kw_defaults if d is not None)
