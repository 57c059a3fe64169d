# SPDX-License-Identifier: Apache-2.0
"""``migrate``: a legacy repository rewritten for good, by the rewriter that serves ``run``.

Formatting and comments stay, no line moves, and a second time nothing changes. What it can't
decide stays as it is, and is listed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .names import find_uses
from .python2 import make_python3
from .report import heading, show
from .rewrite import Options, Remark, rewrite
from .sources import Source, find_sources, is_tensorpack, read_source, write_bytes
from .to_keras import propose

__all__ = ["Migrated", "main", "migrate_files", "register", "renamable"]

_REPORT = "migration_report.md"
_NOT_COPIED = (".git", "__pycache__", ".ipynb_checkpoints")
_PASSES = 3  # one edit inside of another waits for the next pass
_QUIET = "Python 2 rounded / of two integers down: see whether this file relies on it."


@dataclass
class Migrated:
    """What becomes of one file.

    Attributes:
        source: the file as it is.
        text: its new text.
        changes: what was rewritten.
        doubts: what a person must decide.
        proposals: the Keras form of launch code, as text.
    """

    source: Source
    text: str
    changes: list[Remark] = field(default_factory=list)
    doubts: list[Remark] = field(default_factory=list)
    proposals: list[Remark] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Say whether anything is to be written."""
        return self.text != self.source.text


def register(subparsers: Any) -> None:
    """Add the verb ``migrate`` to the command line."""
    parser = subparsers.add_parser(
        "migrate", help="rewrite a legacy repository for good",
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", metavar="PATH", type=Path,
                        help="a file, a folder, a git repository or a notebook")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--diff", action="store_true", help="print the changes, write nothing")
    where.add_argument("--out", type=Path, metavar="DIR",
                       help="write a migrated copy to DIR, which must be empty or not be there")
    parser.add_argument("--force", action="store_true",
                        help="write although git has uncommitted changes there")
    parser.add_argument("--to", choices=["keras"],
                        help="also propose the Keras form of the code that starts training")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Migrate what the command line names; return the exit status."""
    path: Path = args.path
    if not path.exists():
        return _refuse("a file or a folder", f"{str(path)!r}, which is not there",
                       "correct the path")
    if args.out is not None:
        if args.out.exists() and (not args.out.is_dir() or any(args.out.iterdir())):
            return _refuse("an empty folder for --out", f"{str(args.out)!r}, where something is",
                           "name another one")
        path = _copy(path, args.out)
    files, unreadable = migrate_files(path, keras=args.to == "keras")
    base = path if path.is_dir() else path.parent
    if args.diff:
        show("".join(_diff(files, base)).rstrip("\n"))
    changed = [f for f in files if f.changed]
    if changed and not args.diff:
        if args.out is None and not args.force and _is_dirty(path):
            return _refuse("a git tree without uncommitted changes", "one with some",
                           "commit them, or pass --force or --out DIR")
        for file in changed:
            write_bytes(file.source.path, file.source.data(file.text))
        report = base / _REPORT
        _write_new(report, _markdown(files, unreadable, base))
    stream = sys.stderr if args.diff else sys.stdout
    print(_summary(files, unreadable, base, written=not args.diff), file=stream)
    return 0


def migrate_files(path: Path,
                  keras: bool = False) -> tuple[list[Migrated], list[tuple[str, str]]]:
    """Return what becomes of each file at ``path``, and the places that could not be read.

    Nothing is written.

    Args:
        path: a file or a folder.
        keras: also propose the Keras form of launch code.
    """
    base = path if path.is_dir() else path.parent
    sources, unreadable = [], []
    for name in find_sources(path):
        try:
            sources.append(read_source(name))
        except (OSError, ValueError) as e:
            unreadable.append((os.path.relpath(name, base), str(e)))
    methods = renamable(s.text for s in sources)
    files = []
    for source in sources:
        done = _migrate(source, methods, keras)
        if isinstance(done, Migrated):
            files.append(done)
        else:
            unreadable.append((source.place(done[0], base), done[1]))
    return files, unreadable


def _migrate(source: Source, methods: frozenset[str], keras: bool) -> Migrated | tuple[int, str]:
    text, tree, leftovers = make_python3(source.text)
    if tree is None:
        return leftovers[-1][0], f"neither Python 3 nor known Python 2: {leftovers[-1][1]}"
    options = Options(modern=True, methods=methods, script=source.notebook is not None)
    changes = [Remark(line, old, now) for line, old, now in leftovers]
    for _ in range(_PASSES):
        new = rewrite(text, options, str(source.path))
        changes += new.changes
        if new.text == text:
            break
        text = new.text
        try:
            ast.parse(text)
        except SyntaxError as e:  # the rewriter's fault, never the user's loss
            return e.lineno or 1, f"can't be rewritten: {e.msg}"
    doubts = list(new.doubts)
    if leftovers:
        doubts += [Remark(n.lineno, ast.unparse(n), why=_QUIET) for n in ast.walk(tree)
                   if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)][:1]
    proposals = propose(text) if keras else []
    key = lambda r: r.line  # noqa: E731
    return Migrated(source, text, sorted(changes, key=key), sorted(doubts, key=key), proposals)


def renamable(texts: Iterable[str]) -> frozenset[str]:
    """Return the methods whose every mention in the files is one that a rename would reach.

    A subclass that could not be resolved, or a call from elsewhere, keeps the old name for all.
    """
    reached: dict[str, int] = {}
    everything = []
    for text in texts:
        text, tree, _ = make_python3(text)
        everything.append(text)
        if tree is None:
            continue
        for use in find_uses(tree):
            if use.kind == "method" and use.fact.now and isinstance(use.node, ast.FunctionDef):
                reached[use.node.name] = reached.get(use.node.name, 0) + 1
    whole = "\n".join(everything)
    return frozenset(name for name, count in reached.items()
                     if len(re.findall(rf"\b{name}\b", whole)) == count)


def _write_new(path: Path, text: str) -> None:
    """Write a file that may not be there yet."""
    path.touch()
    write_bytes(path, text.encode())


def _refuse(expected: str, received: str, do: str) -> int:
    print(f"tfqueue_compat migrate: Expected {expected}. Received {received}. Do: {do}.",
          file=sys.stderr)
    return 2


def _copy(path: Path, out: Path) -> Path:
    """Copy a file or a folder to ``out``; return where the copy is."""
    if path.is_file():
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(path, out / path.name))

    def ignore(folder: str, names: Sequence[str]) -> set[str]:
        return {n for n in names if n in _NOT_COPIED or is_tensorpack(Path(folder, n))
                or Path(folder, n).resolve() == out.resolve()}

    shutil.copytree(path, out, symlinks=True, ignore=ignore, dirs_exist_ok=True)
    return out


def _is_dirty(path: Path) -> bool:
    folder, name = (path, ".") if path.is_dir() else (path.parent, path.name)
    try:
        done = subprocess.run(["git", "-C", str(folder), "status", "--porcelain", "--", name],
                              capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def _diff(files: Iterable[Migrated], base: Path) -> Iterable[str]:
    for file in files:
        if file.changed:
            name = os.path.relpath(file.source.path, base)
            for line in difflib.unified_diff(file.source.text.splitlines(keepends=True),
                                             file.text.splitlines(keepends=True),
                                             f"a/{name}", f"b/{name}"):
                yield line if line.endswith("\n") else f"{line}\n"


def _summary(files: Sequence[Migrated], unreadable: Sequence[tuple[str, str]], base: Path,
             written: bool) -> str:
    changed = [f for f in files if f.changed]
    places = sum(len(f.changes) for f in changed)
    if not changed:
        lines = [heading("Nothing to rewrite.", "green")]
    else:
        verb = "rewritten" if written else "to rewrite"
        lines = [heading(f"{len(changed)} of {len(files)} files {verb}, {places} places.",
                         "green")]
    doubts = [(f, d) for f in files for d in f.doubts]
    if doubts or unreadable:
        lines.append(heading(f"{len(doubts) + len(unreadable)} places need you:", "yellow"))
        lines += [f"  {f.source.place(d.line, base)}: {d.why}" for f, d in doubts[:20]]
        lines += [f"  {place}: {why}" for place, why in unreadable[:20]]
    for file in files:
        for proposal in file.proposals:
            lines += ["", heading(f"{file.source.place(proposal.line, base)}: under Keras"),
                      proposal.new or proposal.why]
    if changed and written:
        lines.append(f"All of it is in {base / _REPORT}.")
    return "\n".join(lines)


def _markdown(files: Sequence[Migrated], unreadable: Sequence[tuple[str, str]],
              base: Path) -> str:
    lines = ["# Migration to tfqueue_compat", ""]
    doubts = [(f.source.place(d.line, base), d) for f in files for d in f.doubts]
    if doubts or unreadable:
        lines += ["## What needs you", ""]
        lines += [f"- `{place}`: {d.why} (`{d.old}`)" for place, d in doubts]
        lines += [f"- `{place}`: {why}" for place, why in unreadable]
        lines.append("")
    for file in files:
        if file.changed:
            lines += [f"## {os.path.relpath(file.source.path, base)}", ""]
            lines += [f"- `{file.source.place(c.line, base)}`: `{_one(c.old)}` -> `{_one(c.new)}`"
                      for c in file.changes]
            lines.append("")
        for proposal in file.proposals:
            lines += [f"Under Keras, line {proposal.line}:", "", "```python",
                      proposal.new or f"# {proposal.why}", "```", ""]
    return "\n".join(lines)


def _one(text: str) -> str:
    return " ".join(text.split())
