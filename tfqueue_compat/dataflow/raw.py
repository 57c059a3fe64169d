# SPDX-License-Identifier: Apache-2.0
"""DataFlows made from what is at hand: a list, a generator, a queue, another library's object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..utils.errors import say
from .base import DataFlow, RNGDataFlow, known_length
from .protocol import ensure_reset, forget_reset, reset

__all__ = ["DataFromGenerator", "DataFromIterable", "DataFromList", "DataFromQueue", "FakeData"]


class FakeData(RNGDataFlow):
    """Datapoints of given shapes, for tests and for measuring speed.

    Args:
        shapes: the shape of each component, e.g. ``[[28, 28], []]``.
        size: number of datapoints.
        random: draw each datapoint anew; False yields the same arrays again and again.
        dtype: dtype of all components, or a list of one for each.
        domain: ``(low, high)``, values are uniform in ``[low, high)``; or a list of one for each.

    Example:
        >>> image, label = next(iter(FakeData([[28, 28], [1]], dtype=["uint8", "int32"])))
        >>> image.shape, label.dtype
        ((28, 28), dtype('int32'))
    """

    def __init__(self, shapes: Sequence[Sequence[int]], size: int = 1000, random: bool = True,
                 dtype: Any = "float32", domain: Any = (0, 1)) -> None:
        self.shapes = [tuple(s) for s in shapes]
        self._size = int(size)
        self.random = random
        self.dtype = self._each(dtype, "dtype")
        self.domain = self._each(domain, "domain")

    def _each(self, value: Any, name: str) -> list[Any]:
        values = list(value) if isinstance(value, list) else [value] * len(self.shapes)
        if len(values) != len(self.shapes):
            raise ValueError(say("FakeData", expected=f"one {name} for all, or one for each of "
                                 f"{len(self.shapes)} shapes", received=f"{len(values)}",
                                 do=f"Make {name} as long as shapes."))
        return values

    def __len__(self) -> int:
        """Return ``size``."""
        return self._size

    def _draw(self) -> list[np.ndarray]:
        return [np.asarray(self.rng.rand(*shape) * (high - low) + low).astype(dtype)
                for shape, dtype, (low, high) in zip(self.shapes, self.dtype, self.domain)]

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        """Yield ``size`` datapoints."""
        if self.random:
            for _ in range(self._size):
                yield self._draw()
        else:
            components = self._draw()
            for _ in range(self._size):
                yield list(components)


class DataFromQueue(DataFlow):
    """Datapoints from a queue, without end.

    Args:
        queue: an object whose ``get()`` returns a datapoint.
    """

    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def __iter__(self) -> Iterator[Any]:
        """Yield what the queue gives."""
        while True:
            yield self.queue.get()


class DataFromList(RNGDataFlow):
    """The datapoints of a list.

    Args:
        lst: the datapoints.
        shuffle: yield them in another random order at each pass.

    Example:
        >>> list(DataFromList([[1], [2]], shuffle=False))
        [[1], [2]]
    """

    def __init__(self, lst: Sequence[Any], shuffle: bool = True) -> None:
        self.lst = lst
        self.shuffle = shuffle

    def __len__(self) -> int:
        """Return the length of the list."""
        return len(self.lst)

    def __iter__(self) -> Iterator[Any]:
        """Yield each element once."""
        if not self.shuffle:
            yield from self.lst
            return
        order = np.arange(len(self.lst))
        self.rng.shuffle(order)
        for k in order.tolist():
            yield self.lst[k]


class DataFromGenerator(DataFlow):
    """The datapoints of a generator function.

    Args:
        gen: a callable that returns an iterable, called at each pass; or an iterable.
    """

    def __init__(self, gen: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        self._gen = gen
        if not callable(gen) and not hasattr(gen, "__iter__"):
            raise TypeError(say("DataFromGenerator", expected="an iterable, or a function that "
                                "returns one", received=type(gen).__name__,
                                do="Pass the generator function itself."))

    def __iter__(self) -> Iterator[Any]:
        """Start a pass."""
        if not callable(self._gen):
            return iter(self._gen)
        made = self._gen()
        if not hasattr(made, "__iter__"):
            raise TypeError(say("DataFromGenerator", expected="the function to return an iterable",
                                received=type(made).__name__,
                                do="Let it yield datapoints."))
        return iter(made)

    def __len__(self) -> int:
        """Return the length of the iterable, where it has one."""
        return known_length(self._gen, type(self).__name__)


class DataFromIterable(DataFlow):
    """The datapoints of an iterable.

    Args:
        iterable: iterated anew at each pass; where it has a length, so has this.
    """

    def __init__(self, iterable: Iterable[Any]) -> None:
        self._itr = iterable

    def __len__(self) -> int:
        """Return the length of the iterable, where it has one."""
        return known_length(self._itr, type(self).__name__)

    def __iter__(self) -> Iterator[Any]:
        """Start a pass."""
        return iter(self._itr)


class ForeignDataFlow(DataFlow):
    """Another library's DataFlow, or any iterable, as one of ours.

    Args:
        ds: an object with ``__iter__`` or ``get_data``, perhaps with ``reset_state``, ``__len__``
            or ``size``; real tensorpack's, for instance.
    """

    def __init__(self, ds: Any) -> None:
        self.ds = ds
        forget_reset(self)

    def reset_state(self) -> None:
        """Reset the other object, if it can be."""
        reset(self.ds)

    def __len__(self) -> int:
        """Return its length."""
        return known_length(self.ds, type(self.ds).__name__)

    def __iter__(self) -> Iterator[Any]:
        """Start a pass of it."""
        ensure_reset(self.ds)
        return iter(self.ds if hasattr(self.ds, "__iter__") else self.ds.get_data())
