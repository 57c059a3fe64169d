# SPDX-License-Identifier: Apache-2.0
"""QueueInput: tensorpack's input queue, which is a ``tf.data.Dataset`` here."""

from __future__ import annotations


from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import DataFlow
from ..engine.dataset import SourceDataset
from ..engine.graph import GraphIterator, keep_with
from ..engine.meter import Meter
from ..engine.signature import Signature
from ..engine.source import Source
from ..engine.staging import DeviceGraphIterator, devices_of
from ..engine.stream import Mode
from ..engine.workers import WorkerSource
from ..utils.errors import say
from .input_source_base import InputSource, SessionRunHook
from .user_queue import QueueSettings, settings_of

__all__ = ["BatchQueueInput", "FeedfreeInput", "QueueInput"]

v1 = tf.compat.v1


class FeedfreeInput(InputSource):
    """An input source that needs no feeds: its tensors bring their own data."""


class QueueInput(FeedfreeInput, SourceDataset):
    """A dataflow read ahead into a queue, usable wherever TensorFlow takes data.

    It is an input source with tensorpack's API, for graphs and sessions, and a
    ``tf.data.Dataset`` for everything else: eager loops, ``tf.function``, ``model.fit``. Nothing
    of TensorFlow is made, and no datapoint is read, before it is first used.

    As an input source and for Keras with ``steps_per_epoch`` the data has no end: the dataflow
    is iterated again and again, without a pause between. Otherwise an iteration is one pass.

    A producer's exception comes out where the data is consumed, with its own type and traceback.

    Args:
        ds: a DataFlow; also real tensorpack's, a generator function, or an iterable. A datapoint
            is a list, tuple or dict of components: arrays, numbers, strings; tuples and dicts
            nest.
        queue: None, or a ``tf.queue.FIFOQueue`` or ``RandomShuffleQueue``, whose capacity, dtypes,
            shapes and ``min_after_dequeue`` are taken over; the queue itself is not used.
        size: how many datapoints wait in the queue at most (default 50).
        workers: processes that run the dataflow beside each other, each with other random numbers;
            a pass is ``len(ds)`` datapoints of all of them. 0: a thread of this process. A list
            of DataFlows as ``ds`` gives each a worker, and a pass is one pass over each.
        on: ``"ray"`` runs the workers as actors of Ray, on all machines of its cluster; the
            optional package ``ray``. By default they are processes of this machine.
        device: where the next datapoint waits, e.g. ``/gpu:0``. Several: an eager iteration gives
            tuples, with a datapoint on each device; in a graph, the k-th call of
            ``get_input_tensors`` gets the k-th device's, and the hook of ``get_callbacks()`` (or
            ``refill_queue()``) must run once at the start.
        signature: ``tf.TensorSpec`` nested as the datapoints are. By default it is read off the
            first datapoint, which is not lost; its batch dimension is left open.

    Example:
        >>> import numpy as np
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> df = DataFromList([[np.ones(3, "float32"), i] for i in range(4)], shuffle=False)
        >>> [int(label) for image, label in QueueInput(df)]
        [0, 1, 2, 3]
    """

    def __init__(self, ds: Any, queue: Any = None, *, size: int | None = None, workers: int = 0,
                 on: str | None = None, device: Any = None, signature: Any = None) -> None:
        settings = settings_of(queue) if queue is not None else QueueSettings()
        capacity = _capacity(size, settings)
        given = signature if signature is not None else settings.signature
        source = _source(ds, workers, on, capacity,
                         None if given is None else Signature.from_specs(given),
                         settings.dtypes if given is None else None)
        SourceDataset.__init__(self, source, self._first_mode(), devices_of(device),
                               settings.build)
        self._eager: Any = None

    def _first_mode(self) -> Mode:
        return Mode()

    @property
    def ds(self) -> Any:
        """The dataflow."""
        return self._source.dataflow

    @property
    def queue(self) -> Meter:
        """The queue's state: see ``meter``. The TensorFlow queue of old is no more."""
        return self.meter

    # ---- an input source

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        self._source.set_signature(Signature.from_specs(input_signature))

    def _get_input_tensors(self) -> list[tf.Tensor]:
        if tf.executing_eagerly():
            raise RuntimeError(say(
                "get_input_tensors()", expected="a graph", received="eager mode",
                do="Iterate over the QueueInput, or call dequeue(); or build under "
                   "with tf.Graph().as_default()."))
        tensors: list[tf.Tensor] = self._iterator().get_next()
        return tensors

    def _iterator(self) -> Any:
        """The one iterator of the current graph; all towers draw from it."""
        graph = v1.get_default_graph()
        if getattr(graph, "building_function", False):
            with tf.init_scope():
                return self._iterator()
        keep_with(graph, ("source", id(self)), lambda: self)
        return keep_with(graph, ("iterator", id(self)), self._make_iterator)

    def _make_iterator(self) -> Any:
        mode = Mode(True, self._mode.group, self._mode.drop_remainder)
        with self.cached_name_scope():
            if len(self._devices) > 1:
                return DeviceGraphIterator(self._build(self._source, mode), self._devices)
            return GraphIterator(self._source, mode, self._build, self._devices)

    def dequeue(self) -> Any:
        """The next datapoint.

        In a graph: tensors, nested as the datapoints are; each ``session.run`` of them gives
        another datapoint. The same tensors at each call, so that a loop does not grow the graph.
        Eagerly and in a ``tf.function``: another datapoint at each call.
        """
        graph = v1.get_default_graph()
        if tf.executing_eagerly():
            return _listed(next(self._eager_iterator()))
        if getattr(graph, "building_function", False):
            with tf.init_scope():
                eager = self._eager_iterator() if tf.executing_eagerly() else None
            return _listed(next(eager)) if eager is not None else self._nested()
        return keep_with(graph, ("dequeue", id(self)), self._nested)

    def _nested(self) -> Any:
        tensors = self._iterator().get_next()
        return _listed(self._source.signature.pack(tensors))

    def _eager_iterator(self) -> Any:
        if self._eager is None:
            self._eager = iter(self.repeat())
        return self._eager

    def refill_queue(self) -> None:
        """Throw away what waits, and start a new pass: the next datapoint is its first.

        In a graph it must run under a default session.

        Raises:
            RuntimeError: without one.
        """
        self._eager = None
        if tf.executing_eagerly():
            return
        session = v1.get_default_session()
        if session is None:
            raise RuntimeError(say("refill_queue()", expected="a default session",
                                   received="none", do="Call it under with session.as_default()."))
        session.run(self._iterator().initializer)

    def _reset_state(self) -> None:
        self.refill_queue()

    def size(self) -> int:
        """Elements in one pass over the dataflow.

        Raises:
            TypeError: where the dataflow does not know its length.
        """
        return len(self)

    def stop(self) -> None:
        """End the producers now; going out of use does it as well."""
        self._eager = None
        self._source.stop()

    def _get_callbacks(self) -> Sequence[Any]:
        return [_Initialize(self)] if len(self._devices) > 1 else []


class _Initialize(SessionRunHook):
    """Starts the iterator over several devices, which TensorFlow does not start by itself."""

    def __init__(self, source: QueueInput) -> None:
        self._source = source

    def after_create_session(self, session: Any, coord: Any) -> None:
        with session.as_default():
            self._source.refill_queue()


class BatchQueueInput(QueueInput):
    """A queue of single datapoints, consumed in batches.

    Args:
        ds: gives single datapoints.
        batch_size: datapoints in a batch. A last, smaller batch is dropped.
        queue: as for QueueInput; its dtypes and shapes are those of a single datapoint.
        size: how many datapoints wait at most; by default 3000, as tensorpack had it.
        workers, on, device: as for QueueInput.
        signature: of a single datapoint. That given to ``setup`` is that of a batch.
    """

    def __init__(self, ds: Any, batch_size: int, queue: Any = None, *, size: int | None = None,
                 workers: int = 0, on: str | None = None, device: Any = None,
                 signature: Any = None) -> None:
        self.batch_size = _whole("BatchQueueInput", "batch_size", batch_size, 1)
        if size is None and queue is None:
            size = 3000
        super().__init__(ds, queue, size=size, workers=workers, on=on, device=device,
                         signature=signature)

    def _first_mode(self) -> Mode:
        return Mode(group=self.batch_size, drop_remainder=True)

    def _setup(self, input_signature: list[tf.TensorSpec]) -> None:
        for spec in input_signature:
            if spec.shape.rank and spec.shape[0] not in (None, self.batch_size):
                raise ValueError(say(
                    f"BatchQueueInput, input {spec.name!r}",
                    expected=f"a first dimension of {self.batch_size} or None",
                    received=f"shape {spec.shape}", do="Leave the batch dimension open."))
        self._source.set_signature(Signature.from_specs(input_signature).unbatched())


def _listed(element: Any) -> Any:
    """tensorpack's flat datapoints are lists."""
    return list(element) if type(element) is tuple else element


def _source(ds: Any, workers: int, on: str | None, capacity: int, signature: Signature | None,
            dtypes: Any) -> Source:
    several = isinstance(ds, (list, tuple)) and bool(ds) and all(_is_dataflow(d) for d in ds)
    count = _whole("QueueInput", "workers", workers, 0)
    if on not in (None, "ray") or (on and not several and not count):
        raise ValueError(say("QueueInput", expected="on=None, or on='ray' with workers",
                             received=f"on={on!r}, workers={count}", do="Pass e.g. workers=4."))
    if several:
        if count not in (0, len(ds)):
            raise ValueError(say("QueueInput", expected=f"workers={len(ds)}, one a dataflow, or 0",
                                 received=count, do="Leave workers out."))
        return WorkerSource(ds, capacity, shared=False, signature=signature, dtypes=dtypes, on=on)
    if count:
        return WorkerSource([ds] * count, capacity, shared=True, signature=signature,
                            dtypes=dtypes, on=on)
    return Source(ds, capacity, signature, dtypes)


def _is_dataflow(obj: Any) -> bool:
    return isinstance(obj, DataFlow) or (hasattr(obj, "reset_state") and hasattr(obj, "__iter__"))


def _capacity(size: int | None, settings: QueueSettings) -> int:
    return _whole("QueueInput", "size", settings.capacity if size is None else size, 1)


def _whole(who: str, name: str, value: Any, least: int) -> int:
    try:
        number = int(value)
        valid = number == value and number >= least and not isinstance(value, bool)
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(say(who, expected=f"{name}: an int of at least {least}",
                             received=repr(value), do="Pass a whole number."))
    return number
