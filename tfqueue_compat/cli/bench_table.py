# SPDX-License-Identifier: Apache-2.0
"""The speeds to reach, and the tables that ``bench`` prints: medians, ratios, marks."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["FIGURES", "OURS", "PEER", "PLAIN", "ROWS", "Cell", "Figure", "Results", "Row",
           "figure_table", "ratio", "speed_table"]

OURS, PEER, PLAIN = "tfqueue_compat", "tensorpack", "tf.data"


@dataclass(frozen=True)
class Cell:
    """One measurement: who, fed with what, consumed how.

    Args:
        library: ``OURS``, ``PEER`` or ``PLAIN``.
        kind: size of the datapoint.
        arrays: ``"fresh"``, ``"kept"`` by the generator for a while, or the same ``"again"``.
        way: how it is consumed.
        probe: ``""`` for a rate, else the probe; ``"memory"`` is growth over 100,000 datapoints.
    """

    library: str
    kind: str
    arrays: str
    way: str
    probe: str = ""


# one entry a round; None where the cell failed
Results = Mapping[Cell, Sequence[dict[str, Any] | None]]


@dataclass(frozen=True)
class Row:
    """A row of the table of speeds, with the ratios to reach (0: none was set)."""

    kind: str
    arrays: str
    way: str
    over_peer: float
    over_plain: float
    over_batch: float = 0.  # over tensorpack's BatchQueueInput

    def cell(self, library: str) -> Cell:
        """Return the cell of one library; tensorpack knows ``sess.run`` only, fetched or not."""
        way = "session" if library == PEER and self.way != "step" else self.way
        return Cell(library, self.kind, self.arrays, way)

    @property
    def peer_batch(self) -> Cell | None:
        """The cell of tensorpack's BatchQueueInput, where this row is about batches."""
        if self.way in ("batch", "batchqueue"):
            return Cell(PEER, self.kind, self.arrays, "batchqueue")
        return None

    def cells(self) -> list[Cell]:
        """Return all that this row needs."""
        found = [self.cell(PEER), self.cell(PLAIN), self.cell(OURS)]
        return found + ([self.peer_batch] if self.peer_batch else [])


def _rows() -> Iterable[Row]:
    for kind, session, loop, function, fresh, again, batch in (
            ("tiny", 3.2, 33., 14., 70., 200., 150.),
            ("small", 2.7, 35., 17., 60., 110., 90.)):
        yield Row(kind, "fresh", "session", session, 3)
        yield Row(kind, "fresh", "loop", loop, 25)
        yield Row(kind, "fresh", "function", function, 12)
        yield Row(kind, "fresh", "eager", 2.1, 2.3)
        for way in ("batch", "batchqueue"):
            yield Row(kind, "fresh", way, fresh, 50)
            yield Row(kind, "again", way, again, 100, batch)
    yield Row("medium", "fresh", "session", 2, 4)
    yield Row("medium", "fresh", "step", 2, 4)
    yield Row("medium", "fresh", "loop", 6.5, 4)
    for kind, session, loop, plain in (("u8", 1.5, 1.9, 3.), ("f32", 2., 2.7, 2.5)):
        yield Row(kind, "fresh", "session", session, plain)
        yield Row(kind, "fresh", "step", session, plain)
        yield Row(kind, "fresh", "loop", loop, plain)
        yield Row(kind, "fresh", "eager", loop, plain)
        yield Row(kind, "kept", "session", 0, 0)
        yield Row(kind, "again", "session", 1.2, 1.2)
        yield Row(kind, "again", "eager", 1.2, 1.2)


ROWS = tuple(_rows())


@dataclass(frozen=True)
class Figure:
    """One figure that is not a rate.

    Args:
        title: what it is, with its unit.
        probe: the probe that measures it.
        field: where it stands in the probe's result.
        way: how it is consumed.
        limit: what ours must stay under; 0 where no limit was set.
        kinds: sizes of datapoint that it is measured with.
        libraries: whom it is measured for.
    """

    title: str
    probe: str
    field: str
    way: str = "session"
    limit: float = 0.
    kinds: tuple[str, ...] = ("small",)
    libraries: tuple[str, ...] = (PEER, PLAIN, OURS)

    def cells(self) -> list[Cell]:
        """Return all that this figure needs."""
        return [Cell(lib, kind, "fresh", self.way, self.probe)
                for kind in self.kinds for lib in self.libraries]


FIGURES = (
    Figure("first datapoint's way through, ms", "latency", "first_ms"),
    Figure("a slow datapoint's, after a burst, ms", "latency", "slow_ms"),
    Figure("the slowest of them, ms", "latency", "slow_max_ms"),
    Figure("first datapoint's way through, eager, ms", "latency", "first_ms", "eager",
           libraries=(PLAIN, OURS)),
    Figure("a slow datapoint's, eager, ms", "latency", "slow_ms", "eager",
           libraries=(PLAIN, OURS)),
    Figure("what a full input adds to a step, us", "step", "overhead_us", limit=30,
           kinds=("small", "medium")),
    Figure("what an open, unread input adds, us", "step", "idle_us", kinds=("small", "medium")),
    Figure("produced ahead of a paused consumer, datapoints", "held", "ahead",
           kinds=("tiny", "small", "medium", "f32")),
    Figure("memory that holds them, MB", "held", "held_mb",
           kinds=("tiny", "small", "medium", "f32")),
    Figure("import of .dataflow (plain: TensorFlow), s", "import", "import_s", limit=.3),
    *(Figure(f"growth over 100,000 datapoints, {way}, MB", "memory", "growth_mb", way, 30,
             ("tiny", "small"), (OURS,))
      for way in ("session", "loop", "function", "eager", "batch", "batchqueue")),
)


def _values(results: Results, cell: Cell | None, field: str) -> list[float]:
    if cell is None:
        return []
    return [r[field] for r in results.get(cell, ()) if r is not None]


def ratio(results: Results, over: Cell | None, under: Cell | None) -> float | None:
    """Return the median, over rounds that have both, of how much faster ``over`` was.

    A round's two cells ran close in time, so what else the machine did weighs on both.

    Args:
        results: cell -> one result a round.
        over: the cell above the line.
        under: the cell below it.
    """
    if over is None or under is None:
        return None
    pairs = zip(results.get(over, ()), results.get(under, ()), strict=False)
    found = [a["rate"] / b["rate"] for a, b in pairs if a is not None and b is not None]
    return statistics.median(found) if found else None


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _median(values: list[float], scale: float = 1.) -> str:
    return _number(statistics.median(values) * scale) if values else "-"


def _against(value: float | None, target: float) -> str:
    """Return e.g. ``"3.6 (>= 3.2 yes)"``."""
    if value is None:
        return "-"
    if not target:
        return f"{value:.3g}"
    return f"{value:.3g} (>= {target:g} {'yes' if value >= target else 'NO'})"


def _table(head: list[str], lines: list[list[str]]) -> str:
    from tabulate import tabulate
    return str(tabulate(lines, head, tablefmt="github", disable_numparse=True,
                        colalign=["left"] * len(head)))


def speed_table(results: Results, rows: Iterable[Row]) -> str:
    """Return the table of speeds as Markdown.

    Args:
        results: cell -> one result a round.
        rows: the rows to show.
    """
    head = ["datapoint", "arrays", "way", "tensorpack, dp/s", "its BatchQueueInput", "plain",
            "ours", "ours/tensorpack", "ours/its BatchQueueInput", "ours/plain",
            "CPU us/dp: tensorpack, plain, ours"]
    lines = []
    for row in rows:
        peer, plain, ours = (row.cell(x) for x in (PEER, PLAIN, OURS))
        rates = [_median(_values(results, c, "rate"))
                 for c in (peer, row.peer_batch, plain, ours)]
        cpu = ", ".join(_median(_values(results, c, "cpu"), 1e6) for c in (peer, plain, ours))
        lines.append([row.kind, row.arrays, row.way, *rates,
                      _against(ratio(results, ours, peer), row.over_peer),
                      _against(ratio(results, ours, row.peer_batch), row.over_batch),
                      _against(ratio(results, ours, plain), row.over_plain), cpu])
    return _table(head, lines)


def figure_table(results: Results, figures: Iterable[Figure]) -> str:
    """Return the table of the other figures as Markdown.

    Args:
        results: cell -> one result a round.
        figures: the figures to show.
    """
    lines = []
    for f in figures:
        for kind in f.kinds:
            got = {lib: _values(results, Cell(lib, kind, "fresh", f.way, f.probe), f.field)
                   for lib in (PEER, PLAIN, OURS)}
            mark = ""
            if f.limit and got[OURS]:
                reached = statistics.median(got[OURS]) < f.limit
                mark = f"< {f.limit:g} {'yes' if reached else 'NO'}"
            lines.append([f.title, kind, *(_median(v) for v in got.values()), mark])
    return _table(["figure", "datapoint", "tensorpack", "plain", "ours", "limit"], lines)
