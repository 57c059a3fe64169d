# SPDX-License-Identifier: Apache-2.0
"""Compares a graph's variables with a checkpoint's: what fits, is missing, extra, misshaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tabulate
import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say
from .varmanip import get_savename_from_varname, is_training_name

__all__ = ["CheckpointReaderAdapter", "Match", "MismatchLogger"]

v1 = tf.compat.v1
_BOOKKEEPING = "_CHECKPOINTABLE_OBJECT_GRAPH"  # of tf.train.Checkpoint; no variable


class CheckpointReaderAdapter:
    """Reads a checkpoint whose names may end in ``:0`` or not.

    Args:
        reader: what ``tf.train.load_checkpoint`` returns.
    """

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        shapes = dict(reader.get_variable_to_shape_map())
        shapes.pop(_BOOKKEEPING, None)
        self._shapes = {get_savename_from_varname(name): shape for name, shape in shapes.items()}
        self._names = {get_savename_from_varname(name): name for name in shapes}

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Return name (without ``:0``) -> shape."""
        return dict(self._shapes)

    def get_tensor(self, name: str) -> Any:
        """Return an array.

        Raises:
            KeyError: where there is none of that name; near names are suggested.
        """
        return self._reader.get_tensor(self.get_real_name(name))

    def has_tensor(self, name: str) -> bool:
        """Return whether there is an array of that name."""
        return get_savename_from_varname(name) in self._names

    def get_real_name(self, name: str) -> str:
        """Return the name as the file has it."""
        short = get_savename_from_varname(name)
        if short not in self._names:
            raise KeyError(say("checkpoint", expected="the name of an array in it",
                               received=repr(name), do=f"Rename it.{near(short, self._names)}"))
        return self._names[short]

    def dtype_of(self, name: str) -> Any:
        """Return the array's dtype, or None where the reader can't tell."""
        types: dict[str, Any] = getattr(self._reader, "get_variable_to_dtype_map", dict)()
        return types.get(self.get_real_name(name))


class MismatchLogger:
    """Gathers names that are in one place and not in another, and logs them together.

    Args:
        exists: where they are, e.g. ``"graph"``.
        nonexists: where they are not, e.g. ``"checkpoint"``.
    """

    def __init__(self, exists: str, nonexists: str) -> None:
        self._exists = exists
        self._nonexists = nonexists
        self._names: list[str] = []

    def add(self, name: str) -> None:
        """Add a name."""
        self._names.append(get_savename_from_varname(name))

    def log(self) -> None:
        """Log all of them, if there are any."""
        if self._names:
            logger.warning("The following variables are in the %s, but not found in the %s: %s",
                           self._exists, self._nonexists, ", ".join(self._names))


@dataclass
class Match:
    """Variables of the default graph beside the arrays of a checkpoint.

    ``pairs`` and ``misshaped`` hold (name in the checkpoint, variable).
    """

    reader: CheckpointReaderAdapter
    path: str
    pairs: list[tuple[str, Any]] = field(default_factory=list)
    misshaped: list[tuple[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)

    @classmethod
    def of_graph(cls, reader: Any, path: str, prefix: str | None,
                 ignore: Sequence[str]) -> Match:
        """Compare the global variables of the default graph with a checkpoint."""
        adapter = CheckpointReaderAdapter(reader)
        shapes = adapter.get_variable_to_shape_map()
        match = cls(adapter, path)
        for var in v1.global_variables():
            name = get_savename_from_varname(var.name, varname_prefix=prefix)
            if name in ignore and name in shapes:
                logger.info("Variable %s is not loaded from the checkpoint: it is ignored.", name)
            elif name not in shapes:
                if not is_training_name(var.name):
                    match.missing.append(var.op.name)
            elif match._fits(name, var, shapes[name]):
                match.pairs.append((name, var))
            else:
                match.misshaped.append((name, var))
        used = {name for name, _ in [*match.pairs, *match.misshaped]}
        match.extra = sorted(n for n in shapes if n not in used and n not in ignore
                             and not is_training_name(n))
        return match

    def _fits(self, name: str, var: Any, shape: Sequence[int]) -> bool:
        dtype = self.reader.dtype_of(name)
        return (var.shape.is_compatible_with(shape)
                and (dtype is None or tf.as_dtype(dtype) == var.dtype.base_dtype))

    def by_saved_name(self) -> list[dict[str, Any]]:
        """Return dicts for savers: several, where one array serves several variables."""
        rounds: list[dict[str, Any]] = []
        for name, var in self.pairs:
            real = self.reader.get_real_name(name)
            for names in rounds:
                if real not in names:
                    names[real] = var
                    break
            else:
                rounds.append({real: var})
        return rounds

    def log(self) -> None:
        """Log what is missing and what is extra."""
        missing = MismatchLogger("graph", "checkpoint")
        for name in self.missing:
            missing.add(name)
        missing.log()
        extra = MismatchLogger("checkpoint", "graph")
        for name in self.extra:
            extra.add(name)
        extra.log()

    def error_text(self) -> str:
        """Return a table of everything that does not match."""
        shapes = self.reader.get_variable_to_shape_map()
        rows: dict[str, tuple[Any, Any]] = {}
        for name, var in self.misshaped:
            dtype = self.reader.dtype_of(name)
            there = [*shapes[name], tf.as_dtype(dtype).name if dtype is not None else ""]
            rows[var.op.name] = ([*var.shape.as_list(), var.dtype.base_dtype.name], there)
        rows |= {name: ("in the graph", "missing") for name in self.missing}
        rows |= {name: ("missing", list(shapes[name])) for name in self.extra}
        return self.table_of(f"checkpoint {self.path!r}", rows)

    @staticmethod
    def table_of(what: str, rows: Mapping[str, tuple[Any, Any]]) -> str:
        """Return the text of an error with a table: variable, in the graph, in the file."""
        table = tabulate.tabulate([[n, str(a), str(b)] for n, (a, b) in rows.items()],
                                  headers=["variable", "graph", "file"])
        return say(what, expected="values that fit the graph's variables",
                   received=f"these differences:\n{table}\n",
                   do="Load the model's own file, pass the names in ignore=, or load with "
                      "ignore_mismatch=True (SmartInit) to skip what does not fit.")
