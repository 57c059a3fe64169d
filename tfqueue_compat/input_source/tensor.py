# SPDX-License-Identifier: Apache-2.0
"""Inputs that are in the graph already: any tensors, constants, a ``tf.data.Dataset``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import DataFlow
from ..engine.dataset import SourceDataset
from ..engine.graph import keep_with
from ..engine.signature import Signature
from ..engine.source import Source
from ..engine.stream import Mode
from ..utils.errors import say
from .input_source_base import SessionRunHook
from .queue import FeedfreeInput

__all__ = ["DummyConstantInput", "TFDatasetInput", "TensorInput"]

v1 = tf.compat.v1
_PREFETCH = 50


class TensorInput(FeedfreeInput):
    """Input tensors made by a function of the user's.

    Args:
        get_tensor_fn: called once for each tower; returns a list of tensors.
        size: how many ``session.run`` make one pass, if that is known.

    Example:
        >>> source = TensorInput(lambda: [tf.zeros([4])], size=10)
        >>> source.size()
        10
    """

    def __init__(self, get_tensor_fn: Callable[[], Sequence[tf.Tensor]],
                 size: int | None = None) -> None:
        if not callable(get_tensor_fn):
            raise TypeError(say(type(self).__name__, expected="a function that returns tensors",
                                received=type(get_tensor_fn).__name__,
                                do="Pass the function, e.g. lambda: [image, label]."))
        if size is not None and size < 1:
            raise ValueError(say(type(self).__name__, expected="size: at least 1, or None",
                                 received=repr(size), do="Leave it out if unknown."))
        self.get_tensor_fn = get_tensor_fn
        self._fixed_size = size
        self._specs: list[tf.TensorSpec] | None = None

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._specs = input_signature

    def _get_input_tensors(self) -> list[tf.Tensor]:
        with self.cached_name_scope():
            tensors = list(self.get_tensor_fn())
        if self._specs is not None:
            _check(type(self).__name__, tensors, self._specs)
        return tensors

    def _size(self) -> int:
        return super()._size() if self._fixed_size is None else self._fixed_size


class DummyConstantInput(TensorInput):
    """Zeros, to measure a model without any input pipeline.

    Args:
        shapes: of the components, all dimensions given.
    """

    def __init__(self, shapes: Sequence[Sequence[int]]) -> None:
        self.shapes = [tuple(s) for s in shapes]
        super().__init__(self._zeros)

    def _zeros(self) -> list[tf.Tensor]:
        self._require_setup()
        specs = self._specs or []
        if len(specs) != len(self.shapes):
            raise ValueError(say("DummyConstantInput", expected=f"{len(specs)} shapes, one a "
                                 "component of the signature", received=f"{len(self.shapes)}",
                                 do="Give a shape for each."))
        return [tf.zeros(shape, s.dtype, name=f"dummy_{s.name or i}")
                for i, (shape, s) in enumerate(zip(self.shapes, specs))]


class TFDatasetInput(FeedfreeInput):
    """A ``tf.data.Dataset``, or a dataflow made one.

    Unlike QueueInput it ends where the data ends: repeat what training is to read for ever.

    Args:
        dataset: a ``tf.data.Dataset`` (made in the graph or eagerly), or a DataFlow.
    """

    def __init__(self, dataset: Any) -> None:
        if not isinstance(dataset, tf.data.Dataset) and not hasattr(dataset, "__iter__") \
                and not hasattr(dataset, "get_data"):
            raise TypeError(say("TFDatasetInput", expected="a tf.data.Dataset or a DataFlow",
                                received=type(dataset).__name__, do="Pass one of them."))
        self._dataset = dataset
        self._specs: list[tf.TensorSpec] = []

    @staticmethod
    def dataflow_to_dataset(df: DataFlow, types: Any) -> tf.data.Dataset:
        """Make a dataset of a dataflow: one pass over it, with its length where it has one.

        Args:
            df: the dataflow.
            types: a ``tf.DType`` for each component. Shapes are read off the first datapoint.

        Example:
            >>> from tfqueue_compat.dataflow import DataFromList
            >>> df = DataFromList([[1], [2]], shuffle=False)
            >>> dataset = TFDatasetInput.dataflow_to_dataset(df, [tf.float32])
            >>> [float(x) for x, in dataset]
            [1.0, 2.0]
        """
        return SourceDataset(Source(df, _PREFETCH, dtypes=types), Mode())

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._specs = input_signature
        if isinstance(self._dataset, tf.data.Dataset):
            flat = tf.nest.flatten(self._dataset.element_spec)
            _check("TFDatasetInput", flat, input_signature)
        else:
            source = Source(self._dataset, _PREFETCH, Signature.from_specs(input_signature))
            self._dataset = SourceDataset(source, Mode())

    def _get_input_tensors(self) -> list[tf.Tensor]:
        self._require_setup()
        key = ("dataset iterator", id(self))
        iterator = keep_with(v1.get_default_graph(), key, self._make_iterator)
        tensors: list[tf.Tensor] = tf.nest.flatten(iterator.get_next())
        for tensor, spec in zip(tensors, self._specs):
            tensor.set_shape(spec.shape)
        return tensors

    def _make_iterator(self) -> Any:
        with self.cached_name_scope(), tf.device("/cpu:0"):
            return v1.data.make_initializable_iterator(self._graph_dataset())

    def _graph_dataset(self) -> tf.data.Dataset:
        """The dataset, taken over into the graph where it was made eagerly."""
        dataset = self._dataset
        if isinstance(dataset, SourceDataset) or not hasattr(dataset._variant_tensor, "numpy"):
            return dataset
        spec = dataset.element_spec
        source = Source(lambda: dataset.as_numpy_iterator(), _PREFETCH,
                        Signature.from_specs(spec))
        return SourceDataset(source, Mode())

    def _get_callbacks(self) -> Sequence[Any]:
        return [_Initialize(self)]

    def _reset_state(self) -> None:
        key = ("dataset iterator", id(self))
        iterator = keep_with(v1.get_default_graph(), key, self._make_iterator)
        v1.get_default_session().run(iterator.initializer)

    def _size(self) -> int:
        if isinstance(self._dataset, SourceDataset):
            return len(self._dataset)
        size = tf.data.UNKNOWN_CARDINALITY
        if hasattr(self._dataset._variant_tensor, "numpy"):
            with tf.__internal__.eager_context.eager_mode():  # it was made in it
                size = int(self._dataset.cardinality())
        return super()._size() if size < 0 else size


class _Initialize(SessionRunHook):
    def __init__(self, source: TFDatasetInput) -> None:
        self._source = source

    def after_create_session(self, session: Any, coord: Any) -> None:
        with session.as_default():
            self._source.reset_state()


def _check(who: str, tensors: Sequence[Any], specs: Sequence[tf.TensorSpec]) -> None:
    if len(tensors) != len(specs):
        raise ValueError(say(who, expected=f"{len(specs)} components, as in the signature",
                             received=f"{len(tensors)}", do="Give one for each input."))
    for i, (tensor, spec) in enumerate(zip(tensors, specs)):
        shape = tf.TensorShape(tensor.shape)
        if tensor.dtype.base_dtype != spec.dtype or not shape.is_compatible_with(spec.shape):
            raise ValueError(say(
                f"{who}, input {spec.name or i!r}",
                expected=f"{spec.dtype.name} {spec.shape}",
                received=f"{tensor.dtype.name} {shape}", do="Cast or reshape it."))
