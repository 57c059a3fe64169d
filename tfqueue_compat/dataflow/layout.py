# SPDX-License-Identifier: Apache-2.0
"""How a datapoint is built: its nesting, and what each of its leaves is.

Datapoints of one layout can be stacked: each array or number of them becomes a row of a column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LEAF", "Layout", "Leaf", "describe", "flatten", "rebuild"]

LEAF = "leaf"
_MAX_LEAVES = 64   # more of them, e.g. long lists of numbers, are better pickled as one
_MAX_DEPTH = 4

_NUMBERS = {int: np.dtype(np.int64), float: np.dtype(np.float64), bool: np.dtype(np.bool_)}
_FIXED = (str, bytes, type(None), complex)  # cannot change after they were handed over
_ARRAYS = (np.ndarray, np.memmap)


class Leaf(NamedTuple):
    """One component of a datapoint.

    Attributes:
        kind: ``array``; ``scalar`` (NumPy's); ``number`` (Python's int, float, bool); ``fixed``
            (another immutable object); ``object`` (anything else, pickled).
        type: its Python type.
        dtype: of its column; None where it has none.
        shape: of an array.
    """

    kind: str
    type: type
    dtype: np.dtype | None = None
    shape: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes in the column for one datapoint."""
        if self.dtype is None:
            return 0
        return self.dtype.itemsize * math.prod(self.shape)


class Layout(NamedTuple):
    """The build of a datapoint.

    Attributes:
        structure: ``"leaf"``, or ``("list", children)``, ``("tuple", children)``,
            ``("dict", keys, children)``, where children are structures.
        leaves: what the leaves are, in order (a dict's in the order of its keys).
    """

    structure: Any
    leaves: tuple[Leaf, ...]

    @property
    def stackable(self) -> bool:
        """Whether every leaf has a column."""
        return all(leaf.kind not in ("fixed", "object") for leaf in self.leaves)

    @property
    def flat(self) -> type | None:
        """List or tuple, where the datapoint is one of leaves only."""
        if self.structure == LEAF or any(c != LEAF for c in self.structure[-1]):
            return None
        return {"list": list, "tuple": tuple}.get(self.structure[0])


def _leaf(x: Any) -> Leaf:
    t = type(x)
    if t in _ARRAYS and not x.dtype.hasobject:
        return Leaf("array", t, x.dtype, x.shape)
    if t in _NUMBERS:
        return Leaf("number", t, _NUMBERS[t])
    if issubclass(t, np.generic) and not issubclass(t, (np.flexible, np.object_)):
        return Leaf("scalar", t, x.dtype)
    return Leaf("fixed" if t in _FIXED else "object", t)


def _children(x: Any) -> tuple[str, Any, list[Any]] | None:
    """Return kind, keys and parts of a container, or None for a leaf."""
    t = type(x)
    if t is list or t is tuple:
        return ("list" if t is list else "tuple"), None, list(x)
    if t is dict and all(type(k) is str for k in x):
        return "dict", tuple(x), list(x.values())
    return None


def describe(dp: Any) -> Layout:
    """Return the layout of a datapoint.

    Example:
        >>> describe([np.zeros((2, 3), "float32"), 7]).structure
        ('list', ('leaf', 'leaf'))
    """
    leaves: list[Leaf] = []
    structure = _describe(dp, leaves, 0)
    if len(leaves) > _MAX_LEAVES:
        return Layout(LEAF, (_leaf(dp),))
    return Layout(structure, tuple(leaves))


def _describe(x: Any, leaves: list[Leaf], depth: int) -> Any:
    found = _children(x)
    if found is None or depth >= _MAX_DEPTH or len(found[2]) > _MAX_LEAVES:
        leaves.append(_leaf(x))
        return LEAF
    kind, keys, parts = found
    children = tuple(_describe(p, leaves, depth + 1) for p in parts)
    return (kind, children) if keys is None else (kind, keys, children)


def flatten(x: Any, structure: Any, into: list[Any]) -> bool:
    """Append the leaves of ``x`` to ``into``; return False where it isn't built like that."""
    if structure == LEAF:
        into.append(x)
        return True
    t = type(x)
    children = structure[-1]
    if structure[0] == "dict":
        if t is not dict or tuple(x) != structure[1]:
            return False
        x = x.values()
    elif t is not (list if structure[0] == "list" else tuple):
        return False
    return len(x) == len(children) and all(
        [flatten(p, c, into) for p, c in zip(x, children)])


def rebuild(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return the datapoint whose leaves come from ``leaves``."""
    if structure == LEAF:
        return next(leaves)
    parts = [rebuild(c, leaves) for c in structure[-1]]
    if structure[0] == "dict":
        return dict(zip(structure[1], parts))
    return parts if structure[0] == "list" else tuple(parts)
