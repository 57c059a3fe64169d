# SPDX-License-Identifier: Apache-2.0
"""Predictors on several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..graph_builder.devices import tower_device
from ..tfutils.tower import PredictTowerContext
from ..utils import logger
from ..utils.errors import say
from .base import OnlinePredictor, _require_config, new_session, placeholders
from .config import PredictConfig

__all__ = ["DataParallelOfflinePredictor", "MultiTowerOfflinePredictor", "logger"]

v1 = tf.compat.v1


class MultiTowerOfflinePredictor(OnlinePredictor):
    """A predictor for each of several GPUs, in one graph and session; itself it is the first.

    Args:
        config: what to predict.
        towers: GPU numbers.

    Attributes:
        predictors: one for each tower.
    """

    def __init__(self, config: PredictConfig, towers: Sequence[int]) -> None:
        _require_config(type(self).__name__, config)
        numbers = _numbers(type(self).__name__, towers)
        self.predictors: list[OnlinePredictor] = []
        with config._maybe_create_graph():
            handles = [_build(config, index, number, placeholders(config.input_signature))
                       for index, number in enumerate(numbers)]
            sess = new_session(config)
            for handle in handles:
                self.predictors.append(OnlinePredictor(
                    handle.get_tensors(config.input_names),
                    handle.get_tensors(config.output_names), config.return_input, sess))
        first = self.predictors[0]
        super().__init__(first.input_tensors, first.output_tensors, config.return_input, sess)

    def get_predictor(self, n: int) -> OnlinePredictor:
        """Return the predictor of the ``n``-th tower, counted round and round."""
        if n >= len(self.predictors):
            logger.warning("There are %d towers: predictor %d is that of tower %d.",
                           len(self.predictors), n, n % len(self.predictors))
        return self.predictors[n % len(self.predictors)]

    def get_predictors(self) -> list[OnlinePredictor]:
        """Return the predictors of all towers."""
        return self.predictors


class DataParallelOfflinePredictor(OnlinePredictor):
    """One predictor on several GPUs: a call takes and returns the values of all towers.

    It takes all inputs of the first tower, then all of the second, and so on; so it returns
    outputs.

    Args:
        config: what to predict.
        towers: GPU numbers.
    """

    def __init__(self, config: PredictConfig, towers: Sequence[int]) -> None:
        _require_config(type(self).__name__, config)
        inputs: list[Any] = []
        outputs: list[Any] = []
        with config._maybe_create_graph():
            for index, number in enumerate(_numbers(type(self).__name__, towers)):
                feeds = [v1.placeholder(s.dtype, s.shape, f"tower{number}/{s.name}")
                         for s in config.input_signature]
                handle = _build(config, index, number, feeds)
                inputs.extend(handle.get_tensors(config.input_names))
                outputs.extend(handle.get_tensors(config.output_names))
            super().__init__(inputs, outputs, config.return_input, new_session(config))


def _numbers(who: str, towers: Any) -> list[int]:
    numbers = list(range(towers)) if isinstance(towers, int) else [int(t) for t in towers]
    if not numbers or len(set(numbers)) != len(numbers):
        raise ValueError(say(who, expected="GPU numbers, each once", received=repr(towers),
                             do="Pass e.g. [0, 1]."))
    return numbers


def _build(config: PredictConfig, index: int, number: int, feeds: Sequence[Any]) -> Any:
    """Build a tower, and return its handle; all share the first one's variables."""
    name = f"tower{number}"
    with v1.variable_scope(v1.get_variable_scope(), reuse=True if index else None,
                           auxiliary_name_scope=False), \
            v1.device(tower_device(number)), PredictTowerContext(name):
        config.tower_func(*feeds)
    return config.tower_func.towers[name]
