# SPDX-License-Identifier: Apache-2.0
"""One line of advice under a script's traceback, where the cause is a known leftover."""

from __future__ import annotations

import re

from .places import HOUSE

__all__ = ["hint"]

_PY2_NAMES = {
    "basestring": "str", "buffer": "memoryview", "cmp": "(a > b) - (a < b)", "execfile": "exec",
    "file": "open", "long": "int", "raw_input": "input", "reduce": "functools.reduce",
    "unichr": "chr", "unicode": "str", "xrange": "range"}
_PY2_METHODS = {"has_key": "in", "iteritems": "items()", "iterkeys": "keys()",
                "itervalues": "values()"}
_PY2_MODULES = {
    "ConfigParser": "configparser", "HTMLParser": "html.parser", "Queue": "queue",
    "StringIO": "io", "Tkinter": "tkinter", "cPickle": "pickle", "cStringIO": "io",
    "commands": "subprocess", "copy_reg": "copyreg", "urllib2": "urllib.request",
    "urlparse": "urllib.parse"}
_PY2_SYNTAX = re.compile(
    r"^\s*(print\s+[^(=]|print\s*$|exec\s+[^(]|raise\s+\w+\s*,|except\s+[\w.]+\s*,\s*\w+\s*:)"
    r"|<>|`\w|\bur['\"]|\b0\d+\b|\b\d+L\b")


def hint(error: BaseException) -> str | None:
    """Return what the reader can do about ``error``, or None where nothing is known.

    Example:
        >>> hint(NameError("name 'xrange' is not defined", name="xrange"))
        "This is Python 2's xrange. Do: write range."
    """
    if isinstance(error, SyntaxError):
        return _of_syntax(error)
    if isinstance(error, ImportError) and error.name:
        return _of_import(error.name)
    name = getattr(error, "name", None)
    if isinstance(error, NameError) and name in _PY2_NAMES:
        return f"This is Python 2's {name}. Do: write {_PY2_NAMES[name]}."
    if isinstance(error, AttributeError) and name == "value" and isinstance(error.obj, int):
        return "A shape holds ints and None since TensorFlow 2. Do: drop the .value."
    if isinstance(error, AttributeError) and name in _PY2_METHODS:
        return f"This is Python 2's dict.{name}. Do: write {_PY2_METHODS[name]}."
    return None


def _of_syntax(error: SyntaxError) -> str | None:
    line = error.text or ""
    if isinstance(error, TabError) or _PY2_SYNTAX.search(line):
        return (f"{error.filename}: Expected Python 3. Received Python 2, line {error.lineno}. "
                f"Do: convert the file once, for example with `2to3 -w` or `futurize -w`.")
    return None


def _of_import(module: str) -> str | None:
    if module in _PY2_MODULES:
        return f"This is Python 2's module {module}. Do: import {_PY2_MODULES[module]}."
    root, _, rest = module.partition(".")
    if root == HOUSE and rest:
        return (f"This part of tensorpack, or of TF 1, is not there (yet): {rest}. "
                f"Do: see README.md for what is there.")
    if root == "tensorflow":
        return f"Today's TensorFlow has no {module}, and TF 1's names here don't cover it."
    return None
