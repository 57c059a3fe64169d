# SPDX-License-Identifier: Apache-2.0
"""Several dataflows into one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..utils.errors import say
from .base import DataFlow, RNGDataFlow, as_dataflow, known_length
from .protocol import forget_reset, length, reset

__all__ = ["ConcatData", "JoinData", "RandomChooseData", "RandomMixData"]


class _Several(DataFlow):
    """A DataFlow over a list of others.

    Args:
        df_lists: the others, at least one.
    """

    def __init__(self, df_lists: Sequence[Any]) -> None:
        name = type(self).__name__
        if not isinstance(df_lists, Sequence) or not df_lists:
            raise TypeError(say(name, expected="a list of dataflows",
                                received=repr(df_lists) if isinstance(df_lists, Sequence)
                                else type(df_lists).__name__, do="Pass [ds1, ds2]."))
        once = {id(ds): as_dataflow(ds, name) for ds in df_lists}  # one that is listed twice
        self.df_lists = [once[id(ds)] for ds in df_lists]
        forget_reset(self)

    def reset_state(self) -> None:
        """Reset each of the others once, even one that is listed twice."""
        for ds in {id(ds): ds for ds in self.__dict__.get("df_lists", ())}.values():
            reset(ds)
        super().reset_state()

    def _lengths(self) -> list[int]:
        return [known_length(ds, type(self).__name__) for ds in self.df_lists]


class ConcatData(_Several):
    """One DataFlow after the other.

    Args:
        df_lists: the dataflows, in order.
    """

    def __len__(self) -> int:
        """Return the sum of their lengths."""
        return sum(self._lengths())

    def __iter__(self) -> Iterator[Any]:
        """Yield all datapoints of each in turn."""
        for ds in self.df_lists:
            yield from ds


class RandomMixData(_Several, RNGDataFlow):
    """Mix dataflows at random so that all end together: each is drawn as often as it is long.

    Args:
        df_lists: the dataflows; each has a length.
    """

    def __init__(self, df_lists: Sequence[Any]) -> None:
        super().__init__(df_lists)
        self.sizes = self._lengths()

    def __len__(self) -> int:
        """Return the sum of their lengths."""
        return sum(self.sizes)

    def __iter__(self) -> Iterator[Any]:
        """Yield every datapoint of each, mixed."""
        ends = np.cumsum(self.sizes)
        order = np.arange(ends[-1])
        self.rng.shuffle(order)
        iterators = [iter(ds) for ds in self.df_lists]
        for k in np.searchsorted(ends, order, "right").tolist():
            try:
                out = [next(iterators[k])]
            except StopIteration:
                raise RuntimeError(say(
                    "RandomMixData", expected=f"{self.sizes[k]} datapoints, its length, of "
                    f"{type(self.df_lists[k]).__name__}", received="fewer",
                    do="Correct its __len__.")) from None
            yield out.pop()


class RandomChooseData(_Several, RNGDataFlow):
    """Draw each datapoint from a DataFlow chosen at random, until the chosen one is at its end.

    Args:
        df_lists: the dataflows, or ``(dataflow, probability)`` pairs that sum to 1.
    """

    def __init__(self, df_lists: Sequence[Any]) -> None:
        pairs = bool(df_lists) and all(isinstance(d, (tuple, list)) and len(d) == 2
                                       for d in df_lists)
        super().__init__([d[0] for d in df_lists] if pairs else df_lists)
        n = len(self.df_lists)
        self.probs = [float(d[1]) for d in df_lists] if pairs else [1 / n] * n
        if not np.isclose(sum(self.probs), 1):
            raise ValueError(say("RandomChooseData", expected="probabilities that sum to 1",
                                 received=f"{self.probs}, the sum {sum(self.probs):g}",
                                 do="Divide each by the sum."))

    def __iter__(self) -> Iterator[Any]:
        """Yield datapoints of dataflows chosen at random."""
        iterators = [iter(ds) for ds in self.df_lists]
        while True:
            k = self.rng.choice(len(iterators), p=self.probs)
            try:
                out = [next(iterators[k])]
            except StopIteration:
                return
            yield out.pop()


class JoinData(_Several):
    """Put the components of several datapoints, one of each DataFlow, into one datapoint.

    It ends with the shortest. One DataFlow may be listed twice: it is iterated twice then.

    Args:
        df_lists: the dataflows; all yield lists or tuples, or all yield dicts.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> list(JoinData([DataFromList([[1, 2]]), DataFromList([[3]])]))
        [[1, 2, 3]]
    """

    def __len__(self) -> int:
        """Return the smallest of their lengths."""
        known = [length(ds) for ds in self.df_lists]
        if None in known:
            return self._lengths()[0]  # raises, and names who has none
        return min(n for n in known if n is not None)

    def __iter__(self) -> Iterator[Any]:
        """Yield joined datapoints: lists, or dicts."""
        iterators = [iter(ds) for ds in self.df_lists]
        while True:
            parts = []
            for iterator in iterators:
                try:
                    parts.append(next(iterator))
                except StopIteration:
                    return
            joined = [_join(parts)]
            parts.clear()
            yield joined.pop()


def _join(parts: list[Any]) -> Any:
    if all(isinstance(p, Mapping) for p in parts):
        return {k: v for p in parts for k, v in p.items()}
    if all(isinstance(p, (list, tuple)) for p in parts):
        return [c for p in parts for c in p]
    raise TypeError(say("JoinData", expected="lists or tuples from all dataflows, or dicts from "
                        "all", received=", ".join(type(p).__name__ for p in parts),
                        do="Convert one kind with MapData."))
