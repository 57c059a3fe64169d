# SPDX-License-Identifier: Apache-2.0
"""What a DataFlow is, in tensorpack's new protocol and in its old one.

A DataFlow is an iterable of datapoints. A class writes ``__iter__`` and, where it knows it,
``__len__``; or, as code before 0.10 does, ``get_data`` and ``size``. Whichever it writes, all four
answer. ``reset_state`` is called for it once in each process if nobody did.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..utils.errors import say
from ..utils.utils import get_rng
from .protocol import (DataFlowMeta, NoLength, Observer, ensure_reset, forget_reset, length,
                       observe, reset)

__all__ = ["DataFlow", "DataFlowMeta", "DataFlowReentrantGuard", "DataFlowTerminated", "NoLength",
           "Observer", "ProxyDataFlow", "RNGDataFlow", "as_dataflow", "ensure_reset", "length",
           "observe", "reset"]


class DataFlowTerminated(BaseException):
    """Raised by a DataFlow that cannot go on for good, e.g. because a worker is gone."""


class DataFlowReentrantGuard:
    """A ``with`` block that refuses to be entered while it is entered.

    For a DataFlow whose state allows one iterator at a time.

    Example:
        >>> guard = DataFlowReentrantGuard()
        >>> with guard:
        ...     pass
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(False):
            raise RuntimeError(say("this DataFlow", expected="one iterator at a time",
                                   received="a second one while the first is still in use",
                                   do="Finish, close() or del the first, or make a second one."))

    def __exit__(self, *exc_info: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return DataFlowReentrantGuard, ()  # a copy in another process starts open


class DataFlow(metaclass=DataFlowMeta):
    """Base of everything that produces datapoints: lists, tuples or dicts of components.

    A subclass writes ``__iter__``, and ``__len__`` where it knows it (or the old ``get_data`` and
    ``size``). What must differ between processes (random numbers, open files) belongs into
    ``reset_state``, which runs once in each process before the first iteration and may run again.

    Example:
        >>> class Squares(DataFlow):
        ...     def __iter__(self):
        ...         for i in range(3):
        ...             yield [i * i]
        ...     def __len__(self):
        ...         return 3
        >>> list(Squares()), Squares().size()
        ([[0], [1], [4]], 3)
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Start a pass, and return its iterator of datapoints."""
        raise NotImplementedError(say(type(self).__name__, expected="__iter__ or get_data",
                                      received="neither", do="Define one of them."))

    def __len__(self) -> int:
        """Return the number of datapoints in a pass.

        Raises:
            NoLength: (a NotImplementedError and a TypeError) where it is unknown.
        """
        raise NoLength(say(type(self).__name__, expected="__len__ or size to be defined",
                           received="neither", do="Define one, or do without the length."))

    def get_data(self) -> Iterator[Any]:
        """Return ``iter(self)``: the name it had before tensorpack 0.10."""
        return iter(self)

    def size(self) -> int:
        """Return ``len(self)``: the name it had before tensorpack 0.10."""
        return len(self)

    def reset_state(self) -> None:
        """Make ready for iteration in this process. Called for you where you forget it."""


class RNGDataFlow(DataFlow):
    """A DataFlow that draws random numbers from ``self.rng``.

    ``rng`` is a ``numpy.random.RandomState``, made anew by ``reset_state`` (other numbers in each
    process, see :func:`~tfqueue_compat.utils.get_rng`), or when first asked for.
    """

    @cached_property
    def rng(self) -> np.random.RandomState:
        """The random numbers of this object in this process."""
        return get_rng(self)

    def reset_state(self) -> None:
        """Start ``rng`` anew."""
        self.rng = get_rng(self)
        super().reset_state()


class ProxyDataFlow(DataFlow):
    """A DataFlow around another: what it doesn't override goes to ``self.ds``.

    Args:
        ds: a DataFlow, or anything :func:`as_dataflow` takes.
    """

    def __init__(self, ds: Any) -> None:
        self.ds = _source(ds, type(self).__name__)
        forget_reset(self)  # a reset_state() before this line could not reach ds

    def reset_state(self) -> None:
        """Reset ``self.ds``."""
        if "ds" in self.__dict__:
            reset(self.ds)
        super().reset_state()

    def __len__(self) -> int:
        """Return the length of ``self.ds``."""
        return known_length(self.ds, type(self).__name__)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over ``self.ds``."""
        return iter(self.ds)


def known_length(ds: Any, asked_by: str) -> int:
    """Return the length of ``ds``, or raise :class:`NoLength` naming who has none."""
    n = length(ds)
    if n is None:
        raise NoLength(say(asked_by, expected=f"{type(ds).__name__} to have a length",
                           received="none", do="Define __len__ there, or do without."))
    return n


def _source(ds: Any, asked_by: str) -> Any:
    """Return ``ds`` itself where ``iter()`` serves it, else a DataFlow around it."""
    if isinstance(ds, DataFlow):
        return ds
    plain = isinstance(ds, (type, str, bytes, dict)) or not hasattr(ds, "__iter__")
    return as_dataflow(ds, asked_by) if plain else ds


def as_dataflow(obj: Any, asked_by: str = "as_dataflow") -> DataFlow:
    """Return a DataFlow that yields what ``obj`` yields.

    Args:
        obj: a DataFlow (returned as it is); an object that looks like one (real tensorpack's, or
            any with ``__iter__`` or ``get_data``); a function that returns an iterable, e.g. a
            generator function; an iterable; an iterator (good for one pass).
        asked_by: whose name the error carries.

    Raises:
        TypeError: for anything else.

    Example:
        >>> def numbers():
        ...     yield [1]
        ...     yield [2]
        >>> list(as_dataflow(numbers))
        [[1], [2]]
    """
    from .raw import DataFromGenerator, ForeignDataFlow  # raw imports this module
    if isinstance(obj, DataFlow):
        return obj
    wrong = isinstance(obj, (type, str, bytes, dict))
    if not wrong and (hasattr(obj, "__iter__") or callable(getattr(obj, "get_data", None))):
        return ForeignDataFlow(obj)
    if not wrong and callable(obj):
        return DataFromGenerator(obj)
    is_class = isinstance(obj, type)
    raise TypeError(say(
        asked_by, expected="a DataFlow, an iterable of datapoints or a generator function",
        received=f"the class {obj.__name__}" if is_class else type(obj).__name__,
        do=f"Pass an object: {obj.__name__}(...)." if is_class
        else "Wrap your data, e.g. DataFromList(datapoints)."))
