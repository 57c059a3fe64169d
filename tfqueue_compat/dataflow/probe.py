# SPDX-License-Identifier: Apache-2.0
"""What flows, and how fast."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..utils import logger
from ..utils.errors import say
from ..utils.utils import get_tqdm
from .base import ProxyDataFlow, observe
from .passes import EmptyPasses

__all__ = ["PrintData", "TestDataSpeed"]


class PrintData(ProxyDataFlow):
    """Log shape, dtype and range of the first datapoints as they pass.

    Args:
        ds: the datapoints, passed on unchanged.
        num: number of datapoints to describe.
        name: named in the log.
        max_depth: describe lists within lists down to this depth.
        max_list: describe so many elements of a list.
    """

    def __init__(self, ds: Any, num: int = 1, name: str | None = None, max_depth: int = 3,
                 max_list: int = 3) -> None:
        super().__init__(ds)
        self.num = num
        self.name = name
        self.max_depth = max_depth
        self.max_list = max_list
        self.cnt = 0

    def reset_state(self) -> None:
        """Describe the first datapoints again."""
        super().reset_state()
        self.cnt = 0

    def __iter__(self) -> Iterator[Any]:
        """Yield the datapoints as they are."""
        out: list[Any] = []
        for dp in self.ds:
            if self.cnt < self.num:
                self._describe(dp)
            out.append(dp)
            del dp
            yield out.pop()

    def _describe(self, dp: Any) -> None:
        if self.cnt == 0:
            logger.info("Contents of DataFlow%s:", f" ({self.name})" if self.name else "")
        parts = list(dp.items() if isinstance(dp, Mapping) else
                     enumerate(dp if isinstance(dp, (list, tuple)) else [dp]))
        lines = [f"datapoint {self.cnt}/{self.num} with {len(parts)} components consists of"]
        for key, value in parts:
            lines += describe(value, key, 1, self.max_depth, self.max_list)
        self.cnt += 1
        logger.info("%s", "\n".join(lines))


def describe(value: Any, key: Any, depth: int, max_depth: int, max_list: int) -> list[str]:
    """Return lines that say what ``value`` is.

    Args:
        value: a component, or an element of one.
        key: its index or key.
        depth: its depth: 1 for a component.
        max_depth: where to stop.
        max_list: how many elements of a list to describe.
    """
    head = f"{'  ' * depth}{key}: "
    if not isinstance(value, (list, tuple, Mapping)):
        return [head + _describe_leaf(value)]
    lines = [f"{head}{type(value).__name__} of len {len(value)}"]
    inner = list(value.items() if isinstance(value, Mapping) else enumerate(value))
    if depth < max_depth:
        for k, v in inner[:max_list]:
            lines += describe(v, k, depth + 1, max_depth, max_list)
    if inner and (len(inner) > max_list or depth >= max_depth):
        lines.append("  " * (depth + 1) + "...")
    return lines


def _describe_leaf(value: Any) -> str:
    if isinstance(value, np.ndarray):
        text = f"ndarray:{value.dtype} of shape {value.shape}"
        if value.size and (np.issubdtype(value.dtype, np.number) or value.dtype == bool):
            text += f" in range [{value.min()}, {value.max()}]"
        return text
    if isinstance(value, (int, float, complex, np.generic)):
        return f"{type(value).__name__} with value {value}"
    if isinstance(value, (str, bytes)):
        shown = repr(value[:40]) + ("..." if len(value) > 40 else "")
        return f"{type(value).__name__} of len {len(value)}: {shown}"
    return type(value).__name__


def count_bytes(value: Any) -> int:
    """Return the bytes of data in a datapoint: arrays and strings, 8 for a plain number."""
    if hasattr(value, "nbytes"):
        return int(value.nbytes)
    if isinstance(value, (bytes, str)):
        return len(value)
    if isinstance(value, Mapping):
        return sum(count_bytes(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return sum(count_bytes(v) for v in value)
    return 8 if isinstance(value, (int, float)) else sys.getsizeof(value)


class StageClock:
    """Time spent in each DataFlow of a chain, without the time in those it draws from.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList, MapData
        >>> ds = MapData(DataFromList([[1]] * 3), lambda dp: dp)
        >>> clock = StageClock()
        >>> with observe(clock.watch):
        ...     _ = list(ds)
        >>> [name for name, _ in clock.shares()]
        ['DataFromList', 'MapData']
    """

    def __init__(self) -> None:
        self._own: dict[int, float] = {}
        self._stages: dict[int, Any] = {}
        self._inner = [0.0]  # one entry per stage now running: seconds within stages it called

    def watch(self, ds: Any, iterator: Iterator[Any]) -> Iterator[Any]:
        """Return ``iterator`` with its time counted for ``ds``."""
        self._stages.setdefault(id(ds), ds)
        self._own.setdefault(id(ds), 0.0)
        return self._timed(id(ds), iter(iterator))

    def _timed(self, stage: int, iterator: Iterator[Any]) -> Iterator[Any]:
        while True:
            self._inner.append(0.0)
            start = time.perf_counter()
            try:
                out = [next(iterator)]
            except StopIteration:
                return
            finally:
                spent = time.perf_counter() - start
                self._own[stage] += spent - self._inner.pop()
                self._inner[-1] += spent
            yield out.pop()

    def restart(self) -> None:
        """Forget the time so far."""
        self._own = dict.fromkeys(self._own, 0.0)

    def shares(self) -> list[tuple[str, float]]:
        """Return (name, share of the time) of each stage, the source first."""
        total = sum(self._own.values()) or 1.0
        order = sorted(self._stages.values(), key=_depth)
        return [(type(ds).__name__, self._own[id(ds)] / total) for ds in order]


def _depth(ds: Any) -> int:
    """Return how many dataflows ``ds`` draws from, one below the other."""
    below = [getattr(ds, "ds", None), *getattr(ds, "df_lists", ())]
    return max((1 + _depth(d) for d in below if d is not None), default=0)


class TestDataSpeed(ProxyDataFlow):
    """Measure how fast a DataFlow is, and which of its stages takes the time.

    Args:
        ds: the DataFlow; begun anew where it ends.
        size: datapoints to take.
        warmup: datapoints to take before.

    Example:
        .. code-block:: python

            TestDataSpeed(FakeData([[28, 28]]), size=1000).start()
            # 1000 datapoints in 0.0109 s: 9.174e+04 datapoints/s, 274.4 MiB/s
            #   100.0%  FakeData
    """

    __test__ = False  # a name like this is no test of pytest's

    def __init__(self, ds: Any, size: int = 5000, warmup: int = 0) -> None:
        super().__init__(ds)
        self.test_size = int(size)
        self.warmup = int(warmup)

    def reset_state(self) -> None:
        """Reset ``ds``; it is the same as resetting what is measured."""
        super().reset_state()

    def __iter__(self) -> Iterator[Any]:
        """Measure, then yield the datapoints of ``ds``."""
        self.start()
        yield from self.ds

    def start(self) -> dict[str, Any]:
        """Measure, and log the result.

        Returns:
            ``datapoints``, ``seconds``, ``datapoints_per_second``, ``bytes_per_second`` and
            ``stages``: (name, share of the time) of each DataFlow in the chain, the source first.
            What worker processes and threads do counts for the stage that waits for them.
        """
        self.reset_state()
        clock = StageClock()
        with observe(clock.watch):
            points = self._again_and_again()
            for _ in get_tqdm(range(self.warmup), desc="warmup") if self.warmup else ():
                next(points)
            clock.restart()
            start = time.perf_counter()
            total = 0
            for _ in get_tqdm(range(self.test_size), leave=True):
                total += count_bytes(next(points))
            seconds = time.perf_counter() - start
        result = {"datapoints": self.test_size, "seconds": seconds,
                  "datapoints_per_second": self.test_size / max(seconds, 1e-9),
                  "bytes_per_second": total / max(seconds, 1e-9), "stages": clock.shares()}
        logger.info("%s", _report(result))
        return result

    start_test = start  # its name before tensorpack 0.9

    def _again_and_again(self) -> Iterator[Any]:
        passes = EmptyPasses()
        while True:
            came = False
            for dp in self.ds:
                came = True
                yield dp
            if passes.hopeless(came):
                raise RuntimeError(say("TestDataSpeed", expected=f"datapoints from "
                                       f"{type(self.ds).__name__}", received="passes without any",
                                       do="Look whether it is empty."))


def _report(result: dict[str, Any]) -> str:
    lines = [f"{result['datapoints']} datapoints in {result['seconds']:.3g} s: "
             f"{result['datapoints_per_second']:.4g} datapoints/s, "
             f"{result['bytes_per_second'] / 2**20:.4g} MiB/s"]
    lines += [f"  {share:6.1%}  {name}" for name, share in result["stages"]]
    return "\n".join(lines)
