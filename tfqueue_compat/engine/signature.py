# SPDX-License-Identifier: Apache-2.0
"""What every datapoint of a dataflow looks like, and the check that one does."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..utils.errors import near, say
from .convert import Component, as_array, component_from, describe
from .errors import SignatureMismatch

__all__ = ["Node", "Signature"]

_MANY = 16  # keys in an error text


@dataclass(frozen=True)
class Node:
    """One level of nesting: a tuple or a mapping of further nodes, or a leaf.

    Attributes:
        kind: ``"leaf"``, ``"tuple"`` or ``"dict"``.
        children: the nodes below, in the order in which TensorFlow flattens them.
        keys: of a ``dict``, one for each child.
        rebuild: makes the container from the list of its children.
    """

    kind: str
    children: tuple[Node, ...] = ()
    keys: tuple[Any, ...] = ()
    rebuild: Callable[[list[Any]], Any] = tuple


LEAF = Node("leaf")


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _sorted_keys(value: Mapping[Any, Any]) -> tuple[Any, ...]:
    try:
        return tuple(sorted(value))
    except TypeError:
        raise SignatureMismatch(say(
            "datapoint", expected="a dict whose keys sort, as TensorFlow needs them",
            received=f"keys {_few(value)}", do="Use strings as keys.")) from None


def _node_of(value: Any, top: bool) -> Node:
    """Read the nesting of a datapoint: tuples and dicts nest, a list inside is an array."""
    if isinstance(value, Mapping):
        keys = _sorted_keys(value)
        return Node("dict", tuple(_node_of(value[k], False) for k in keys), keys,
                    lambda items: dict(zip(keys, items)))
    if isinstance(value, tuple) or (top and isinstance(value, list)):
        kind = type(value)
        rebuild: Callable[[list[Any]], Any] = (
            (lambda items: kind(*items)) if _is_namedtuple(value) else tuple)
        return Node("tuple", tuple(_node_of(v, False) for v in value), (), rebuild)
    return LEAF


def _paths(node: Node, prefix: str = "") -> list[str]:
    if node.kind == "leaf":
        return [prefix or "the datapoint"]
    labels = [repr(k) for k in node.keys] or [str(i) for i in range(len(node.children))]
    start = "component " if not prefix else prefix
    return [p for label, child in zip(labels, node.children)
            for p in _paths(child, f"{start}[{label}]" if prefix else f"{start}{label}")]


def _pack(node: Node, leaves: Iterator[Any]) -> Any:
    """Rebuild a nesting from its leaves."""
    if node.kind == "leaf":
        return next(leaves)
    return node.rebuild([_pack(child, leaves) for child in node.children])


def _flatten(node: Node, value: Any, path: str, out: list[Any]) -> None:
    if node.kind == "leaf":
        out.append(value)
    elif node.kind == "dict":
        if not isinstance(value, Mapping):
            raise SignatureMismatch(say(path, expected=f"a dict with the keys {_few(node.keys)}",
                                        received=describe(value),
                                        do="Yield the same structure in each datapoint."))
        if len(value) != len(node.keys) or any(k not in value for k in node.keys):
            _raise_keys(node, value, path)
        for key, child in zip(node.keys, node.children):
            _flatten(child, value[key], f"{path}[{key!r}]", out)
    else:
        if not isinstance(value, (tuple, list)) or len(value) != len(node.children):
            raise SignatureMismatch(say(
                path, expected=f"{len(node.children)} components", received=describe(value),
                do="Yield the same structure in each datapoint."))
        for i, (v, child) in enumerate(zip(value, node.children)):
            _flatten(child, v, f"{path}[{i}]", out)


def _raise_keys(node: Node, value: Mapping[Any, Any], path: str) -> None:
    missing = [k for k in node.keys if k not in value]
    known = set(node.keys)
    extra = [k for k in value if k not in known]
    hint = near(str(missing[0]), extra[:_MANY]) if missing and extra else ""
    raise SignatureMismatch(say(
        path, expected=f"the keys {_few(node.keys)}",
        received=f"{_few(value)} (missing {_few(missing)}, extra {_few(extra)})",
        do="Yield the same keys in each datapoint." + hint))


def _few(keys: Iterable[Any]) -> str:
    """Keys as a list, not too long for an error text."""
    some = list(itertools.islice(keys, _MANY + 1))
    return repr(some) if len(some) <= _MANY else f"[{', '.join(map(repr, some[:_MANY]))}, ...]"


class Signature:
    """Shapes and dtypes of the components of a datapoint, and how they nest.

    Args:
        components: the leaves, in the order in which TensorFlow flattens the nesting.
        node: how they nest.
        names: of the leaves, where the user gave some: a flat dict datapoint is then read by
            these names, in any order.

    Example:
        >>> import numpy as np
        >>> sig = Signature.infer([np.zeros((4, 28, 28), "float32"), np.zeros(4, "int32")])
        >>> [s.shape.as_list() for s in sig.opened().element_spec]
        [[None, 28, 28], [None]]
    """

    def __init__(self, components: Sequence[Component], node: Node,
                 names: Sequence[str] | None = None) -> None:
        self.components = tuple(components)
        self.node = node
        self.names = tuple(names) if names and all(names) else None
        self._flat = (node.kind == "tuple"
                      and all(child.kind == "leaf" for child in node.children))
        self._width = len(self.components)

    @classmethod
    def infer(cls, datapoint: Any) -> Signature:
        """Read the signature off one datapoint, as ``[image, label]``; see also ``opened``.

        Raises:
            SignatureMismatch: where a component is nothing that a tensor can hold.
        """
        node = _node_of(datapoint, top=True)
        leaves: list[Any] = []
        _flatten(node, datapoint, "datapoint", leaves)
        if not leaves:
            raise SignatureMismatch(say("datapoint", expected="at least one component",
                                        received=describe(datapoint),
                                        do="Yield a list such as [image, label]."))
        return cls([component_from(p, v) for p, v in zip(_paths(node), leaves)], node)

    def opened(self) -> Signature:
        """The same with the batch dimension left open, if a datapoint looks like a batch.

        It does where it has no scalar component and all components have one first dimension.
        """
        firsts = {c.shape[0] if c.shape else None for c in self.components}
        if len(firsts) != 1 or None in firsts:
            return self
        return Signature([c.opened() for c in self.components], self.node, self.names)

    def cast(self, dtypes: Any) -> Signature:
        """The same with these dtypes: a ``tf.DType`` for each component, nested or flat.

        Raises:
            SignatureMismatch: where their number is another.
        """
        flat = tf.nest.flatten(dtypes)
        if len(flat) != len(self.components):
            raise SignatureMismatch(say(
                "types", expected=f"{len(self.components)}, one a component",
                received=f"{len(flat)}", do="Give a tf.DType for each component."))
        return Signature([Component.of(c.path, c.shape, d) for c, d in zip(self.components, flat)],
                         self.node, self.names)

    def batched(self, size: int | None) -> Signature:
        """The signature of batches of ``size`` datapoints (None: of any size)."""
        return Signature([c.batched(size) for c in self.components], self.node, self.names)

    def unbatched(self) -> Signature:
        """The signature of the datapoints in batches of this one."""
        return Signature([c.unbatched() for c in self.components], self.node, self.names)

    @classmethod
    def from_specs(cls, specs: Any) -> Signature:
        """Take the signature from (a nesting of) ``tf.TensorSpec``, placeholders or tensors.

        Raises:
            SignatureMismatch: where something else is in it.
        """
        if isinstance(specs, list):
            specs = tuple(specs)
        node = _node_of(specs, top=True)
        leaves: list[Any] = []
        _flatten(node, specs, "signature", leaves)
        components, names = [], []
        for path, leaf in zip(_paths(node), leaves):
            if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
                raise SignatureMismatch(say(
                    f"signature, {path}", expected="a tf.TensorSpec", received=describe(leaf),
                    do="Write tf.TensorSpec(shape, dtype, name)."))
            name = _base_name(leaf)
            components.append(Component.of(f"{path} ({name!r})" if name else path,
                                           leaf.shape, leaf.dtype))
            names.append(name)
        flat = node.kind == "tuple" and all(c.kind == "leaf" for c in node.children)
        return cls(components, node, names if flat else None)

    @property
    def element_spec(self) -> Any:
        """The nesting of ``tf.TensorSpec``, as ``tf.data.Dataset.element_spec`` has it."""
        return self.pack([c.spec for c in self.components])

    def pack(self, leaves: Sequence[Any]) -> Any:
        """Nest flat ``leaves`` as datapoints are nested."""
        if self._flat:
            return self.node.rebuild(list(leaves))
        return _pack(self.node, iter(leaves))

    def flatten(self, datapoint: Any) -> Sequence[Any]:
        """Return the leaves of a datapoint, checked for structure but not for values.

        Raises:
            SignatureMismatch: naming what was expected and what came.
        """
        if self._flat:
            if isinstance(datapoint, (list, tuple)) and len(datapoint) == self._width:
                return datapoint
            if self.names and isinstance(datapoint, Mapping):
                return self._by_name(datapoint)
        out: list[Any] = []
        _flatten(self.node, datapoint, "datapoint", out)
        return out

    def _by_name(self, datapoint: Mapping[str, Any]) -> list[Any]:
        names = self.names or ()
        missing = [n for n in names if n not in datapoint]
        if missing:
            raise SignatureMismatch(say(
                "datapoint", expected=f"the keys {_few(names)}", received=_few(datapoint),
                do=f"Add {_few(missing)}." + near(
                    missing[0], itertools.islice(datapoint, _MANY))))
        return [datapoint[n] for n in names]

    def arrays(self, datapoint: Any) -> list[np.ndarray]:
        """Return the leaves of a datapoint as arrays of exactly the signature's dtypes."""
        return [as_array(c, v) for c, v in zip(self.components, self.flatten(datapoint))]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and self.element_spec == other.element_spec

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Signature({self.element_spec})"


def _base_name(spec: Any) -> str:
    """The name of a spec, a placeholder or a tensor, without scope noise such as ':0'."""
    if tf.is_tensor(spec) and not isinstance(spec, tf.__internal__.EagerTensor):
        return str(spec.op.name)
    try:
        return str(getattr(spec, "name", None) or "")
    except (AttributeError, ValueError):  # eager tensors answer .name by raising
        return ""
