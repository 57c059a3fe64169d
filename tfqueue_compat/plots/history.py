# SPDX-License-Identifier: Apache-2.0
"""Pictures of a training, from the ``stats.json`` in its log directory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..utils.bottleneck import bottleneck
from ..utils.errors import say
from .picture import Picture

__all__ = ["draw_history", "draw_queue_history", "load_stats"]

Stats = Sequence[Mapping[str, Any]]
_AXES = ("epoch_num", "global_step")
_SETS = re.compile(r"^(train|training|val|valid|validation|test)[-_/]|[-_/](train|val|test)$")
_QUEUE = re.compile(r"^(?P<input>.*)/(queue_size|model_waited|data_waited)$")


def load_stats(logdir: str | os.PathLike[str]) -> Stats:
    """Read ``stats.json``.

    Args:
        logdir: the log directory of a training, or the file.

    Returns:
        Its records: one for each time that something was written, name -> number.

    Raises:
        FileNotFoundError: where there is none.
        ValueError: where the file is no such one.
    """
    path = os.fspath(logdir)
    if os.path.isdir(path):
        path = os.path.join(path, "stats.json")
    if not os.path.exists(path):
        raise FileNotFoundError(say(path, expected="the stats.json of a training",
                                    received="no such file",
                                    do="Name the folder that logger.set_logger_dir() was given."))
    with open(path, encoding="utf-8") as f:
        try:
            stats = json.load(f)
        except ValueError:
            stats = None
    if not isinstance(stats, list) or not all(isinstance(r, dict) for r in stats):
        raise ValueError(say(path, expected="a JSON list of records, as JSONWriter writes it",
                             received="something else", do="Name another file."))
    return stats


def draw_history(stats: Stats | str | os.PathLike[str],
                 names: str | Iterable[str] | None = None, x: str = "epoch_num") -> Picture:
    """Draw training curves; names that differ in ``train``/``val``/... only share a plot.

    Args:
        stats: a log directory, or what :func:`load_stats` returned.
        names: which numbers: names, or a regular expression to be found in them. By default all
            that are not about the input queue.
        x: ``"epoch_num"`` or ``"global_step"``.

    Returns:
        The picture; ``save(path)`` writes it, and a notebook shows it.

    Raises:
        ValueError: where nothing is left to draw; it lists the names that there are.
        ImportError: where matplotlib is not installed.

    Example:
        >>> stats = [{"epoch_num": e, "train_error": 1 / e, "val_error": 1.2 / e}
        ...          for e in (1, 2, 3)]
        >>> picture = draw_history(stats)
        >>> len(picture.axes), [line.get_label() for line in picture.axes[0].lines]
        (1, ['train_error', 'val_error'])
    """
    records = _records(stats)
    plots: dict[str, list[str]] = {}
    for name in _chosen(records, names):
        plots.setdefault(_SETS.sub("", name), []).append(name)
    if not plots:
        raise ValueError(say("draw_history", expected=f"names that match {names!r}"
                             if names else "numbers in stats.json", received=_names(records),
                             do="Choose among them."))
    picture = Picture("draw_history", rows=len(plots), height=2.2)
    for axes, (title, group) in zip(picture.axes, plots.items()):
        for name in group:
            points = _points(records, x, name)
            axes.plot([a for a, _ in points], [b for _, b in points], label=name, marker=".",
                      linewidth=1)
        axes.set_ylabel(title)
        if len(group) > 1:
            axes.legend()
        axes.grid(alpha=0.3)
    picture.axes[-1].set_xlabel(x.replace("_num", "").replace("_", " "))
    return picture


def draw_queue_history(stats: Stats | str | os.PathLike[str]) -> Picture:
    """Draw how full the input queue was in each epoch, and who waited; the title is the verdict.

    Args:
        stats: a log directory, or what :func:`load_stats` returned.

    Returns:
        The picture; ``save(path)`` writes it, and a notebook shows it.

    Raises:
        ValueError: where the training had no queue.
        ImportError: where matplotlib is not installed.
    """
    records = _records(stats)
    inputs = [m["input"] for n in _names(records) if (m := _QUEUE.match(n))]
    if not inputs:
        raise ValueError(say("draw_queue_history", expected="numbers such as QueueInput/queue_size",
                             received=_names(records), do="Train with QueueInput."))
    source = inputs[0]
    picture = Picture("draw_queue_history", rows=2, height=2.2)
    size, waits = picture.axes
    points = _points(records, "epoch_num", f"{source}/queue_size")
    size.plot([a for a, _ in points], [b for _, b in points], marker=".", linewidth=1)
    size.set_ylabel("datapoints in the queue")
    size.set_ylim(bottom=0)
    shares = {}
    for who, label in (("model_waited", "the model waited for data"),
                       ("data_waited", "the dataflow waited for the model")):
        points = _points(records, "epoch_num", f"{source}/{who}")
        waits.plot([a for a, _ in points], [b for _, b in points], marker=".", linewidth=1,
                   label=label)
        shares[who] = sum(b for _, b in points) / max(len(points), 1)
    waits.set_ylabel("share of the time")
    waits.set_ylim(0, 1)
    waits.set_xlabel("epoch")
    waits.legend()
    picture.title(source, bottleneck(**shares))
    return picture


def _records(stats: Stats | str | os.PathLike[str]) -> Stats:
    return load_stats(stats) if isinstance(stats, (str, os.PathLike)) else stats


def _names(records: Stats) -> list[str]:
    return list(dict.fromkeys(k for r in records for k in r if k not in _AXES))


def _chosen(records: Stats, names: str | Iterable[str] | None) -> list[str]:
    there = _names(records)
    if names is None:
        return [n for n in there if not _QUEUE.match(n)]
    if isinstance(names, str):
        return [n for n in there if re.search(names, n)]
    wanted = list(names)
    return [n for n in wanted if n in there]


def _points(records: Stats, x: str, name: str) -> list[tuple[float, float]]:
    return [(r[x], r[name]) for r in records if x in r and name in r]
