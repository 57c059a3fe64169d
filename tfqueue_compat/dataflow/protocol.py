# SPDX-License-Identifier: Apache-2.0
"""How the old and the new protocol meet, and how a forgotten ``reset_state`` is made up for.

Everything here happens when a class is made and when an iterator is: never per datapoint.
"""

from __future__ import annotations

import functools
import os
from abc import ABCMeta, update_abstractmethods
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

__all__ = ["DataFlowMeta", "NoLength", "Observer", "ensure_reset", "forget_reset", "length",
           "observe", "reset"]

Observer = Callable[[Any, Iterator[Any]], Iterator[Any]]

_FLAG = "_reset_in_process"  # pid of the process in which the object was reset
_SEEN = "_answers_in_both_protocols"
_observer: Observer | None = None


class NoLength(NotImplementedError, TypeError):
    """A DataFlow has no length.

    A NotImplementedError, as tensorpack raises; a TypeError too, so that ``list(df)`` works.
    """


@contextmanager
def observe(observer: Observer) -> Iterator[None]:
    """Hand each iterator that a DataFlow starts within the block through ``observer``.

    Args:
        observer: ``(dataflow, iterator) -> iterator``.
    """
    global _observer
    before, _observer = _observer, observer
    try:
        yield
    finally:
        _observer = before


def _starting(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an ``__iter__`` or ``get_data``: reset first, if nobody did."""
    @functools.wraps(func)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.__dict__.get(_FLAG) != os.getpid():
            ensure_reset(self)
        iterator = func(self, *args, **kwargs)
        return iterator if _observer is None else _observer(self, iterator)
    setattr(start, _SEEN, True)
    return start


def _resetting(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a ``reset_state``: remember that it ran, from its start on, unless it failed."""
    @functools.wraps(func)
    def reset_state(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.get(_FLAG)
        self.__dict__[_FLAG] = os.getpid()
        try:
            return func(self, *args, **kwargs)
        except BaseException:
            self.__dict__[_FLAG] = before
            raise
    setattr(reset_state, _SEEN, True)
    return reset_state


def _length_of_size(cls: type) -> Callable[[Any], int]:
    def __len__(self: Any) -> int:
        try:
            return int(cls.size(self))  # type: ignore[attr-defined]
        except NotImplementedError as e:
            raise NoLength(*e.args) from e
    return __len__


def _calling(cls: type, name: str, as_name: str) -> Callable[..., Any]:
    """Return a method ``as_name`` that calls ``cls.name``, whatever subclasses do to ``name``."""
    def call(self: Any) -> Any:
        return getattr(cls, name)(self)
    call.__name__, call.__qualname__ = as_name, f"{cls.__qualname__}.{as_name}"
    call.__doc__ = f"Return what ``{name}`` returns."
    return call


def _owner(cls: type, name: str) -> int:
    return next((i for i, c in enumerate(cls.__mro__) if name in vars(c)), len(cls.__mro__))


def _wrap_own(cls: type, name: str, wrap: Callable[..., Any]) -> None:
    func = vars(cls).get(name)
    if isinstance(func, FunctionType) and not hasattr(func, _SEEN):
        setattr(cls, name, wrap(func))


def _adopt(cls: type, name: str) -> None:
    """Bring a method of a mixin that is no DataFlow into ``cls``, so that it can be wrapped."""
    def call(self: Any) -> Any:
        return getattr(super(cls, self), name)()
    call.__name__, call.__qualname__ = name, f"{cls.__qualname__}.{name}"
    setattr(cls, name, call)


def _pair(cls: type, new: str, old: str) -> None:
    """Let the later written of two methods serve the other's name too.

    Every class that has one of the pair gets both, so ``super().get_data()`` finds the parent's
    own iteration and never comes back to the child.
    """
    at_new, at_old = _owner(cls, new), _owner(cls, old)
    if at_new == at_old:
        return
    written, other = (new, old) if at_new < at_old else (old, new)
    if min(at_new, at_old) > 0:
        _adopt(cls, written)
    setattr(cls, other, _length_of_size(cls) if other == "__len__"
            else _calling(cls, written, other))


class DataFlowMeta(ABCMeta):
    """The class of DataFlow classes: sees to it that both protocols answer."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any],
                **kwargs: Any) -> DataFlowMeta:
        """Make the class, complete its protocol, and let it reset itself once."""
        cls = super().__new__(mcs, name, bases, namespace, **kwargs)
        _wrap_own(cls, "reset_state", _resetting)
        _pair(cls, "__len__", "size")
        written = [n for n in ("__iter__", "get_data") if n in vars(cls)]
        _pair(cls, "__iter__", "get_data")
        for method in written or ["__iter__", "get_data"]:
            _wrap_own(cls, method, _starting)
        update_abstractmethods(cls)  # type: ignore[arg-type]
        return cls


def _is_ours(ds: Any) -> bool:
    return isinstance(type(ds), DataFlowMeta)


def forget_reset(ds: Any) -> None:
    """Let a DataFlow count as not reset."""
    ds.__dict__.pop(_FLAG, None)


def _mark(ds: Any) -> None:
    try:
        setattr(ds, _FLAG, os.getpid())
    except (AttributeError, TypeError):  # __slots__: it will be reset at each start
        pass


def _done(ds: Any) -> bool:
    # real tensorpack's ZMQ runners refuse a second reset and remember the first under this name
    return getattr(ds, _FLAG, None) == os.getpid() or getattr(ds, "_reset_done", False) is True


def reset(ds: Any) -> None:
    """Call ``ds.reset_state()`` if it has one, and remember that.

    Args:
        ds: a DataFlow, or any other object.
    """
    method = getattr(ds, "reset_state", None)
    if not callable(method):
        return
    if _is_ours(ds):
        method()
    elif getattr(ds, "_reset_done", False) is not True:
        method()
        _mark(ds)


def ensure_reset(ds: Any) -> None:
    """Call ``ds.reset_state()`` if it has one that was not called in this process yet.

    Args:
        ds: a DataFlow, or any other object; where it has no ``reset_state``, nothing happens.
    """
    if _done(ds) or not callable(getattr(ds, "reset_state", None)):
        return
    ds.reset_state()
    _mark(ds)


def length(ds: Any) -> int | None:
    """Return the number of datapoints in a pass of ``ds``, or None where it has no length.

    Args:
        ds: a DataFlow, or any iterable; the old ``size()`` is asked where there is no ``len``.
    """
    try:
        if hasattr(type(ds), "__len__"):
            return len(ds)
        size = getattr(ds, "size", None)
        return int(size()) if callable(size) else None
    except (NotImplementedError, TypeError, OverflowError):
        return None
