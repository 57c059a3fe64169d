# SPDX-License-Identifier: Apache-2.0
"""Python 2's statements to Python 3's, at the lines that Python 3 itself cannot read.

Only what is wrong by Python 3's own parser is touched, one statement at a time, and no line moves.
What changed its meaning without an error (``/`` of integers, ``map``, ``dict.keys``) stays.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator

from .edits import Edits

__all__ = ["LIMIT", "Leftover", "advice", "make_python3"]

#: How many statements of one file are made Python 3 at most; each costs a parse.
LIMIT = 500

#: Line, what stands there, what stands there now; the last is empty where nothing is known.
Leftover = tuple[int, str, str]

_PRINT = re.compile(r"(?<![\w.])print\b[ \t]*(>>[ \t]*([\w.]+)[ \t]*,?)?[ \t]*")
_RULES = (
    (re.compile(r"\bexcept\s+(\([^()]*\)|[\w.]+)\s*,\s*(\w+)\s*:"), r"except \1 as \2:"),
    (re.compile(r"\braise\s+([\w.]+)\s*,\s*(.+?)\s*$"), r"raise \1(\2)"),
    (re.compile(r"<>"), "!="),
    (re.compile(r"(?<![\w.])0([0-7]+)\b(?!\.)"), r"0o\1"),
    (re.compile(r"\b(\d+|0[xX][0-9a-fA-F]+)[lL]\b"), r"\1"),
    (re.compile(r"(?<!\w)[uU][rR](?=['\"])"), "r"),
    (re.compile(r"`([^`]+)`"), r"repr(\1)"),
    (re.compile(r"(?<![\w.])exec\s+([^\s(].*?)\s+in\s+(.+?)\s*$"), r"exec(\1, \2)"),
    (re.compile(r"(?<![\w.])exec\s+([^\s(].*?)\s*$"), r"exec(\1)"),
)


def make_python3(source: str) -> tuple[str, ast.Module | None, list[Leftover]]:
    """Return a text that Python 3 reads, its syntax tree, and the leftovers that were in the way.

    Args:
        source: the text of a file, in Python 2 or 3.

    Returns:
        The new text; its tree, or None where a line defied it: the last leftover; the leftovers.

    Example:
        >>> make_python3("print 'x', 1\\n")[0]
        "print('x', 1)\\n"
    """
    found: list[Leftover] = []
    for _ in range(LIMIT):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # e.g. about escapes in the user's strings
                tree = ast.parse(source)
            line, column = next(_silent(tree), (0, 0))
            if not line:
                return source, tree, found
            new = _print(source.splitlines(keepends=True), line, column)
        except (SyntaxError, ValueError) as e:
            line = getattr(e, "lineno", None) or 1
            new = _mend(source, line, (getattr(e, "offset", None) or 1) - 1, e)
        lines = source.splitlines()
        old = lines[line - 1].strip() if line <= len(lines) else ""
        if new is None or new == source:
            return source, None, [*found, (line, old, "")]
        found.append((line, old, new.splitlines()[line - 1].strip()))
        source = new
    return source, None, found


def advice(leftover: Leftover) -> str:
    """Return what to do about a line that is no Python 3."""
    return f"Write {leftover[2]}" if leftover[2] else "Make it Python 3, for example with 2to3."


def _silent(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield where a print statement means something else in Python 3 without being an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Call):
            first: ast.expr = node.value
            while not isinstance(first, ast.Name):
                if isinstance(first, ast.BinOp):
                    first = first.left
                elif isinstance(first, ast.Tuple) and first.elts:
                    first = first.elts[0]
                elif isinstance(first, ast.Call):
                    first = first.func
                else:
                    break
            if isinstance(first, ast.Name) and first.id == "print":
                yield node.lineno, node.col_offset


def _mend(source: str, number: int, column: int, error: Exception) -> str | None:
    """Return the text with line ``number`` as Python 3 has it; None where nothing is known."""
    lines = source.splitlines(keepends=True)
    if number > len(lines):
        return None
    if isinstance(error, TabError) or "unindent" in str(error) or "indent" in str(error):
        return _expand(lines)
    line = lines[number - 1]
    body = line.rstrip("\r\n")
    for match in _PRINT.finditer(body):
        behind = body[match.end():match.end() + 1]
        if behind != "=" and (behind != "(" or match.start() == column):
            new = _print(lines, number, match.start())
            if new is not None:
                return new
    for pattern, to in _RULES:
        code, comment = _split_comment(body)
        new_code = pattern.sub(to, code)
        if new_code != code:
            lines[number - 1] = new_code + comment + line[len(body):]
            return "".join(lines)
    return None


def _expand(lines: list[str]) -> str:
    """Write the tabs of indentations as spaces, to every eighth column as Python 2 read them."""
    out = []
    for line in lines:
        rest = line.lstrip(" \t")
        out.append(line[:len(line) - len(rest)].expandtabs(8) + rest)
    return "".join(out)


def _split_comment(body: str) -> tuple[str, str]:
    """Return code and what follows it, as far as one line tells."""
    match = re.match(r"((?:[^#'\"]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")*?)(\s*#.*)?$", body)
    return (match[1], match[2] or "") if match else (body, "")


def _print(lines: list[str], number: int, head: int) -> str | None:
    """Write the print statement that begins in line ``number``, column ``head``, as a call."""
    text = "".join(lines[number - 1:])
    match = _PRINT.match(text, head)
    if match is None:
        return None
    end = _statement_end(text[match.end():])
    if end is None:
        return None
    body = text[match.end():match.end() + end].rstrip()
    keywords = [f"file={match[2]}"] if match[2] else []
    if body.endswith(","):
        body = body[:-1]
        keywords.append('end=" "')
    new = text[:head] + f"print({', '.join([body, *keywords] if body else keywords)})"
    return "".join(lines[:number - 1]) + new + text[match.end() + len(
        text[match.end():match.end() + end].rstrip()):]


def _statement_end(text: str) -> int | None:
    """Return the length of the simple statement that ``text`` begins with."""
    edits = Edits(text)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            done = token.type in (tokenize.NEWLINE, tokenize.COMMENT, tokenize.ENDMARKER)
            if done or (token.type == tokenize.OP and token.string == ";"):
                return edits.offset(*token.start)
    except (tokenize.TokenError, SyntaxError):  # unfinished, or not Python at all
        return None
    return None
