# SPDX-License-Identifier: Apache-2.0
"""When to give up on a dataflow that is to be iterated for ever."""

from __future__ import annotations

import time

__all__ = ["EmptyPasses"]

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
