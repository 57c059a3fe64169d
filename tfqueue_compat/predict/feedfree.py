# SPDX-License-Identifier: Apache-2.0
"""A predictor that reads its data itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.common import get_tensors_by_names
from ..tfutils.tower import PredictTowerContext
from ..utils.errors import say
from .base import PredictorBase, _require_config
from .config import PredictConfig

__all__ = ["FeedfreePredictor"]


class FeedfreePredictor(PredictorBase):
    """Predicts on the next datapoint of an input source at each call.

    Args:
        config: what to predict; its ``input_names`` don't matter, its ``return_input`` must be
            False.
        input_source: where the data comes from, e.g. a QueueInput.

    Raises:
        tf.errors.OutOfRangeError: from a call, when the input has ended.

    Example:
        >>> import numpy as np
        >>> from tfqueue_compat.dataflow import DataFromList
        >>> from tfqueue_compat.input_source import QueueInput
        >>> config = PredictConfig(
        ...     tower_func=lambda x: tf.identity(2 * x, name="twice"),
        ...     input_signature=[tf.TensorSpec([], tf.float32, "x")], output_names=["twice"])
        >>> df = DataFromList([[np.float32(3)], [np.float32(5)]], shuffle=False)
        >>> predict = FeedfreePredictor(config, QueueInput(df))
        >>> float(predict()[0]), float(predict()[0])
        (6.0, 10.0)
    """

    def __init__(self, config: PredictConfig, input_source: Any) -> None:
        _require_config("FeedfreePredictor", config)
        if config.return_input:
            raise ValueError(say("FeedfreePredictor", expected="return_input=False",
                                 received="True", do="Name the inputs in output_names."))
        self._config = config
        self._input_source = input_source
        with config._maybe_create_graph():
            self._hooks = list(input_source.setup(config.input_signature))
            with PredictTowerContext(""):
                config.tower_func(*input_source.get_input_tensors())
            self._tensors = get_tensors_by_names(config.output_names)
            config.session_init._setup_graph()
            self.sess = tf.compat.v1.train.MonitoredSession(
                session_creator=_Initialized(config), hooks=self._hooks)

    def __call__(self) -> Any:  # type: ignore[override]
        """Return the outputs for the next datapoint."""
        return self.sess.run(self._tensors)

    def _do_call(self, dp: Sequence[Any]) -> Any:
        raise NotImplementedError("FeedfreePredictor: Expected no inputs. Received some. "
                                  "Do: Call it without arguments.")


class _Initialized(tf.compat.v1.train.SessionCreator):  # type: ignore[misc]
    """The config's session, with the config's weights."""

    def __init__(self, config: PredictConfig) -> None:
        self._config = config

    def create_session(self) -> Any:
        sess = self._config.session_creator.create_session()
        self._config.session_init._run_init(sess)
        return sess
