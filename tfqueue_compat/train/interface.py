# SPDX-License-Identifier: Apache-2.0
"""Trains as a TrainConfig says."""

from __future__ import annotations

from typing import Any

from ..dataflow.base import as_dataflow
from ..input_source.feed import FeedInput
from ..input_source.input_source_base import InputSource
from ..input_source.queue import FeedfreeInput, QueueInput
from ..input_source.staging import StagingInput
from ..input_source.tensor import DummyConstantInput
from ..utils import logger
from ..utils.errors import say
from .config import DEFAULT_CALLBACKS, DEFAULT_MONITORS, TrainConfig
from .tower import SingleCostTrainer

__all__ = ["apply_default_prefetch", "launch_train_with_config", "logger"]


def apply_default_prefetch(input_source_or_dataflow: Any, trainer: Any) -> InputSource:
    """Return an input source that suits the trainer.

    A dataflow is fed to a SimpleTrainer, and put behind a queue for any other. For several
    towers the queue's data is moved to them a step ahead.

    Args:
        input_source_or_dataflow: an InputSource, or a DataFlow.
        trainer: who trains.
    """
    from .trainers import SimpleTrainer  # that module comes to need this one

    source = input_source_or_dataflow
    if not isinstance(source, InputSource):
        dataflow = as_dataflow(source, "launch_train_with_config")
        if type(trainer) is SimpleTrainer:
            source = FeedInput(dataflow)
        else:
            logger.info("The DataFlow is put behind a QueueInput.")
            source = QueueInput(dataflow)
    if len(getattr(trainer, "devices", ())) > 1 and isinstance(source, FeedfreeInput) \
            and not isinstance(source, DummyConstantInput):
        logger.info("The input is staged for each tower.")
        source = StagingInput(source)
    return source


def launch_train_with_config(config: TrainConfig, trainer: Any = None) -> None:
    """Build the training graph of ``config.model`` and train.

    Args:
        config: what to train.
        trainer: a SingleCostTrainer; by default one for the config's towers.

    Raises:
        Exception: what the dataflow, a callback or a step raised.

    Example:
        ``launch_train_with_config(TrainConfig(model=Model(), dataflow=df), SimpleTrainer())``
    """
    if not isinstance(config, TrainConfig):
        raise TypeError(say("launch_train_with_config", expected="a TrainConfig",
                            received=repr(config), do="Pass TrainConfig(...)."))
    if trainer is None:
        from .trainers import SyncMultiGPUTrainer  # that module comes to need this one
        trainer = SyncMultiGPUTrainer(config.tower)
    if not isinstance(trainer, SingleCostTrainer):
        what = f"the class {trainer.__name__}" if isinstance(trainer, type) else repr(trainer)
        raise TypeError(say("launch_train_with_config", expected="a SingleCostTrainer",
                            received=what, do="Pass e.g. SimpleTrainer(), or call your own "
                            "trainer's train()."))
    with trainer.in_graph():
        _launch(config, trainer)


def _launch(config: TrainConfig, trainer: SingleCostTrainer) -> None:
    model = config.model
    steps_per_epoch = config.steps_per_epoch
    source = apply_default_prefetch(config.dataflow if config.data is None else config.data,
                                    trainer)
    trainer.setup_graph(model.get_input_signature(), source, model._build_graph_get_cost,
                        _optimizer_of(config))
    extra = DEFAULT_CALLBACKS() if config.extra_callbacks is None else config.extra_callbacks
    trainer.train([*(config.callbacks or []), *extra],
                  DEFAULT_MONITORS() if config.monitors is None else config.monitors,
                  config.session_creator, config.session_init, steps_per_epoch,
                  config.starting_epoch, config.max_epoch)


def _optimizer_of(config: TrainConfig) -> Any:
    """The optimizer of the model, or the one that old configs gave."""
    if config.optimizer is None:
        return config.model.get_optimizer
    given = config.optimizer
    return given if callable(given) and not hasattr(given, "apply_gradients") else lambda: given
