# SPDX-License-Identifier: Apache-2.0
"""A user's files: found below a path, read with their encoding, written back in one step."""

from __future__ import annotations

import ast
import codecs
import io
import json
import os
import re
import stat
import subprocess
import tempfile
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Source", "find_sources", "is_tensorpack", "read_source", "write_bytes"]

_SKIPPED = {"__pycache__", "build", "dist", "env", "node_modules", "site-packages", "venv"}
_KINDS = (".py", ".ipynb")
_SHEBANG = re.compile(rb"#!.*\bpython")
_MAGIC = "pass  # magic: "
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass
class Source:
    """One file's text, and what is needed to write it back as it was.

    Attributes:
        path: of the file.
        text: its Python; a notebook's code cells one after another, magics as comments.
        encoding: of the file.
        starts: for a notebook: each code cell's number and first line in ``text``.
    """

    path: Path
    text: str
    encoding: str = "utf-8"
    starts: list[tuple[int, int]] = field(default_factory=list)
    notebook: dict[str, Any] | None = None
    style: dict[str, Any] = field(default_factory=dict)

    def place(self, line: int, root: Path | None = None) -> str:
        """Return ``path:line``, or ``path[cell]:line`` in a notebook."""
        path = os.path.relpath(self.path, root) if root else str(self.path)
        cell = next(((n, s) for n, s in reversed(self.starts) if s <= line), None)
        return f"{path}[{cell[0]}]:{line - cell[1] + 1}" if cell else f"{path}:{line}"

    def data(self, text: str) -> bytes:
        """Return the file's bytes with ``text`` in the place of its Python; lines did not move."""
        if self.notebook is None:
            return text.encode(self.encoding)
        book = json.loads(json.dumps(self.notebook))
        lines = [line.replace(_MAGIC, "", 1) for line in _LINES.findall(text)]
        bounds = [s - 1 for _, s in self.starts] + [len(lines)]
        for (number, _), begin, end in zip(self.starts, bounds, bounds[1:]):
            cell = book["cells"][number]
            new = "".join(lines[begin:end])[:-1]  # the line break that joined the cells
            cell["source"] = (_LINES.findall(new) if isinstance(cell["source"], list) else new)
        return _dump(book, self.style).encode(self.encoding)


def find_sources(path: Path) -> Iterator[Path]:
    """Yield the Python files and notebooks at ``path``, in order; a folder's own only.

    Skipped are what git ignores, hidden folders, environments, and copies of tensorpack itself.
    """
    if path.is_file():
        yield path
        return
    found = _tracked(path)
    names = found if found is not None else _walk(path)
    vendored = [p.parent for p in names if p.name == "__init__.py" and is_tensorpack(p.parent)]
    seen: set[str] = set()  # a link's target is met once
    for name in sorted(names, key=lambda n: (n.is_symlink(), n)):
        real = os.path.realpath(name)
        if real in seen or any(folder in name.parents for folder in vendored):
            continue
        if name.is_file() and (name.suffix in _KINDS or (not name.suffix and _is_script(name))):
            seen.add(real)
            yield name


def is_tensorpack(folder: Path) -> bool:
    """Say whether a folder is a copy of tensorpack."""
    return folder.name == "tensorpack" and all(
        (folder / room).is_dir() for room in ("dataflow", "models", "tfutils"))


def read_source(path: Path) -> Source:
    """Read a Python file or a notebook.

    Raises:
        ValueError: where it cannot be decoded, or is no notebook.
        OSError: where it cannot be read.
    """
    data = path.read_bytes()
    if path.suffix == ".ipynb":
        return _read_notebook(path, data)
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        return Source(path, data.decode(encoding), encoding)
    except SyntaxError as e:  # an encoding that Python does not know
        raise ValueError(str(e)) from e


def write_bytes(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file in one step, with the file's own mode."""
    real = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
        os.chmod(name, stat.S_IMODE(real.stat().st_mode))
        os.replace(name, real)
    except BaseException:
        os.unlink(name)
        raise


def _tracked(folder: Path) -> list[Path] | None:
    """Return a folder's files that git does not ignore, or None where git does not know it."""
    command = ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others",
               "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    if done.returncode:
        return None
    names = {os.fsdecode(n) for n in done.stdout.split(b"\0") if n}
    return [folder / n for n in names if _SKIPPED.isdisjoint(Path(n).parts)
            and not any(part.startswith(".") for part in Path(n).parts)]


def _walk(folder: Path) -> list[Path]:
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = [d for d in folders if d not in _SKIPPED and not d.startswith(".")
                      and not os.path.exists(os.path.join(root, d, "pyvenv.cfg"))]
        found += [Path(root, name) for name in files]
    return found


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as f:
            return bool(_SHEBANG.match(f.readline(200)))
    except OSError:
        return False


def _read_notebook(path: Path, data: bytes) -> Source:
    bom = data.startswith(codecs.BOM_UTF8)
    encoding = "utf-8-sig" if bom else "utf-8"
    raw = data.decode(encoding)
    book = json.loads(raw)
    if not isinstance(book, dict) or not isinstance(book.get("cells"), list):
        raise ValueError("Expected a notebook with cells (nbformat 4).")
    starts, parts, line = [], [], 1
    for number, cell in enumerate(book["cells"]):
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        lines = _LINES.findall("".join(source) if isinstance(source, list) else source)
        text = "".join(lines if _parses("".join(lines)) else _without_magics(lines)) + "\n"
        starts.append((number, line))
        parts.append(text)
        line += len(_LINES.findall(text))
    style = next((s for s in _styles() if _dump(book, s) == raw), next(_styles()))
    return Source(path, "".join(parts), encoding, starts, book, style)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _without_magics(lines: list[str]) -> Iterator[str]:
    foreign = lines[0].lstrip().startswith("%%")
    for line in lines:
        code = line.lstrip(" \t")
        magic = foreign or code.startswith(("%", "!")) or re.fullmatch(r"[\w.]+\?{1,2}\s*", code)
        yield line[:len(line) - len(code)] + _MAGIC + code if magic else line


def _styles() -> Iterator[dict[str, Any]]:
    for indent in (1, 2, 4, None):
        for ascii_ in (False, True):
            for end in ("\n", ""):
                yield {"indent": indent, "ensure_ascii": ascii_, "end": end}


def _dump(book: dict[str, Any], style: dict[str, Any]) -> str:
    text = json.dumps(book, indent=style["indent"], ensure_ascii=style["ensure_ascii"])
    return text + str(style["end"])
