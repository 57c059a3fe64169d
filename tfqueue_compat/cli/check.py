# SPDX-License-Identifier: Apache-2.0
"""``check``: what becomes of a legacy repository here, name by name. Nothing of it is imported."""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .inventory import Fact, inventory
from .names import Use, find_uses
from .python2 import Leftover, advice, make_python3
from .report import show, summary
from .sources import Source, find_sources, read_source

__all__ = ["Finding", "Report", "check", "main", "read_uses", "register", "written_for"]


@dataclass(frozen=True)
class Finding:
    """One use of a name: where, which, and what it is here.

    Attributes:
        place: ``path:line``; in a notebook ``path[cell]:line``, the cells counted from 0.
        kind: as in `names.Use`; ``python2`` also for a statement.
        name: the name, as defined.
        here: ``works``, ``changed``, ``moved`` or ``gone``.
        note: what is different, or what to do.
    """

    place: str
    kind: str
    name: str
    here: str
    note: str = ""


@dataclass
class Report:
    """What `check` found.

    Attributes:
        files: files read.
        users: files that use tensorpack or TF 1.
        findings: every use, in the order of files and lines.
        unreadable: places that could not be read, and why.
        versions: the oldest and the newest tensorpack that has what is used; None where none is.
        reasons: the names that say so.
    """

    files: int = 0
    users: int = 0
    findings: list[Finding] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    versions: tuple[str, str] | None = None
    reasons: tuple[str, str] = ("", "")

    def at_fault(self) -> bool:
        """Say whether something needs a person."""
        return bool(self.unreadable) or any(f.here == "gone" for f in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "files": self.files, "users": self.users,
            "tensorpack": list(self.versions) if self.versions else None,
            "reasons": list(self.reasons),
            "unreadable": [{"place": p, "why": w} for p, w in self.unreadable],
            "findings": [vars(f) for f in self.findings]}


def register(subparsers: Any) -> None:
    """Add the verb ``check`` to the command line."""
    parser = subparsers.add_parser(
        "check", help="list what a legacy repository uses, and what becomes of it here",
        description="List every name of tensorpack and TF 1 that the files at PATH use, and what "
                    "becomes of each here. Imports neither TensorFlow nor any of the files.")
    parser.add_argument("path", metavar="PATH", nargs="+", type=Path,
                        help="a file, a folder, a git repository or a notebook")
    parser.add_argument("--all", action="store_true", help="list every use, by file and line")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--strict", action="store_true",
                        help="exit with status 1 where something needs a person")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Check what the command line names; return the exit status."""
    for path in args.path:
        if not path.exists():
            print(f"tfqueue_compat check: Expected a file or a folder. Received {str(path)!r}, "
                  f"which is not there. Do: correct the path.", file=sys.stderr)
            return 2
    report = check(args.path)
    if args.json:
        show(json.dumps(report.as_json(), indent=1))
    else:
        show(summary(report, every=args.all))
    return 1 if args.strict and report.at_fault() else 0


def check(paths: Iterable[Path]) -> Report:
    """Read the files at ``paths`` and look up every name they use.

    Example:
        >>> check([Path("train.py")]).versions  # doctest: +SKIP
        ('0.8.1', '0.9.9')
    """
    report, facts = Report(), []
    for root in paths:
        base = root if root.is_dir() else root.parent
        for path in find_sources(root):
            report.files += 1
            try:
                source = read_source(path)
            except (OSError, ValueError) as e:
                report.unreadable.append((str(path.relative_to(base)), str(e)))
                continue
            uses, leftovers, error = read_uses(source.text)
            found = _findings(source, base, uses, leftovers)
            if error:
                report.unreadable.append((source.place(error[0], base), error[1]))
            if not any(u.kind not in ("library", "python2") for u in uses):
                # other people's Python: only tensorpack's users are looked at
                if not (error and "tensor" in source.text):
                    report.unreadable = [u for u in report.unreadable
                                         if not error or u[0] != source.place(error[0], base)]
                    continue
            report.users += 1
            report.findings += found
            facts += [u.fact for u in uses]
    report.versions, report.reasons = written_for(facts)
    return report


def read_uses(text: str) -> tuple[list[Use], list[Leftover], tuple[int, str] | None]:
    """Return the uses in a text, its Python 2 leftovers, and the line that defied reading."""
    try:
        tree: ast.Module | None = ast.parse(text)
        leftovers: list[Leftover] = []
    except (SyntaxError, ValueError):
        tree = None
    if tree is None or "print" in text:
        _, tree, leftovers = make_python3(text)
    if tree is None:
        line, old, _ = leftovers.pop()
        return [], leftovers, (line, f"neither Python 3 nor known Python 2: {old}")
    return find_uses(tree), leftovers, None


def _findings(source: Source, base: Path, uses: list[Use],
              leftovers: list[Leftover]) -> list[Finding]:
    found = [(u.line, Finding(source.place(u.line, base), u.kind, u.fact.name, u.fact.here,
                              _note(u.fact))) for u in uses]
    found += [(x[0], Finding(source.place(x[0], base), "python2", x[1], "gone", advice(x)))
              for x in leftovers]
    return [f for _, f in sorted(found, key=lambda pair: pair[0])]


def _note(fact: Fact) -> str:
    if fact.now and fact.here == "moved":
        return f"Now {fact.now}; run and migrate write it so."
    if fact.now and fact.here == "works":
        return f"Today's name is {fact.now}."
    return fact.note


def written_for(facts: Iterable[Fact]) -> tuple[tuple[str, str] | None, tuple[str, str]]:
    """Return the oldest and the newest tensorpack that fits the names, and what says so.

    Where no version has them all, the first is newer than the second.
    """
    known = inventory()
    oldest, newest, why = known.versions[0], known.versions[-1], ["", ""]
    seen = False
    for fact in facts:
        if fact.since is not None:
            seen = True
            if known.rank(fact.since) > known.rank(oldest):
                oldest, why[0] = fact.since, fact.short
        if fact.until is not None and known.rank(fact.until) < known.rank(newest):
            seen, newest, why[1] = True, fact.until, fact.short
    return ((oldest, newest) if seen else None), (why[0], why[1])
