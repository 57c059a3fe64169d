# SPDX-License-Identifier: Apache-2.0
"""One line of advice under a script's traceback, where the cause is a known leftover."""

from __future__ import annotations

import re

from .inventory import inventory
from .places import HOUSE

__all__ = ["hint"]

_PY2_SYNTAX = re.compile(
    r"^\s*(print\s+[^(=]|print\s*$|exec\s+[^(]|raise\s+\w+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)"
    r"|<>|`\w|\bur['\"]|\b0\d+\b|\b\d+L\b")


def hint(error: BaseException) -> str | None:
    """Return what the reader can do about ``error``, or None where nothing is known.

    Example:
        >>> hint(NameError("name 'xrange' is not defined", name="xrange"))
        "This is Python 2's xrange. Do: write range."
    """
    python2 = inventory().data["python2"]
    if isinstance(error, SyntaxError):
        return _of_syntax(error)
    if isinstance(error, ImportError) and error.name:
        return _of_import(error.name)
    name = getattr(error, "name", None)
    if isinstance(error, NameError) and name in python2["names"]:
        return f"This is Python 2's {name}. Do: write {python2['names'][name]}."
    if isinstance(error, AttributeError) and name == "value" and isinstance(error.obj, int):
        return "A shape holds ints and None since TensorFlow 2. Do: drop the .value."
    if isinstance(error, AttributeError) and name in python2["methods"]:
        return f"This is Python 2's dict.{name}. Do: write {python2['methods'][name]}."
    return None


def _of_syntax(error: SyntaxError) -> str | None:
    line = error.text or ""
    if isinstance(error, TabError) or _PY2_SYNTAX.search(line):
        return (f"{error.filename}: Expected Python 3. Received Python 2, line {error.lineno}. "
                f"Do: convert the file once, for example with `2to3 -w` or `futurize -w`.")
    return None


def _of_import(module: str) -> str | None:
    python3 = inventory().data["python2"]["modules"].get(module)
    if python3:
        return f"This is Python 2's module {module}. Do: import {python3}."
    root, _, rest = module.partition(".")
    if root == HOUSE and rest:
        return (f"This part of tensorpack, or of TF 1, is not there (yet): {rest}. "
                f"Do: see README.md for what is there.")
    if root == "tensorflow":
        return f"Today's TensorFlow has no {module}, and TF 1's names here don't cover it."
    return None
