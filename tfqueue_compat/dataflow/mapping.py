# SPDX-License-Identifier: Apache-2.0
"""A function applied to each datapoint, or to some of its components."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..utils.errors import say
from .base import ProxyDataFlow

__all__ = ["MapData", "MapDataComponent", "SelectComponent"]

Index = int | str


class MapData(ProxyDataFlow):
    """Apply a function to each datapoint; None discards it.

    Args:
        ds: the datapoints.
        func: ``datapoint -> datapoint or None``. It should not change its argument in place,
            unless that is known to be safe.

    Where it discards datapoints, the length is too large.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> list(MapData(DataFromList([[1], [2]], shuffle=False), lambda dp: [dp[0] * 10]))
        [[10], [20]]
    """

    def __init__(self, ds: Any, func: Callable[[Any], Any]) -> None:
        super().__init__(ds)
        if not callable(func):
            raise TypeError(say(type(self).__name__, expected="func to be callable",
                                received=type(func).__name__,
                                do="Pass a function of a datapoint."))
        self.func = func

    def __iter__(self) -> Iterator[Any]:
        """Yield ``func`` of each datapoint."""
        func = self.func
        out: list[Any] = []  # popped from, so that this frame keeps nothing it has yielded
        for dp in self.ds:
            dp = func(dp)
            if dp is not None:
                out.append(dp)
                del dp
                yield out.pop()


def _copied(dp: Any) -> Any:
    """Return a datapoint of the same components that can be changed."""
    return dict(dp) if isinstance(dp, Mapping) else list(dp)


class _OnComponents:
    """``datapoint -> datapoint`` out of a function of a component. Can be pickled."""

    def __init__(self, func: Callable[[Any], Any], index: Index | Sequence[Index]) -> None:
        self.func = func
        self.indices = tuple(index) if isinstance(index, (list, tuple)) else (index,)

    def __call__(self, dp: Any) -> Any:
        dp = _copied(dp)
        for k in self.indices:
            value = self.func(self._component(dp, k))
            if value is None:
                return None
            dp[k] = value
            del value
        return dp

    def _component(self, dp: Any, k: Any) -> Any:
        try:
            return dp[k]
        except (IndexError, KeyError, TypeError) as e:
            has = list(dp) if isinstance(dp, Mapping) else f"{len(dp)} components"
            raise type(e)(say("MapDataComponent", expected=f"a component {k!r}",
                              received=f"a datapoint with {has}", do="Pass another index.")) from e


class MapDataComponent(MapData):
    """Apply a function to a component of each datapoint; None discards the datapoint.

    Datapoints that are tuples come out as lists; ``ds``'s own datapoints are left as they are.

    Args:
        ds: datapoints are lists, tuples or dicts.
        func: ``component -> component or None``.
        index: index or key of the component, or a list of them: each goes through ``func``.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> list(MapDataComponent(DataFromList([[1, 2]]), lambda x: x * 10, 1))
        [[1, 20]]
    """

    def __init__(self, ds: Any, func: Callable[[Any], Any],
                 index: Index | Sequence[Index] = 0) -> None:
        if not callable(func):
            raise TypeError(say(type(self).__name__, expected="func to be callable",
                                received=type(func).__name__, do="Pass a function."))
        super().__init__(ds, _OnComponents(func, index))
        self.index = index


class _Select:
    def __init__(self, idxs: Sequence[Index]) -> None:
        self.idxs = list(idxs)

    def __call__(self, dp: Any) -> list[Any]:
        return [dp[k] for k in self.idxs]


def SelectComponent(ds: Any, idxs: Sequence[Index]) -> MapData:
    """Return a DataFlow of some components, in a given order.

    Args:
        ds: datapoints are lists, tuples or dicts.
        idxs: indices or keys; each datapoint becomes the list of these components.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> list(SelectComponent(DataFromList([[1, 2, 3]]), [2, 0]))
        [[3, 1]]
    """
    return MapData(ds, _Select(idxs))
