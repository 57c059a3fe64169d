# SPDX-License-Identifier: Apache-2.0
"""The contract of an input source, and sources made from others."""

from __future__ import annotations

import contextlib
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say

__all__ = ["InputSource", "ProxyInputSource", "build_or_reuse_placeholder",
           "get_sublist_by_names", "get_tensors_inputs", "logger", "remap_input_source"]

v1 = tf.compat.v1
SessionRunHook: Any = v1.train.SessionRunHook


class InputSource(metaclass=ABCMeta):
    """Something that gives the input tensors of a tower function.

    ``setup(signature)`` once, then ``get_input_tensors()`` once for each tower: each call may
    give other tensors. A subclass writes ``_setup``, ``_get_input_tensors``, and where it has
    something to say ``_size``, ``_reset_state`` and ``_get_callbacks``.
    """

    _name_scope: str | None = None
    _setup_done = False
    _callbacks: list[Any] | None = None

    def setup(self, input_signature: Sequence[Any]) -> list[Any]:
        """Say what the tensors must look like.

        Args:
            input_signature: ``tf.TensorSpec`` or placeholders, one for each tensor, in order.

        Returns:
            What must run beside training: see ``get_callbacks``.
        """
        self._setup([_as_spec(s) for s in input_signature])
        self._setup_done = True
        return self.get_callbacks()

    def setup_done(self) -> bool:
        """Whether ``setup`` has been called."""
        return self._setup_done

    def get_input_tensors(self) -> list[tf.Tensor]:
        """Return the input tensors, in the order of the signature.

        Raises:
            RuntimeError: before ``setup``, where the source needs it.
        """
        return self._get_input_tensors()

    def get_callbacks(self) -> list[Any]:
        """The ``tf.compat.v1.train.SessionRunHook`` objects that must see each ``session.run``.

        Most sources need none. The same list at each call.
        """
        self._require_setup()
        if self._callbacks is None:
            self._callbacks = list(self._get_callbacks())
        return self._callbacks

    def reset_state(self) -> None:
        """Start again, under a default session; training does it before its first step."""
        self._reset_state()

    def size(self) -> int:
        """How many ``session.run`` make one pass over the data.

        Raises:
            NotImplementedError: where the source has no end, or does not know it.
        """
        return self._size()

    @contextlib.contextmanager
    def cached_name_scope(self) -> Iterator[str]:
        """A ``with`` block in one name scope for all of this source's operations."""
        if self._name_scope is None:
            with tf.name_scope(type(self).__name__) as scope:
                self._name_scope = scope
                yield scope
        else:
            with tf.name_scope(self._name_scope) as scope:
                yield scope

    def _require_setup(self) -> None:
        if not self._setup_done:
            raise RuntimeError(say(type(self).__name__, expected="setup(signature) first",
                                   received="a call without it",
                                   do="Call setup([tf.TensorSpec(shape, dtype, name), ...])."))

    @abstractmethod
    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        """Keep or use the signature."""

    @abstractmethod
    def _get_input_tensors(self) -> list[tf.Tensor]:
        """Return the tensors of one tower."""

    def _get_callbacks(self) -> Sequence[Any]:
        return []

    def _reset_state(self) -> None:
        pass

    def _size(self) -> int:
        raise NotImplementedError(say(type(self).__name__, expected="a source that has a size",
                                      received="one that has none",
                                      do="Give the number of steps yourself."))


def _as_spec(spec: Any) -> tf.TensorSpec:
    """From a TensorSpec, a placeholder, or an object with shape, dtype and name."""
    if isinstance(spec, tf.TensorSpec):
        return spec
    if tf.is_tensor(spec):
        return tf.TensorSpec(spec.shape, spec.dtype, spec.op.name)
    shape, dtype, name = (getattr(spec, n, None) for n in ("shape", "dtype", "name"))
    if dtype is None:
        dtype = getattr(spec, "type", None)  # the old InputDesc(type, shape, name)
    if dtype is None:
        raise TypeError(say("signature", expected="a tf.TensorSpec for each input",
                            received=f"{type(spec).__name__} {spec!r}",
                            do="Write tf.TensorSpec(shape, dtype, name)."))
    return tf.TensorSpec(shape, dtype, name)


class ProxyInputSource(InputSource):
    """A source around another one, which does what the subclass leaves out."""

    def __init__(self, input: InputSource) -> None:
        if not isinstance(input, InputSource):
            raise TypeError(say(type(self).__name__, expected="an InputSource",
                                received=type(input).__name__,
                                do="Wrap the dataflow first, e.g. QueueInput(df)."))
        self._input = input

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._input.setup(input_signature)

    def _get_input_tensors(self) -> list[tf.Tensor]:
        return self._input.get_input_tensors()

    def _get_callbacks(self) -> Sequence[Any]:
        return self._input.get_callbacks()

    def _reset_state(self) -> None:
        self._input.reset_state()

    def _size(self) -> int:
        return self._input.size()


class _Remapped(ProxyInputSource):
    """Feeds the inputs of some names from a source, and leaves placeholders for the others."""

    def __init__(self, input: InputSource, names: Sequence[str]) -> None:
        super().__init__(input)
        self._names = tuple(names)
        self._specs: list[tf.TensorSpec] = []

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._specs = input_signature
        self._input.setup(get_sublist_by_names(input_signature, self._names))

    def _get_input_tensors(self) -> list[tf.Tensor]:
        self._require_setup()
        tensors = self._input.get_input_tensors()
        return get_tensors_inputs(
            [None if s.name in self._names else build_or_reuse_placeholder(s)
             for s in self._specs], tensors, self._names, [s.name for s in self._specs])


def remap_input_source(input: InputSource, names: Sequence[str]) -> InputSource:
    """Match a source to a signature by names, where order or number differ.

    Args:
        input: the source.
        names: for each of its components the name of the input that it feeds. Inputs of the
            signature that no component feeds become placeholders.

    Returns:
        A source with tensors in the order of the signature.

    Example:
        >>> from tfqueue_compat.input_source import TensorInput
        >>> with tf.Graph().as_default():
        ...     source = remap_input_source(TensorInput(lambda: [tf.ones([2])]), ["label"])
        ...     _ = source.setup([tf.TensorSpec([2], tf.float32, "image"),
        ...                       tf.TensorSpec([2], tf.float32, "label")])
        ...     [t.op.type for t in source.get_input_tensors()]
        ['Placeholder', 'Const']
    """
    made = type(f"Remapped{type(input).__name__}", (_Remapped,), {})
    remapped: InputSource = made(input, names)
    return remapped


def build_or_reuse_placeholder(tensor_spec: Any) -> tf.Tensor:
    """Return the placeholder of this name in the current graph; make it where there is none.

    Args:
        tensor_spec: a ``tf.TensorSpec`` with a name.

    Raises:
        ValueError: where another operation has the name, or the spec has none.
    """
    spec = _as_spec(tensor_spec)
    if not spec.name:
        raise ValueError(say("signature", expected="a name for each input",
                             received=f"{spec}", do="Write tf.TensorSpec(shape, dtype, name)."))
    graph = v1.get_default_graph()
    try:
        tensor = graph.get_tensor_by_name(f"{spec.name}:0")
    except KeyError:
        with v1.name_scope(None):
            return v1.placeholder(spec.dtype, spec.shape, spec.name)
    if "Placeholder" not in tensor.op.type or not spec.is_compatible_with(tensor):
        raise ValueError(say(
            f"input {spec.name!r}", expected=f"a placeholder of {spec.dtype.name} {spec.shape}",
            received=f"{tensor.op.type} of {tensor.dtype.name} {tensor.shape} of that name",
            do="Rename one of them."))
    return tensor


def get_sublist_by_names(lst: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Return the elements of ``lst`` that have these ``name``s, in the order of ``names``.

    Raises:
        ValueError: where there is none of a name.
    """
    by_name = {element.name: element for element in lst}
    for name in names:
        if name not in by_name:
            raise ValueError(say("input names", expected=f"some of {list(by_name)}",
                                 received=repr(name),
                                 do="Use the names of the signature." + near(name, by_name)))
    return [by_name[name] for name in names]


def get_tensors_inputs(placeholders: Sequence[Any], tensors: Sequence[Any],
                       names: Sequence[str], inputs: Sequence[str] | None = None) -> list[Any]:
    """Put tensors in the place of the placeholders of the given names.

    Args:
        placeholders: of all inputs, in order.
        tensors: that take the place of some.
        names: of those inputs, in the order of ``tensors``.
        inputs: the names of all inputs; by default those of the placeholders.

    Raises:
        ValueError: where the numbers differ, or a name is none of an input.
    """
    if len(tensors) != len(names):
        raise ValueError(say("input names", expected=f"{len(tensors)} names, one a component",
                             received=f"{len(names)}: {list(names)}",
                             do="Name each component of the data, in order."))
    known = list(inputs or [p.op.name for p in placeholders])
    out = list(placeholders)
    for tensor, name in zip(tensors, names):
        if name not in known:
            raise ValueError(say("input names", expected=f"some of {known}", received=repr(name),
                                 do="Use the names of the signature." + near(name, known)))
        out[known.index(name)] = tensor
    return out
