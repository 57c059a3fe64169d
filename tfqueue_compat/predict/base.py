# SPDX-License-Identifier: Apache-2.0
"""Predictors: a model as a function of arrays."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import tensorflow as tf

from ..tfutils.common import get_tensors_by_names
from ..tfutils.tower import PredictTowerContext
from ..utils.errors import say
from .config import PredictConfig

__all__ = ["AsyncPredictorBase", "OfflinePredictor", "OnlinePredictor", "PredictorBase",
           "get_predict_func"]

v1 = tf.compat.v1


class PredictorBase(metaclass=ABCMeta):
    """A function from a datapoint's components to a list of arrays.

    Attributes:
        return_input: whether a call returns ``(inputs, outputs)`` instead of the outputs.
    """

    return_input = False

    def __call__(self, *dp: Any) -> Any:
        """Predict.

        Args:
            *dp: a value for each input.

        Returns:
            A list with an array for each output.
        """
        output = self._do_call(dp)
        return (dp, output) if self.return_input else output

    @abstractmethod
    def _do_call(self, dp: Sequence[Any]) -> Any:
        """Return the outputs of a datapoint."""


class AsyncPredictorBase(PredictorBase):
    """A predictor that answers later."""

    @abstractmethod
    def put_task(self, dp: Sequence[Any], callback: Callable[[Future[Any]], Any] | None = None,
                 ) -> Future[Any]:
        """Ask for a prediction.

        Args:
            dp: a value for each input.
            callback: called with the future when it is done.

        Returns:
            A future of the outputs.
        """

    @abstractmethod
    def start(self) -> None:
        """Begin to work."""

    def _do_call(self, dp: Sequence[Any]) -> Any:
        return self.put_task(dp).result()


class OnlinePredictor(PredictorBase):
    """A predictor from tensors to tensors of a graph that is there already.

    Args:
        input_tensors: what is fed.
        output_tensors: what is returned.
        return_input: whether a call returns ``(inputs, outputs)``.
        sess: the session; by default the default session at the first call.

    Attributes:
        sess: the session, once it is known.
        graph: of the tensors.
    """

    #: Whether a call takes RunOptions and RunMetadata after the inputs.
    ACCEPT_OPTIONS = False

    def __init__(self, input_tensors: Sequence[Any], output_tensors: Sequence[Any],
                 return_input: bool = False, sess: Any = None) -> None:
        self.input_tensors = list(input_tensors)
        self.output_tensors = list(output_tensors)
        self.return_input = return_input
        self.sess = sess
        self.graph = (self.output_tensors or self.input_tensors)[0].graph
        self._callable: tuple[Any, Any] | None = None

    def _do_call(self, dp: Sequence[Any]) -> Any:
        inputs = len(self.input_tensors)
        options = dp[inputs:] if self.ACCEPT_OPTIONS else ()
        if len(dp) - len(options) != inputs:
            raise TypeError(say(type(self).__name__, expected=f"{inputs} inputs: "
                                f"{[t.op.name for t in self.input_tensors]}",
                                received=f"{len(dp)}", do="Pass a value for each."))
        feeds = [_array(t, value) for t, value in zip(self.input_tensors, dp)]
        return self._runner()(*feeds, *options)

    def _runner(self) -> Any:
        sess = self.sess or v1.get_default_session()
        if sess is None:
            raise RuntimeError(say(type(self).__name__, expected="a session", received="none",
                                   do="Use it in training, or under `with sess.as_default()`."))
        if self._callable is None or self._callable[0] is not sess:
            self._callable = (sess, sess.make_callable(
                fetches=self.output_tensors, feed_list=self.input_tensors,
                accept_options=self.ACCEPT_OPTIONS))
        return self._callable[1]


def _array(tensor: Any, value: Any) -> Any:
    """A value as an array that the tensor takes; the error says for which input it does not."""
    try:
        array = np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
    except (TypeError, ValueError) as e:
        raise TypeError(say(f"input {tensor.op.name!r}", expected=f"{tensor.dtype.name} "
                            f"{tensor.shape}", received=f"{type(value).__name__}: {e}",
                            do="Convert it.")) from e
    if not tensor.shape.is_compatible_with(array.shape):
        raise ValueError(say(f"input {tensor.op.name!r}", expected=f"shape {tensor.shape}",
                             received=f"{array.shape}", do="Reshape it, or add the batch "
                             "dimension, e.g. image[None]."))
    return array


class OfflinePredictor(OnlinePredictor):
    """A predictor with a graph and a session of its own.

    Args:
        config: what to predict.

    Example:
        >>> predict = OfflinePredictor(PredictConfig(
        ...     tower_func=lambda x: tf.identity(2 * x, name="twice"),
        ...     input_signature=[tf.TensorSpec([], tf.float32, "x")], output_names=["twice"]))
        >>> float(predict(4)[0])
        8.0
    """

    def __init__(self, config: PredictConfig) -> None:
        _require_config(type(self).__name__, config)
        with config._maybe_create_graph():
            with PredictTowerContext(""):
                config.tower_func(*placeholders(config.input_signature))
            inputs = get_tensors_by_names(config.input_names)
            outputs = get_tensors_by_names(config.output_names)
            super().__init__(inputs, outputs, config.return_input, new_session(config))


def _require_config(who: str, config: Any) -> None:
    if not isinstance(config, PredictConfig):
        raise TypeError(say(who, expected="a PredictConfig", received=repr(config),
                            do="Pass PredictConfig(model=..., output_names=[...])."))


def placeholders(signature: Sequence[Any]) -> list[Any]:
    """Return the current graph's placeholders of these names; make those that are not there."""
    return [_placeholder(spec) for spec in signature]


def _placeholder(spec: Any) -> Any:
    graph = v1.get_default_graph()
    try:
        tensor = graph.get_tensor_by_name(f"{spec.name}:0")
    except KeyError:
        with v1.name_scope(None):
            return v1.placeholder(spec.dtype, spec.shape, spec.name)
    if not tensor.op.type.startswith("Placeholder") or tensor.dtype != spec.dtype:
        raise ValueError(say(f"input {spec.name!r}", expected=f"a placeholder of {spec.dtype.name}",
                             received=f"{tensor.op.type} of {tensor.dtype.name} of that name",
                             do="Rename one of them, or use create_graph=True."))
    return tensor


def new_session(config: PredictConfig) -> Any:
    """Return a session of the current graph, with the config's weights."""
    config.session_init._setup_graph()
    sess = config.session_creator.create_session()
    config.session_init._run_init(sess)
    return sess


def get_predict_func(config: PredictConfig) -> OfflinePredictor:
    """Return an OfflinePredictor, as before 0.3."""
    return OfflinePredictor(config)
