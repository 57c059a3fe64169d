# SPDX-License-Identifier: Apache-2.0
"""Edits of a source text by the positions of its syntax tree. Lines never move."""

from __future__ import annotations

import ast
import re

__all__ = ["Edits"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # what the parser counts as a line
_BREAK = re.compile(r"\\?(?:\r\n|\r|\n)")


class Edits:
    """Replacements in one source text, applied together.

    Args:
        source: the text; offsets count its characters.

    Example:
        >>> edits = Edits("x = np.float\\n")
        >>> edits.replace(4, 12, "float")
        >>> edits.apply()
        'x = float\\n'
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._lines = _LINE.findall(source)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, str]] = []

    def span(self, node: ast.stmt | ast.expr | ast.alias | ast.keyword) -> tuple[int, int]:
        """Return the node's first character and the one behind its last."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return (self._offset(node.lineno, node.col_offset),
                self._offset(node.end_lineno, node.end_col_offset))

    def text(self, node: ast.stmt | ast.expr | ast.alias | ast.keyword) -> str:
        """Return the node's source."""
        start, end = self.span(node)
        return self.source[start:end]

    def line(self, number: int) -> str:
        """Return line ``number``, counted from 1, without what surrounds it."""
        return self._lines[number - 1].strip() if number <= len(self._lines) else ""

    def replace(self, start: int, end: int, new: str) -> None:
        """Put ``new`` in place of ``source[start:end]``, keeping that part's line breaks."""
        breaks = "".join(_BREAK.findall(self.source[start:end]))
        self._edits.append((start, end, breaks + new))

    def replace_statement(self, node: ast.stmt, new: str) -> bool:
        """Put ``new``, one line, in place of a statement; blank lines keep the place of the rest.

        Returns:
            False, with nothing done, where another statement follows on the last line.
        """
        start, end = self.span(node)
        breaks = "".join(_BREAK.findall(self.source[start:end])).replace("\\", "")
        rest = self.source[end:self._starts[node.end_lineno or node.lineno]].strip()
        if breaks and rest and not rest.startswith("#"):
            return False
        self._edits.append((start, end, new + breaks))
        return True

    def touches(self, start: int, end: int) -> bool:
        """Say whether some replacement lies in ``source[start:end]``."""
        return any(start <= s and e <= end for s, e, _ in self._edits)

    def apply(self) -> str:
        """Return the text with every replacement done."""
        out: list[str] = []
        done = 0
        for start, end, new in sorted(self._edits):
            out += [self.source[done:start], new]
            done = end
        return "".join([*out, self.source[done:]])

    def offset(self, lineno: int, col: int) -> int:
        """Return the offset of a column counted in characters, in a line counted from 1."""
        return min(self._starts[min(lineno - 1, len(self._starts) - 1)] + col, len(self.source))

    def _offset(self, lineno: int, col: int) -> int:
        line = self._lines[lineno - 1] if lineno <= len(self._lines) else ""
        if not line.isascii():  # the parser counts bytes
            col = len(line.encode()[:col].decode())
        return self._starts[lineno - 1] + col
