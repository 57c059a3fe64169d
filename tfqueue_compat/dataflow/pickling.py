# SPDX-License-Identifier: Apache-2.0
"""Dataflows on their way to a worker, and exceptions on their way back."""

from __future__ import annotations

import pickle
import traceback
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..utils.errors import say

__all__ = ["Payload", "RemoteTraceback", "pack_error", "unpack_error"]


class RemoteTraceback(Exception):
    """The traceback of an exception in the process where it was raised: its cause, here."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'in a worker process\\n"""\\n{self.text}"""'


class Payload:
    """An object handed to a worker: as it is by fork, pickled by the other start methods.

    Args:
        obj: the object.
        owner: the name that an error carries.
    """

    def __init__(self, obj: Any, owner: str) -> None:
        self._obj, self._owner = obj, owner
        self._data: bytes | None = None

    def __getstate__(self) -> tuple[bytes, str]:
        try:
            return bytes(ForkingPickler.dumps(self._obj)), self._owner
        except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as e:
            raise pickle.PicklingError(say(
                self._owner, expected="a dataflow and functions that can be pickled, as this "
                "process starts others by 'spawn' or 'forkserver'", received=str(e),
                do="Replace lambdas and local functions by functions of a module, or call "
                "multiprocessing.set_start_method('fork').")) from e

    def __setstate__(self, state: tuple[bytes, str]) -> None:
        self._data, self._owner = state
        self._obj = None

    def load(self) -> Any:
        """Return the object."""
        return self._obj if self._data is None else pickle.loads(self._data)


def pack_error(e: BaseException) -> bytes:
    """Return an exception, and its traceback as text, as bytes that unpickle anywhere."""
    text = "".join(traceback.format_exception(type(e), e, e.__traceback__))
    for form in (_as_it_is, _without_init, _stand_in):
        try:
            data = pickle.dumps((*form(e), text), protocol=5)
            if type(_make(pickle.loads(data))) is type(e) or form is _stand_in:
                return data
        except Exception:  # whatever a user's __reduce__ or __init__ does: try the next form
            continue
    return pickle.dumps(("stand-in", "Exception", Exception, text, {}, text), protocol=5)


def unpack_error(data: bytes) -> BaseException:
    """Return the exception, with the worker's traceback as its cause."""
    try:
        parts = pickle.loads(data)
        e = _make(parts)
        text = parts[-1]
    except Exception as broken:  # e.g. a module that only the worker could import
        e, text = RuntimeError(f"an error in a worker that cannot be shown here: {broken}"), ""
    e.__cause__ = RemoteTraceback(text)
    return e


def _as_it_is(e: BaseException) -> tuple[Any, ...]:
    _refuse_exits(e)
    return "as it is", pickle.dumps(e, protocol=5)


def _without_init(e: BaseException) -> tuple[Any, ...]:
    """For constructors that don't take ``args`` back."""
    _refuse_exits(e)
    return "without init", type(e), e.args, {k: v for k, v in vars(e).items() if _pickles(v)}


def _stand_in(e: BaseException) -> tuple[Any, ...]:
    """For classes that can't be found by name: one of the same name and nearest known base."""
    base = next((c for c in type(e).__mro__[1:] if c.__module__ == "builtins"
                 and issubclass(c, Exception)), RuntimeError)
    attributes = {k: v for k, v in vars(e).items() if _pickles(v)}
    return "stand-in", type(e).__name__, base, str(e), attributes


def _refuse_exits(e: BaseException) -> None:
    if not isinstance(e, Exception):  # SystemExit and its like would end the whole program
        raise TypeError


def _pickles(x: Any) -> bool:
    try:
        pickle.loads(pickle.dumps(x, protocol=5))
        return True
    except Exception:
        return False


class _StandIn:
    """What a stand-in for an exception class adds to its base."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # type: ignore[attr-defined]


def _make(parts: tuple[Any, ...]) -> BaseException:
    how, *rest = parts[:-1]
    if how == "as it is":
        made = pickle.loads(rest[0])
        if not isinstance(made, BaseException):
            raise TypeError
        return made
    cls: Any
    if how == "without init":
        cls, args, attributes = rest
        e = cls.__new__(cls, *args)
        e.args = args
    else:
        name, base, message, attributes = rest
        cls = type(name, (_StandIn, base), {"__module__": "worker"})
        e = cls.__new__(cls, message)
        e.args = (message,)
    e.__dict__.update(attributes)
    return e
