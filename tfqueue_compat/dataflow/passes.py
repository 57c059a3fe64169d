# SPDX-License-Identifier: Apache-2.0
"""What a dataflow's passes must be like where it is iterated again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ..utils.errors import say
from .base import ProxyDataFlow, length

__all__ = ["EmptyPasses", "WholePasses"]

_MOST = 1000     # in a row
_LONGEST = 60.0  # seconds without a datapoint


class EmptyPasses:
    """Counts a dataflow's passes without a datapoint.

    Some of them are right: ``BatchDataByShape`` keeps datapoints for later passes. Without end,
    they are a mistake that would look like a hang.
    """

    def __init__(self) -> None:
        self._count = 0
        self._since = time.monotonic()

    def hopeless(self, came: bool) -> bool:
        """Note the end of a pass; say whether it is time to give up.

        Args:
            came: whether the pass gave a datapoint.
        """
        if came:
            self._count = 0
            return False
        if self._count == 0:
            self._since = time.monotonic()
        self._count += 1
        return self._count >= _MOST or time.monotonic() - self._since > _LONGEST


class WholePasses(ProxyDataFlow):
    """The same datapoints; a pass that ends before the dataflow's length is an error.

    Args:
        ds: the datapoints.
        asked_by: who relies on the length, for the error.
    """

    def __init__(self, ds: Any, asked_by: str) -> None:
        super().__init__(ds)
        self._asked_by = asked_by

    def __iter__(self) -> Iterator[Any]:
        """Yield the datapoints."""
        count, size = 0, length(self.ds)
        out: list[Any] = []
        for dp in self.ds:
            out.append(dp)
            del dp
            count += 1
            yield out.pop()
        if size is not None and count < size:
            raise RuntimeError(say(
                f"{self._asked_by}, {type(self.ds).__name__}",
                expected=f"{size} datapoints, as its len() says",
                received=f"{count}, and then the end",
                do="Correct the dataflow's __len__, or make it give as many."))
