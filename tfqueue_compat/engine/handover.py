# SPDX-License-Identifier: Apache-2.0
"""How large arrays get to TensorFlow: aliased, or copied once into warm memory."""

from __future__ import annotations

import statistics
import time

from .aligned import align_this_thread, restore_this_thread

__all__ = ["Handover"]

_SKIP, _SAMPLES = 2, 5


class Handover:
    """Chooses what costs the producer's thread less.

    An array that nobody else holds can be aliased, if it was allocated aligned: nothing is copied,
    but each array is then made in fresh memory, whose pages the kernel has to map. A copy into a
    reused buffer lets the allocator reuse the array's own memory at once. Which is dearer depends
    on the kernel's huge pages and on the allocator, so both are tried on the first datapoints.
    """

    def __init__(self) -> None:
        self._costs: dict[bool, list[float]] = {False: [], True: []}
        self._decided: bool | None = None
        self._aliasing = False
        self._last: float | None = None
        self._skip = _SKIP

    def begin(self) -> None:
        """Take over in a new producer thread."""
        self._last = None
        if self._aliasing and not align_this_thread():
            self._decided = self._aliasing = False

    def end(self) -> None:
        """Leave the producer thread: memory that is kept for its arrays is given back."""
        if self._aliasing:
            restore_this_thread()

    def aliases(self, possible: bool) -> bool:
        """Say whether to alias the datapoint at hand.

        Args:
            possible: whether its large arrays belong to nobody else.
        """
        if self._decided is not None:
            return self._decided
        if not possible:
            self._last = None
            return False
        self._note()
        return self._aliasing

    def _note(self) -> None:
        now = time.thread_time()
        if self._last is not None:
            if self._skip:
                self._skip -= 1
            else:
                self._costs[self._aliasing].append(now - self._last)
        self._last = now
        if len(self._costs[self._aliasing]) >= _SAMPLES:
            self._next()

    def _next(self) -> None:
        if not self._aliasing:
            self._aliasing, self._skip = True, _SKIP
            if not align_this_thread():
                self._decided = self._aliasing = False
            return
        copied, aliased = (statistics.median(self._costs[m]) for m in (False, True))
        self._decided = self._aliasing = aliased < copied
        if not self._decided:
            restore_this_thread()
