# SPDX-License-Identifier: Apache-2.0
"""The engine's own errors, and the way a producer's error takes through TensorFlow."""

from __future__ import annotations

import itertools
import os
import re
import weakref
from types import TracebackType

from ..utils.errors import CompatError

__all__ = ["DatasetEnded", "Failure", "SignatureMismatch", "failure_in"]


class SignatureMismatch(CompatError, ValueError, TypeError):
    """A datapoint does not fit the signature of its input."""


class DatasetEnded(CompatError, RuntimeError):
    """The input was closed, or its data ended, where more was asked for."""


_numbers = itertools.count(1)
_failures: weakref.WeakValueDictionary[int, Failure] = weakref.WeakValueDictionary()
_MARK = re.compile(r"\[input error (\d+)\]")


class Failure:
    """The first error of a producer, kept so that it can come out with its own type.

    TensorFlow turns what a Python function raises into a text. The text raised here carries a
    number by which the error itself is found again on the way out (see ``failure_in``).
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.number = next(_numbers)
        self._trace = _from_user(error.__traceback__)
        self._cause = error.__cause__ or (
            None if error.__suppress_context__ else error.__context__)
        _failures[self.number] = self

    def text(self) -> str:
        """What TensorFlow gets to see."""
        try:
            message = str(self.error)
        except Exception:  # a faulty __str__ must not take the error's place
            message = "?"
        # The mark comes first: TensorFlow reads no further than a zero byte, and nothing at all
        # where a text is no UTF-8.
        return (f"[input error {self.number}] {type(self.error).__name__}: "
                + message.encode("utf-8", "backslashreplace").decode())

    def raised(self) -> BaseException:
        """The error, with its traceback and its cause as they were in the producer."""
        self.error.__cause__ = self._cause  # TensorFlow raises errors "from None"
        return self.error.with_traceback(self._trace)


def _from_user(trace: TracebackType | None) -> TracebackType | None:
    """Leave out our own frames in front of the user's; all are kept if there are no others."""
    house = os.path.dirname(__file__) + os.sep
    rest = trace
    while rest is not None and rest.tb_frame.f_code.co_filename.startswith(house):
        rest = rest.tb_next
    return rest or trace


def failure_in(message: str) -> BaseException | None:
    """Return the producer's error that TensorFlow's ``message`` stands for, or None."""
    found = _MARK.search(message)
    failure = _failures.get(int(found.group(1))) if found else None
    return failure.raised() if failure else None
