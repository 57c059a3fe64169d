# SPDX-License-Identifier: Apache-2.0
"""A training, written down."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..callbacks.graph import RunUpdateOps
from ..callbacks.group import Callbacks
from ..callbacks.monitor import JSONWriter, ScalarPrinter, TFEventWriter
from ..callbacks.steps import ProgressBar
from ..callbacks.summary import MergeAllSummaries, MovingAverageSummary
from ..dataflow.base import as_dataflow
from ..graph_builder.model_desc import ModelDescBase
from ..input_source.input_source_base import InputSource
from ..tfutils.sesscreate import NewSessionCreator
from ..tfutils.sessinit import SaverRestore, SmartInit
from ..utils import logger
from ..utils.errors import near, say

__all__ = ["AutoResumeTrainConfig", "DEFAULT_CALLBACKS", "DEFAULT_MONITORS", "TrainConfig",
           "logger"]

#: Arguments of earlier versions -> today's, where only the name has changed.
_RENAMED = {"dataset": "dataflow", "step_per_epoch": "steps_per_epoch"}
_OLD = ("nr_tower", "tower", "predict_tower", "optimizer", "extra_arg", "extra_threads_procs")
_NAMES = ("dataflow", "data", "model", "callbacks", "extra_callbacks", "monitors",
          "session_creator", "session_config", "session_init", "starting_epoch",
          "steps_per_epoch", "max_epoch")


def DEFAULT_CALLBACKS() -> list[Any]:
    """Return new callbacks that most trainings want.

    In order: MovingAverageSummary, ProgressBar, MergeAllSummaries, RunUpdateOps.
    """
    return [MovingAverageSummary(), ProgressBar(), MergeAllSummaries(), RunUpdateOps()]


def DEFAULT_MONITORS() -> list[Any]:
    """Return new monitors that most trainings want.

    In order: TFEventWriter, JSONWriter, ScalarPrinter.
    """
    return [TFEventWriter(), JSONWriter(), ScalarPrinter()]


class TrainConfig:
    """What to train, with what, and how long.

    Args:
        dataflow: a DataFlow: it is put behind a queue.
        data: an InputSource; one of the two is needed.
        model: a ModelDesc.
        callbacks: what to do besides the steps.
        extra_callbacks: come after ``callbacks``; by default ``DEFAULT_CALLBACKS()``.
        monitors: receive the summaries; by default ``DEFAULT_MONITORS()``.
        session_creator: by default a NewSessionCreator.
        session_config: a ConfigProto for the session, where there is no ``session_creator``.
        session_init: how variables get their values: a SessionInit, or what SmartInit takes.
        starting_epoch: number of the first epoch.
        steps_per_epoch: by default the size of the data.
        max_epoch: number of the last epoch.
        **old: arguments of earlier versions: ``dataset``, ``step_per_epoch``, ``optimizer`` (where
            the model has none), ``nr_tower`` or ``tower`` (for ``SomeTrainer(config)``),
            ``predict_tower``, ``extra_threads_procs`` (callbacks), ``extra_arg``.

    Example:
        >>> from tfqueue_compat.dataflow import FakeData
        >>> from tfqueue_compat.train.model_desc import ModelDesc
        >>> config = TrainConfig(model=ModelDesc(), dataflow=FakeData([[2]], 7), max_epoch=3)
        >>> config.steps_per_epoch
        7
    """

    def __init__(self, dataflow: Any = None, data: Any = None, model: Any = None,
                 callbacks: Sequence[Any] | None = None,
                 extra_callbacks: Sequence[Any] | None = None,
                 monitors: Sequence[Any] | None = None, session_creator: Any = None,
                 session_config: Any = None, session_init: Any = None, starting_epoch: int = 1,
                 steps_per_epoch: int | None = None, max_epoch: int = 99999, **old: Any) -> None:
        _known(type(self).__name__, old)
        dataflow = _either("dataflow", dataflow, old, "dataset")
        steps_per_epoch = _either("steps_per_epoch", steps_per_epoch, old, "step_per_epoch")
        self.dataflow, self.data = _input(dataflow, data)
        self.model = _model(model)
        self.callbacks = _listed("callbacks", callbacks, old.get("extra_threads_procs"))
        self.extra_callbacks = extra_callbacks
        self.monitors = monitors
        self.session_init = _session_init(session_init)
        self.session_creator = _session_creator(session_creator, session_config)
        self.session_config = session_config
        self.starting_epoch = int(starting_epoch)
        self.max_epoch = int(max_epoch)
        self._steps = None if steps_per_epoch is None else int(steps_per_epoch)
        self._tower: list[int] | None = None
        if old.get("nr_tower") is not None:
            self.nr_tower = old["nr_tower"]
        if old.get("tower") is not None:
            self.tower = old["tower"]
        self.predict_tower = old.get("predict_tower")
        self.optimizer = old.get("optimizer")
        self.extra_arg = old.get("extra_arg")

    @property
    def steps_per_epoch(self) -> int:
        """Steps in an epoch: as given, or the size of the data."""
        if self._steps is None:
            self._steps = _size(self.dataflow if self.data is None else self.data)
        return self._steps

    @steps_per_epoch.setter
    def steps_per_epoch(self, value: int) -> None:
        self._steps = int(value)

    @property
    def tower(self) -> list[int]:
        """The GPUs that ``SomeMultiGPUTrainer(config)`` trains on; by default ``[0]``."""
        return [0] if self._tower is None else self._tower

    @tower.setter
    def tower(self, value: Any) -> None:
        self._tower = [int(t) for t in (value if isinstance(value, (list, tuple, range))
                                        else [value])]

    @property
    def nr_tower(self) -> int:
        """How many GPUs there are in ``tower``; setting it takes the first ones."""
        return len(self.tower)

    @nr_tower.setter
    def nr_tower(self, value: int) -> None:
        self._tower = list(range(int(value)))


class AutoResumeTrainConfig(TrainConfig):
    """A TrainConfig that goes on where an earlier training in the same log directory ended.

    A checkpoint found there becomes ``session_init``, and the epoch after the last one in its
    ``stats.json`` becomes ``starting_epoch``.

    Args:
        always_resume: whether that goes before what is given here.
        **kwargs: as for TrainConfig.
    """

    def __init__(self, always_resume: bool = True, **kwargs: Any) -> None:
        found = self.get_sessinit_resume()
        if found is not None and (always_resume or kwargs.get("session_init") is None):
            kwargs["session_init"] = found
        last = JSONWriter.load_existing_epoch_number()
        if last is not None and (always_resume or "starting_epoch" not in kwargs):
            logger.info("Found an earlier training: it had come to epoch %d.", last)
            kwargs["starting_epoch"] = last + 1
        super().__init__(**kwargs)

    @staticmethod
    def get_sessinit_resume(dir: str | None = None) -> Any:
        """Return a SessionInit of the last checkpoint in a directory, or None.

        Args:
            dir: by default the log directory.
        """
        folder = logger.get_logger_dir() if dir is None else dir
        path = os.path.join(folder, "checkpoint") if folder else ""
        return SaverRestore(path) if path and os.path.isfile(path) else None


def _known(who: str, old: dict[str, Any]) -> None:
    known = (*_RENAMED, *_OLD)
    for name in old:
        if name not in known:
            raise TypeError(say(who, expected=f"arguments of {', '.join(_NAMES)}, or an earlier "
                                f"version's", received=f"{name}=",
                                do="Check its name." + near(name, [*_NAMES, *known])))


def _either(name: str, value: Any, old: dict[str, Any], old_name: str) -> Any:
    if old.get(old_name) is None:
        return value
    if value is not None:
        raise TypeError(say("TrainConfig", expected=f"{name} or its old name {old_name}",
                            received="both", do=f"Pass {name} alone."))
    return old[old_name]


def _input(dataflow: Any, data: Any) -> tuple[Any, Any]:
    if (dataflow is None) == (data is None):
        raise ValueError(say("TrainConfig", expected="either dataflow or data",
                             received="neither" if data is None else "both",
                             do="Pass dataflow=df, or data=QueueInput(df)."))
    if data is not None and not isinstance(data, InputSource):
        raise TypeError(say("TrainConfig(data=...)", expected="an InputSource",
                            received=type(data).__name__,
                            do="Pass dataflow=df, or data=QueueInput(df)."))
    if isinstance(dataflow, InputSource):
        return None, dataflow
    return (None if dataflow is None else as_dataflow(dataflow, "TrainConfig(dataflow=...)")), data


def _model(model: Any) -> Any:
    if not isinstance(model, ModelDescBase):
        what = f"the class {model.__name__}" if isinstance(model, type) else repr(model)
        raise TypeError(say("TrainConfig(model=...)", expected="a ModelDesc", received=what,
                            do="Pass an instance of your subclass of ModelDesc."))
    return model


def _listed(name: str, *lists: Any) -> list[Any]:
    out: list[Any] = []
    for one in lists:
        if isinstance(one, Callbacks):  # of 2016
            one = one.cbs
        if one is not None and not isinstance(one, (list, tuple)):
            raise TypeError(say(f"TrainConfig({name}=...)", expected="a list", received=repr(one),
                                do="Put it into a list."))
        out.extend(one or ())
    return out


def _session_init(given: Any) -> Any:
    return given if given is None or hasattr(given, "_run_init") else SmartInit(given)


def _session_creator(creator: Any, config: Any) -> Any:
    if creator is None:
        return NewSessionCreator(config=config)
    if config is not None:
        raise ValueError(say("TrainConfig", expected="session_creator or session_config",
                             received="both", do="Give the config to the session creator."))
    return creator


def _size(source: Any) -> int:
    try:
        size = source.size() if isinstance(source, InputSource) else len(source)
    except (NotImplementedError, TypeError) as e:
        raise type(e)(say("TrainConfig", expected="steps_per_epoch, or data that has a size",
                          received=f"a {type(source).__name__} that has none",
                          do="Pass steps_per_epoch.")) from e
    return int(size)
