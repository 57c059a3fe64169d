# SPDX-License-Identifier: Apache-2.0
"""Datapoints into batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ..utils.errors import say
from .base import DataFlowReentrantGuard, ProxyDataFlow, known_length, length

__all__ = ["BatchData", "BatchDataByShape"]

# What tensorpack makes of Python's scalars: models of its time take int32 and float32.
_SCALARS: dict[type, Any] = {bool: np.bool_, int: np.int32, float: np.float32, str: np.str_}


def _odd_shapes(values: Sequence[Any], name: str) -> ValueError:
    shapes = [np.shape(v) for v in values]
    counts = {s: shapes.count(s) for s in dict.fromkeys(shapes)}
    shown = ", ".join(f"{s} ({n} of {len(shapes)})" for s, n in list(counts.items())[:5])
    return ValueError(say(f"BatchData, {name}", expected="one shape in all datapoints of a batch",
                          received=f"the shapes {shown}{', ...' if len(counts) > 5 else ''}",
                          do="Pass use_list=True, group them with BatchDataByShape, or resize or "
                          "pad them before."))


def _not_batchable(value: Any, name: str) -> TypeError:
    return TypeError(say(f"BatchData, {name}", expected="numbers, strings or NumPy arrays",
                         received=type(value).__name__,
                         do="Convert it (np.asarray) before, or pass use_list=True."))


def _stack_scalars(values: Sequence[Any], name: str) -> np.ndarray:
    """Stack Python's scalars; the first one's type decides."""
    kind = type(values[0])
    if isinstance(values[0], bytes):  # an 'S' array would cut trailing zero bytes off
        if not all(isinstance(v, bytes) for v in values):
            raise _mixed(values, name)
        out = np.empty(len(values), object)
        out[:] = values
        return out
    dtype = next(d for t, d in _SCALARS.items() if issubclass(kind, t))
    if set(map(type, values)) != {kind}:
        _check_mixed(values, dtype, name)
    try:
        return np.asarray(values, dtype=dtype)
    except OverflowError as e:
        raise OverflowError(say(f"BatchData, {name}", expected="ints that fit int32, which "
                                "Python's int becomes", received=str(max(values, key=abs)),
                                do="Yield np.int64(x).")) from e


# What may stand beside a first value that becomes this dtype, without loss.
_BESIDE: dict[Any, tuple[type, ...]] = {
    np.bool_: (bool, np.bool_), np.int32: (int, np.integer, np.bool_), np.str_: (str,),
    np.float32: (float, int, np.integer, np.floating, np.bool_)}


def _check_mixed(values: Sequence[Any], dtype: Any, name: str) -> None:
    if any(np.ndim(v) for v in values):
        raise _odd_shapes(values, name)
    if not all(isinstance(v, _BESIDE[dtype]) for v in values):
        raise _mixed(values, name)


def _mixed(values: Sequence[Any], name: str) -> TypeError:
    kinds = sorted({type(v).__name__ for v in values})
    return TypeError(say(f"BatchData, {name}", expected=f"{type(values[0]).__name__} in all "
                         "datapoints of a batch, as in its first", received=" and ".join(kinds),
                         do="Yield one type, e.g. float(x) or np.float32(x)."))


def _stack_arrays(values: Sequence[Any], name: str) -> np.ndarray:
    """Stack arrays or NumPy scalars into one fresh array of the first one's dtype."""
    first = values[0]
    shape, dtype = first.shape, first.dtype
    if dtype.kind in "US":  # the longest string decides: none is cut off
        dtype = np.result_type(*{np.asarray(v).dtype for v in values})
    if not shape:
        return _stack_numbers(values, dtype, name)
    out = np.empty((len(values), *shape), dtype)
    try:  # one call for all; the engine takes `out` as it is, since nothing else refers to it
        if set(map(len, values)) == {shape[0]}:  # it compares the other axes itself
            rows = out.reshape(len(values) * shape[0], *shape[1:])
            np.concatenate(values, out=rows, casting="same_kind")
            return out
    except (TypeError, ValueError):
        if all(np.shape(v) == shape for v in values):
            for v in values:
                _check_cast(np.asarray(v).dtype, dtype, name)
            raise
    raise _odd_shapes(values, name)


def _stack_numbers(values: Sequence[Any], dtype: np.dtype[Any], name: str) -> np.ndarray:
    """Stack NumPy's scalars, or arrays without an axis."""
    if isinstance(values[0], np.generic) and set(map(type, values)) == {type(values[0])}:
        return np.asarray(values, dtype=dtype)
    try:
        whole = np.asarray(values)
    except ValueError:
        raise _odd_shapes(values, name) from None
    if whole.ndim != 1:
        raise _odd_shapes(values, name)
    _check_cast(whole.dtype, dtype, name)
    return whole.astype(dtype, copy=False)


def _check_cast(have: np.dtype[Any], want: np.dtype[Any], name: str) -> None:
    if not np.can_cast(have, want, "same_kind"):
        raise TypeError(say(f"BatchData, {name}", expected=f"{want}, as in the first datapoint of "
                            "the batch", received=f"{have} in another",
                            do="Let each datapoint have the same dtype."))


def _stack(values: Sequence[Any], name: str) -> np.ndarray:
    first = values[0]
    if isinstance(first, (np.ndarray, np.generic)):
        return _stack_arrays(values, name)
    if isinstance(first, (*_SCALARS, bytes)):
        return _stack_scalars(values, name)
    if hasattr(first, "__array__"):  # tensors of other libraries
        return _stack_arrays([np.asarray(v) for v in values], name)
    raise _not_batchable(first, name)


def _columns(holder: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    try:
        return iter(list(zip(*holder, strict=True)))
    except ValueError:
        sizes = sorted({len(dp) for dp in holder})
        raise ValueError(say("BatchData", expected="datapoints with one number of components",
                             received=f"some with {sizes[0]}, some with {sizes[-1]}",
                             do="Let each datapoint have the same components.")) from None


def _named_columns(holder: Sequence[Any]) -> dict[Any, list[Any]]:
    keys = holder[0].keys()
    for dp in holder:
        if dp.keys() != keys:
            raise KeyError(say("BatchData", expected=f"the keys {sorted(map(str, keys))} in each "
                               "datapoint", received=f"one with {sorted(map(str, dp))}",
                               do="Let each datapoint have the same keys."))
    return {k: [dp[k] for dp in holder] for k in keys}


class BatchData(ProxyDataFlow):
    """Stack datapoints into batches: each component gets a first axis of size ``batch_size``.

    Python's int, float and bool become int32, float32 and bool, bytes an array of objects; an
    array keeps its dtype. The batch is a fresh array that nothing else refers to.

    Args:
        ds: datapoints are lists, tuples or dicts; without ``use_list`` their components are
            numbers, strings or arrays, of one shape.
        batch_size: datapoints in a batch.
        remainder: yield what is left at the end as a smaller batch.
        use_list: make each component a list of what the datapoints have, instead of an array.

    Raises:
        ValueError: while iterating, where shapes differ; it shows them.

    Example:
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> next(iter(BatchData(DataFromList([[1, 0.5], [2, 1.5]], shuffle=False), 2)))
        [array([1, 2], dtype=int32), array([0.5, 1.5], dtype=float32)]
    """

    def __init__(self, ds: Any, batch_size: int, remainder: bool = False,
                 use_list: bool = False) -> None:
        super().__init__(ds)
        self.batch_size = int(batch_size)
        self.remainder = remainder
        self.use_list = use_list
        n = None if remainder else length(self.ds)
        if self.batch_size < 1 or (n is not None and self.batch_size > n):
            raise ValueError(say(
                type(self).__name__, expected="1 <= batch_size"
                + (f" <= {n}, the length of {type(self.ds).__name__}" if n is not None else ""),
                received=str(batch_size), do="Pass another size, or remainder=True."))

    def __len__(self) -> int:
        """Return the number of batches in a pass."""
        n = known_length(self.ds, type(self).__name__)
        return -(-n // self.batch_size) if self.remainder else n // self.batch_size

    def __iter__(self) -> Iterator[Any]:
        """Yield batches."""
        aggregate, use_list, size = self._aggregator(), self.use_list, self.batch_size
        source = iter(self.ds)
        while True:
            holder = list(islice(source, size))
            if len(holder) < size and not (holder and self.remainder):
                return
            batch = [aggregate(holder, use_list)]
            del holder
            yield batch.pop()  # this frame keeps nothing it has yielded, and no datapoint

    def _aggregator(self) -> Callable[[list[Any], bool], Any]:
        old = type(self)._aggregate_batch is not BatchData._aggregate_batch
        return self._aggregate_batch if old else self.aggregate_batch

    @staticmethod
    def aggregate_batch(data_holder: Sequence[Any], use_list: bool = False) -> Any:
        """Return one batch made of datapoints.

        Args:
            data_holder: the datapoints; all lists or tuples, or all dicts.
            use_list: as in :class:`BatchData`.

        Returns:
            A list of components, or a dict.
        """
        first = data_holder[0]
        if isinstance(first, Mapping):
            columns = _named_columns(data_holder)
            return columns if use_list else {k: _stack(v, f"component {k!r}")
                                             for k, v in columns.items()}
        if not hasattr(first, "__getitem__") or isinstance(first, (str, bytes)):
            raise TypeError(say("BatchData", expected="datapoints that are lists, tuples or dicts",
                                received=type(first).__name__, do="Yield [component, ...]."))
        if use_list:
            return [list(column) for column in _columns(data_holder)]
        return [_stack(column, f"component {k}") for k, column in enumerate(_columns(data_holder))]

    @staticmethod
    def _aggregate_batch(data_holder: Sequence[Any], use_list: bool = False) -> Any:
        return BatchData.aggregate_batch(data_holder, use_list)  # old code overrides or calls it


class BatchDataByShape(BatchData):
    """Batch datapoints that have the same shape.

    Datapoints wait, across passes too, until ``batch_size`` of their shape have come; some may
    never be yielded. So the length, that of BatchData, is about right.

    Args:
        ds: ``dp[idx]`` is an array.
        batch_size: datapoints in a batch.
        idx: the component whose shape decides; the others must be batchable then.
    """

    def __init__(self, ds: Any, batch_size: int, idx: int | str) -> None:
        super().__init__(ds, batch_size, remainder=False)
        self.idx = idx
        self.holder: dict[Any, list[Any]] = defaultdict(list)

    @cached_property
    def _guard(self) -> DataFlowReentrantGuard:
        return DataFlowReentrantGuard()

    def reset_state(self) -> None:
        """Forget waiting datapoints."""
        super().reset_state()
        self.holder = defaultdict(list)
        self._guard = DataFlowReentrantGuard()

    def __iter__(self) -> Iterator[Any]:
        """Yield a batch whenever one is full."""
        aggregate = self._aggregator()
        batch: list[Any] = []
        with self._guard:
            for dp in self.ds:
                shape = np.shape(dp[self.idx])
                waiting = self.holder[shape]
                waiting.append(dp)
                del dp
                if len(waiting) == self.batch_size:
                    batch.append(aggregate(waiting, self.use_list))
                    del self.holder[shape], waiting
                    yield batch.pop()
