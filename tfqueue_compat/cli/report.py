# SPDX-License-Identifier: Apache-2.0
"""What ``check`` and ``migrate`` print: one screen, in colours where there is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from termcolor import colored

if TYPE_CHECKING:
    from .check import Finding, Report

__all__ = ["heading", "show", "summary"]

_COLORS = {"works": "green", "changed": "yellow", "moved": "cyan", "gone": "red"}
_TITLES = {"works": "works", "changed": "works, changed so", "moved": "works, moved",
           "gone": "gone: do this instead"}
_ROWS = 9  # names of a kind that fit on one screen


def heading(text: str, color: str = "") -> str:
    """Return a line in bold, and in a colour."""
    return colored(text, color or None, attrs=["bold"])


def show(text: str) -> None:
    """Print a text; a reader that has seen enough of it (``| head``) is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def summary(report: Report, every: bool = False) -> str:
    """Return what was found as text.

    Args:
        report: from ``check``.
        every: list each use by file and line, not only the names that need a look.
    """
    lines = [_head(report)]
    by_kind: dict[str, dict[tuple[str, str], list[Finding]]] = {h: {} for h in _TITLES}
    for finding in report.findings:
        if finding.kind not in ("star", "module") or finding.here != "works":
            key = (finding.name, finding.note if finding.here != "works" else "")
            by_kind[finding.here].setdefault(key, []).append(finding)
    for here in ("gone", "changed", "moved", "works"):
        lines += _section(here, by_kind[here], every)
    if report.unreadable:
        lines += ["", heading(f"not read: {len(report.unreadable)}", "red")]
        lines += [f"  {place}: {why}" for place, why in _cut(report.unreadable, every)]
    return "\n".join([*lines, "", _verdict(report)])


def _head(report: Report) -> str:
    text = f"{report.files} files, {report.users} of them use tensorpack or TF 1."
    if report.versions is None:
        return text
    (oldest, newest), (first, last) = report.versions, report.reasons
    span = oldest if oldest == newest else f"{oldest} to {newest}"
    reasons = [f"{first} came in {oldest}"] if first else []
    reasons += [f"{last} left after {newest}"] if last else []
    why = f" ({', '.join(reasons)})" if reasons else ""
    if first and last and _older(newest, oldest):
        return f"{text} Written for several versions of tensorpack{why}."
    return f"{text} Written for tensorpack {span}{why}."


def _older(one: str, other: str) -> bool:
    return [int(x) for x in one.split(".")] < [int(x) for x in other.split(".")]


def _section(here: str, names: dict[tuple[str, str], list[Finding]], every: bool) -> list[str]:
    if not names:
        return []
    uses = sum(map(len, names.values()))
    lines = ["", heading(f"{_TITLES[here]}: {len(names)} names, {uses} uses", _COLORS[here])]
    ranked = sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))
    if every:
        for (name, note), found in ranked:
            lines.append(f"  {_short(name)}{f': {note}' if note else ''}")
            lines += [f"    {f.place}" for f in found]
        return lines
    if here == "works":
        most = [f"{_short(name)} {len(found)}" for (name, _), found in ranked[:10]]
        return [*lines, f"  {', '.join(most)}{', ...' if len(ranked) > 10 else ''}"]
    for (name, note), found in ranked[:_ROWS]:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        lines.append(f"  {_short(name)}  {colored(found[0].place + more, attrs=['dark'])}")
        lines += [f"      {note}"] if note else []
    if len(ranked) > _ROWS:
        lines.append(f"  ... and {len(ranked) - _ROWS} more: see --all")
    return lines


def _short(name: str) -> str:
    return name.rpartition(".")[2] if name.startswith("tensorpack.") else name


def _cut(rows: list[tuple[str, str]], every: bool) -> Iterable[tuple[str, str]]:
    return rows if every else rows[:_ROWS]


def _verdict(report: Report) -> str:
    gone = [f for f in report.findings if f.here == "gone" and f.kind != "python2"]
    python2 = sum(f.kind == "python2" for f in report.findings)
    if not report.users:
        return "Nothing of tensorpack or TF 1 is used here."
    parts = []
    if python2:
        parts.append(f"{python2} leftovers of Python 2: migrate rewrites most of them.")
    if gone or report.unreadable:
        parts.append(f"{len(gone) + len(report.unreadable)} places need you.")
    else:
        parts.append("Nothing else needs you." if python2 else "Nothing needs you.")
    if not python2 and not report.unreadable:
        parts.append("Next: python -m tfqueue_compat run SCRIPT, or migrate PATH.")
    else:
        parts.append("Next: python -m tfqueue_compat migrate PATH.")
    return " ".join(parts)
