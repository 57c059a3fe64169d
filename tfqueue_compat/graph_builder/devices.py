# SPDX-License-Identifier: Apache-2.0
"""Where towers, variables and their copies live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from ..tfutils.varreplace import custom_getter_scope

__all__ = ["LeastLoadedDeviceSetter", "OverrideCachingDevice", "override_to_local_variable",
           "tower_device"]

v1 = tf.compat.v1
_VARIABLE_OPS = frozenset({"Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp",
                           "MutableHashTable", "MutableHashTableV2"})


def tower_device(index: int) -> str:
    """Return the device of the tower on GPU ``index``.

    Without any GPU that is the logical CPU of the index, where the process or the session has
    one, and otherwise, by soft placement, the only CPU.
    """
    if tf.config.list_physical_devices("GPU"):
        return f"/gpu:{index}"
    return f"/cpu:{index}"


@contextmanager
def override_to_local_variable(enable: bool = True) -> Iterator[None]:
    """Keep variables made in the block local: they aren't saved.

    Args:
        enable: False to change nothing.
    """
    if not enable:
        yield
        return

    def local(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        keys = list(kwargs.get("collections") or [v1.GraphKeys.GLOBAL_VARIABLES])
        kwargs["collections"] = [v1.GraphKeys.LOCAL_VARIABLES
                                 if k == v1.GraphKeys.GLOBAL_VARIABLES else k for k in keys]
        return getter(name, *args, **kwargs)

    with custom_getter_scope(local):
        yield


class LeastLoadedDeviceSetter:
    """A device function: each variable goes to the device that holds the least so far.

    Args:
        worker_device: of everything that is no variable.
        ps_devices: of the variables.

    Example:
        >>> setter = LeastLoadedDeviceSetter("/gpu:0", ["/gpu:0", "/gpu:1"])
        >>> with tf.Graph().as_default(), tf.compat.v1.device(setter):
        ...     a = tf.compat.v1.get_variable("a", [9])
        ...     b = tf.compat.v1.get_variable("b", [4])
        >>> a.device[-1], b.device[-1]
        ('0', '1')
    """

    def __init__(self, worker_device: str, ps_devices: Sequence[str]) -> None:
        self.worker_device = worker_device
        self.ps_devices = list(ps_devices)
        self.ps_sizes = [0] * len(self.ps_devices)

    def place_with_balance(self, op: Any) -> str:
        """Return the device for a variable's operation, and count its bytes there."""
        index = int(np.argmin(self.ps_sizes))
        self.ps_sizes[index] += _bytes(op)
        return self.ps_devices[index]

    def __call__(self, op: Any) -> str:
        """Return the device of an operation; one that it has already wins."""
        if op.device:
            return str(op.device)
        return self.place_with_balance(op) if op.type in _VARIABLE_OPS else self.worker_device

    def __str__(self) -> str:
        return f"LeastLoadedDeviceSetter-{self.worker_device}"


def _bytes(op: Any) -> int:
    try:
        shape = tf.TensorShape(op.get_attr("shape"))
        dtype = tf.as_dtype(op.get_attr("dtype"))
    except ValueError:
        return 0
    return int(shape.num_elements() or 0) * int(dtype.size)


class OverrideCachingDevice:
    """A variable getter that lets each variable be read from a cache on one of the devices.

    Args:
        devices: of the caches of large variables; the least loaded one is taken.
        device_for_small_variables: of the others.
        small_variable_size_threshold: elements below which a variable is small.
    """

    def __init__(self, devices: Sequence[str], device_for_small_variables: str,
                 small_variable_size_threshold: int) -> None:
        self.devices = list(devices)
        self.sizes = [0] * len(self.devices)
        self.device_for_small_variables = device_for_small_variables
        self.small_variable_size_threshold = small_variable_size_threshold

    def __call__(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Make the variable with a ``caching_device``."""
        size = tf.TensorShape(kwargs["shape"]).num_elements()
        if size is None or not kwargs.get("trainable", True):
            return getter(*args, **kwargs)
        if size < self.small_variable_size_threshold:
            device = self.device_for_small_variables
        else:
            index = int(np.argmin(self.sizes))
            self.sizes[index] += size
            device = self.devices[index]
        kwargs["caching_device"] = device
        return getter(*args, **kwargs)
