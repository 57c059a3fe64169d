# SPDX-License-Identifier: Apache-2.0
"""A producer's error finds its way through a text."""

from __future__ import annotations

import gc
import traceback
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from tfqueue_compat.engine.errors import Failure, SignatureMismatch, failure_in


class Odd(Exception):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def __str__(self) -> str:
        if self.text == "raises":
            raise ValueError("no text")
        return self.text


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as e:
        return e


TEXTS = ["plain", "", "zero \0 byte", "surrogate \udcff", "[input error 1]", "ä\n" * 3,
         "x" * 10 ** 6, "raises"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda t: repr(t[:20]))
def test_an_error_is_found_in_what_tensorflow_makes_of_its_text(text: str) -> None:
    error = raised(Odd(text))
    failure = Failure(error)
    seen = failure.text()
    seen.encode()  # is UTF-8
    assert failure_in(f"UNKNOWN: {{node}} ChunkError: {seen}".split("\0")[0]) is error


@pytest.mark.parametrize("text", TEXTS, ids=lambda t: repr(t[:20]))
def test_through_tensorflow_itself(eager: Any, text: str) -> None:
    def produce() -> Iterator[Any]:
        yield [1]
        raise Odd(text)

    with pytest.raises(Odd) as e:
        eager(produce)
    assert e.value.text == text
    assert traceback.extract_tb(e.value.__traceback__)[-1].name == "produce"


def test_other_errors_are_left_alone() -> None:
    for text in ("", "OUT_OF_RANGE", "[input error]", "[input error 99999999]"):
        assert failure_in(text) is None


def test_an_error_is_forgotten_with_its_source() -> None:
    class Mine(Exception):
        pass

    failure = Failure(raised(Mine("x")))
    text, gone = failure.text(), weakref.ref(failure)
    del failure
    gc.collect()
    assert gone() is None and failure_in(text) is None


def test_the_traceback_starts_at_the_users_code(eager: Any) -> None:
    def inner() -> None:
        raise KeyError("k")

    def produce() -> Iterator[Any]:
        yield [1]
        inner()

    for _ in range(2):
        with pytest.raises(KeyError) as e:
            eager(produce)
        names = [f.name for f in traceback.extract_tb(e.value.__traceback__)]
        assert names[-2:] == ["produce", "inner"] and names.count("inner") == 1


def test_a_mismatch_is_a_value_error_and_a_type_error() -> None:
    assert issubclass(SignatureMismatch, ValueError) and issubclass(SignatureMismatch, TypeError)
