# SPDX-License-Identifier: Apache-2.0
"""Callbacks that run operations of the graph, or look at its tensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..engine.hooks import Callback
from ..tfutils.common import get_op_tensor_name
from ..utils import logger
from ..utils.errors import near, require, say

__all__ = ["CheckNumerics", "DumpParamAsImage", "DumpTensor", "DumpTensorAsImage", "DumpTensors",
           "ProcessTensors", "RunOp", "RunUpdateOps"]

v1 = tf.compat.v1


class RunOp(Callback):
    """Runs an operation of the graph.

    Args:
        op: the operation, or a function that makes it; called when the model has been built.
        run_before: run it before training.
        run_as_trigger: run it at each ``trigger()``, so by default after each epoch.
        run_step: run it with each step.
        verbose: log when it runs.

    Example:
        .. code-block:: python

            RunOp(lambda: tf.group(*copies), run_before=True, run_as_trigger=True)
    """

    _chief_only = False

    def __init__(self, op: Any, run_before: bool = True, run_as_trigger: bool = True,
                 run_step: bool = False, verbose: bool = False) -> None:
        self.setup_func = op if callable(op) else lambda: op
        self.run_before, self.run_as_trigger = run_before, run_as_trigger
        self.run_step, self.verbose = run_step, verbose
        self._op: Any = None

    def _setup_graph(self) -> None:
        self._op = self.setup_func()
        if self._op is None:
            raise TypeError(say("RunOp", expected="an operation, or a function that returns one",
                                received="None", do="Return the operation from the function."))

    def _run(self) -> None:
        self._print()
        v1.get_default_session().run(self._op)

    def _before_train(self) -> None:
        if self.run_before:
            self._run()

    def _trigger(self) -> None:
        if self.run_as_trigger:
            self._run()

    def _before_run(self, ctx: Any) -> Any:
        if not self.run_step:
            return None
        self._print()
        return v1.train.SessionRunArgs(fetches=self._op)

    def _hears(self, *events: str) -> bool:
        if "before_run" in events and type(self)._before_run is RunOp._before_run \
                and not self.run_step:
            return False
        return super()._hears(*events)

    def _print(self) -> None:
        if self.verbose:
            logger.info("Running Op %s ...", getattr(self._op, "name", self._op))


class RunUpdateOps(RunOp):
    """Runs the operations of a collection with each step, e.g. the updates of BatchNorm.

    Args:
        collection: name of the collection; by default ``tf.GraphKeys.UPDATE_OPS``.
    """

    def __init__(self, collection: str | None = None) -> None:
        self._key = v1.GraphKeys.UPDATE_OPS if collection is None else collection
        super().__init__(self._group, run_before=False, run_as_trigger=False, run_step=True)

    def _group(self) -> Any:
        ops = v1.get_collection(self._key)
        self.run_step = bool(ops)
        if not ops:
            return tf.no_op(name="empty_update_ops")
        logger.info("Applying collection %s of %d ops.", self._key, len(ops))
        return tf.group(*ops, name="update_ops")


class CheckNumerics(RunOp):
    """Looks for NaN and Inf in the trainable variables, and ends training where it finds any.

    Args:
        run_as_trigger: as for ``RunOp``.
        run_step: as for ``RunOp``.

    Raises:
        tf.errors.InvalidArgumentError: in training; it names the variable.
    """

    _chief_only = True

    def __init__(self, run_as_trigger: bool = True, run_step: bool = False) -> None:
        super().__init__(self._get_op, run_as_trigger=run_as_trigger, run_step=run_step)

    def _get_op(self) -> Any:
        checks = [tf.debugging.check_numerics(v, f"CheckNumerics: the variable '{v.op.name}'").op
                  for v in v1.trainable_variables() if v.dtype.base_dtype.is_floating]
        return tf.group(*checks, name="check")


class ProcessTensors(Callback):
    """Fetches tensors with each step, and hands them to a function.

    Args:
        names: names of tensors.
        fn: called with their values, one argument each.

    Example:
        .. code-block:: python

            ProcessTensors(["cost"], lambda cost: costs.append(cost))
    """

    def __init__(self, names: str | Sequence[str], fn: Callable[..., Any]) -> None:
        self._names = [names] if isinstance(names, str) else list(names)
        self._fn = fn
        self._fetch: Any = None

    def _setup_graph(self) -> None:
        names = [get_op_tensor_name(name)[1] for name in self._names]
        self._fetch = v1.train.SessionRunArgs(fetches=self.get_tensors_maybe_in_tower(names))

    def _before_run(self, ctx: Any) -> Any:
        return self._fetch

    def _after_run(self, run_context: Any, run_values: Any) -> None:
        self._fn(*run_values.results)


class DumpTensors(ProcessTensors):
    """Writes tensors to ``DumpTensor-<global_step>.npz`` in the log directory, with each step.

    Read it with ``dict(np.load(filename))``.

    Args:
        names: names of tensors; the keys in the file.
    """

    def __init__(self, names: str | Sequence[str]) -> None:
        super().__init__(names, self._dump)

    def _dump(self, *values: Any) -> None:
        path = os.path.join(_log_dir("DumpTensors"), f"DumpTensor-{self.global_step}.npz")
        np.savez(path, **dict(zip(self._names, values)))


DumpTensor = DumpTensors


class DumpTensorAsImage(Callback):
    """Writes a tensor as an image to the log directory, each time it is triggered.

    The tensor is evaluated by itself: a variable, or something that draws its own data. Files are
    named ``<prefix>-ep<epoch>.png``; of several images the k-th is ``<prefix>-ep<epoch>-<k>.png``
    from 1 on. A single image goes to the monitors, too.

    Args:
        tensor_name: name of the tensor or variable.
        prefix: start of the file's name; by default the tensor's, with ``-`` for ``/``.
        map_func: makes an image of the value, or a list of images: (height, width) or (height,
            width, channel) in BGR order.
        scale: factor on the pixels, after ``map_func``.
    """

    def __init__(self, tensor_name: str, prefix: str | None = None,
                 map_func: Callable[[Any], Any] | None = None, scale: float = 255) -> None:
        op_name, self.tensor_name = get_op_tensor_name(tensor_name)
        self.prefix = op_name.replace("/", "-") if prefix is None else prefix
        self.func = map_func
        self.scale = scale
        require("cv2", "opencv-python-headless", type(self).__name__)
        _log_dir(type(self).__name__)
        self._tensor: Any = None

    def _setup_graph(self) -> None:
        self._tensor = self.get_tensors_maybe_in_tower([self.tensor_name])[0]
        if self._tensor.dtype == tf.resource:
            name = self._tensor.op.name
            self._tensor = variable_named("DumpTensorAsImage", name)

    def _trigger(self) -> None:
        value = v1.get_default_session().run(self._tensor)
        image = value if self.func is None else self.func(value)
        if isinstance(image, (list, tuple)) or np.ndim(image) == 4:
            for k, one in enumerate(image):
                self._dump_image(np.asarray(one), f"-{k}" if k else "")
        else:
            self.trainer.monitors.put_image(
                self.prefix, self._dump_image(np.asarray(image)))

    def _dump_image(self, image: np.ndarray, which: str = "") -> np.ndarray:
        if image.ndim not in (2, 3):
            raise ValueError(say(f"{type(self).__name__}({self.tensor_name!r})",
                                 expected="an image of (height, width) or (height, width, channel)",
                                 received=f"the shape {image.shape}",
                                 do="Pass a map_func that makes one of it."))
        name = f"{self.prefix}-ep{self.epoch_num:03d}{which}.png"
        pixels = np.clip(image * self.scale, 0, 255).astype("uint8")
        cv2 = require("cv2", "opencv-python-headless", type(self).__name__)
        cv2.imwrite(os.path.join(_log_dir(type(self).__name__), name), pixels)
        return pixels


DumpParamAsImage = DumpTensorAsImage


def variable_named(who: str, name: str) -> Any:
    """Return the variable of this name in the current graph.

    Args:
        who: asks; named in the error.
        name: with or without ``:0``.

    Raises:
        ValueError: where there is none; near names are suggested.
    """
    name = get_op_tensor_name(name)[0]
    there = {v.op.name: v for v in (*v1.global_variables(), *v1.local_variables())}
    if name not in there:
        raise ValueError(say(who, expected="the name of a variable in the graph",
                             received=repr(name),
                             do="Make it with tf.get_variable in the model." + near(name, there)))
    return there[name]


def _log_dir(who: str) -> str:
    return log_dir_of(who, None)


def log_dir_of(who: str, given: str | os.PathLike[str] | None) -> str:
    """Return ``given``, or else the log directory.

    Raises:
        ValueError: where there is neither.
    """
    found = logger.get_logger_dir() if given is None else os.fspath(given)
    if found is None:
        raise ValueError(say(who, expected="a log directory to write to", received="none",
                             do="Call logger.set_logger_dir(dir) or logger.auto_set_dir() first."))
    return found
