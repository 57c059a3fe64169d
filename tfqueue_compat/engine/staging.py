# SPDX-License-Identifier: Apache-2.0
"""Data that waits on the device: one stream to one device, or one to each of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from ..compat.internals import (graph_device_iterator, owned_device_iterator,
                                route_session_errors)
from ..utils.errors import say
from .errors import failure_in

__all__ = ["Devices", "DeviceGraphIterator", "DeviceRounds", "devices_of", "on_device"]

Devices = tuple[str, ...]


def devices_of(device: Any) -> Devices:
    """Read ``device=``: a name, a sequence of names, or None.

    Raises:
        ValueError: for a device that TensorFlow does not see.
    """
    if device is None:
        return ()
    wanted = (device,) if isinstance(device, str) else tuple(device)
    known = [_short(d.name) for d in tf.config.list_logical_devices()]
    for name in wanted:
        if not isinstance(name, str) or _short(name) not in known:
            raise ValueError(say("QueueInput", expected=f"device: some of {known}",
                                 received=repr(name), do="Use a device that TensorFlow lists in "
                                 "tf.config.list_logical_devices()."))
    return wanted


def _short(name: str) -> str:
    kind, _, number = name.lower().replace("/device:", "/").rpartition("/")[2].partition(":")
    return f"/{kind}:{number or 0}"


def on_device(dataset: tf.data.Dataset, devices: Devices) -> tf.data.Dataset:
    """Let the next elements wait on the one device; must be the last step."""
    if len(devices) != 1:
        return dataset
    return dataset.apply(tf.data.experimental.prefetch_to_device(devices[0]))


class DeviceRounds:
    """An eager iterator of rounds: a tuple with the next element on each device.

    The last round is shorter where the data does not fill it: nothing is lost.

    Args:
        dataset: of the elements.
        devices: by name.
        owner: kept alive as long as this.
    """

    def __init__(self, dataset: tf.data.Dataset, devices: Devices, owner: Any) -> None:
        self._iterator = owned_device_iterator(dataset, devices)
        self._owner = owner

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        optionals = self._iterator.get_next_as_optional()
        there = tuple(o.get_value() for o in optionals if bool(o.has_value()))
        if not there:
            raise StopIteration
        return there


class DeviceGraphIterator:
    """In a graph: each tower draws from its own device's stream, in turn.

    All devices must be drawn from equally often, as synchronous towers do. ``initializer`` must
    run first: TensorFlow has no one-shot iterator over several devices.

    Args:
        dataset: of the elements.
        devices: by name, one a tower.
    """

    def __init__(self, dataset: tf.data.Dataset, devices: Devices) -> None:
        route_session_errors(tf.compat.v1.get_default_graph(), failure_in)
        self._iterator = graph_device_iterator(dataset, devices)
        self._round: list[Any] = []
        self.initializer: tf.Operation = self._iterator.initializer

    def get_next(self) -> Sequence[tf.Tensor]:
        """The tensors of the next tower, flat."""
        if not self._round:
            self._round = list(self._iterator.get_next())
        return list(tf.nest.flatten(self._round.pop(0)))
