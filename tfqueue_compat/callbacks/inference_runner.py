# SPDX-License-Identifier: Apache-2.0
"""Runs inference on a data set during training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from ..dataflow.base import DataFlow, as_dataflow
from ..dataflow.passes import WholePasses
from ..engine.hooks import Callback
from ..engine.source import Source
from ..graph_builder.devices import tower_device
from ..input_source import FeedInput, InputSource, QueueInput
from ..tfutils.tower import PredictTowerContext
from ..utils import logger
from ..utils.errors import say
from ..utils.utils import get_tqdm
from .hooked_run import HookedRun
from .inference import Inferencer

__all__ = ["DataParallelInferenceRunner", "InferenceRunner", "InferenceRunnerBase",
           "InferencerToHook"]

v1 = tf.compat.v1


class InferencerToHook(v1.train.SessionRunHook):  # type: ignore[misc]
    """Fetches an inferencer's tensors, and hands it their values.

    Args:
        inf: the inferencer.
        fetches: its tensors.
    """

    def __init__(self, inf: Inferencer, fetches: Sequence[Any]) -> None:
        self._inf = inf
        self._fetches = list(fetches)

    def before_run(self, run_context: Any) -> Any:
        """Ask for the tensors."""
        return v1.train.SessionRunArgs(fetches=self._fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hand over their values."""
        self._inf.on_fetches(run_values.results)


class InferenceRunnerBase(Callback):
    """What inference runners have in common: an input, inferencers, and hooks around each run.

    Args:
        input: an input source.
        infs: an ``Inferencer``, or several.
    """

    def __init__(self, input: InputSource, infs: Inferencer | Sequence[Inferencer]) -> None:
        if not isinstance(input, InputSource):
            raise TypeError(say(type(self).__name__, expected="an InputSource or a DataFlow",
                                received=f"{type(input).__name__} {input!r}",
                                do="Pass the dataflow."))
        self._input_source = input
        self.infs = list(infs) if isinstance(infs, (list, tuple)) else [infs]
        for inf in self.infs:
            if not isinstance(inf, Inferencer):
                raise TypeError(say(type(self).__name__, expected="Inferencers",
                                    received=f"{type(inf).__name__} {inf!r}",
                                    do="Pass e.g. [ScalarStats('cost')]."))
        self._size: int | None = _size_of(input)
        source = getattr(input, "_source", None)
        if type(source) is Source and not isinstance(source.dataflow, WholePasses):
            # a queue goes on with the next pass, and would count some datapoints twice
            source.dataflow = WholePasses(source.dataflow, type(self).__name__)
        self._hooks: list[Any] = []
        self._source_hooks: list[Any] = []

    def register_hook(self, hook: Any) -> None:
        """Have a session hook take part in each run of inference.

        Args:
            hook: a ``tf.compat.v1.train.SessionRunHook``.
        """
        self._hooks.append(hook)

    def _setup_input(self, tower_func: Any) -> None:
        self._source_hooks = list(self._input_source.setup(tower_func.input_signature))

    def _build_tower(self, tower_func: Any, name: str, device: int) -> Any:
        """Build the model for inference; return the tower's handle."""
        scope_of = getattr(self.trainer, "_vs_name_for_predictor", lambda device: "")
        place = tower_device(device)
        logger.info("[%s] Building tower '%s' on device %s ...", type(self).__name__, name, place)
        with v1.name_scope(None), tf.device(place), \
                v1.variable_scope(v1.get_variable_scope(), reuse=True,
                                  auxiliary_name_scope=False), \
                PredictTowerContext(name, vs_name=scope_of(device)):
            tower_func(*self._input_source.get_input_tensors())
        return tower_func.towers[-1]

    def _setup_inferencers(self) -> None:
        with v1.name_scope(None):
            for inf in self.infs:
                inf.setup_graph(self.trainer)
        for hook in self._source_hooks:
            hook.begin()

    def _before_train(self) -> None:
        session = v1.get_default_session()
        for hook in self._source_hooks:
            hook.after_create_session(session, None)
        for inf in self.infs:
            inf.before_train()
        if self._size is not None:
            logger.info("[%s] Will eval %d iterations", type(self).__name__, self._size)

    def _after_train(self) -> None:
        for inf in self.infs:
            inf.after_train()

    def _run_pass(self, advance: Callable[[int | None], int]) -> None:
        """Run one pass.

        Args:
            advance: runs once, given how many datapoints are left; returns how many it used.
        """
        for inf in self.infs:
            inf.before_epoch()
        self._input_source.reset_state()
        done = 0
        with get_tqdm(total=self._size) as bar:
            try:
                while self._size is None or done < self._size:
                    used = advance(None if self._size is None else self._size - done)
                    done += used
                    bar.update(used)
            except (StopIteration, tf.errors.OutOfRangeError) as e:
                if self._size is not None:
                    raise RuntimeError(self._too_short(done)) from e
        for inf in self.infs:
            inf.trigger_epoch()

    def _too_short(self, seen: int) -> str:
        return say(f"{type(self).__name__}, {_name_of(self._input_source)}",
                   expected=f"{self._size} datapoints, as its len() says",
                   received=f"{seen}, and then the end",
                   do="Correct the dataflow's __len__, or make it give as many.")


class InferenceRunner(InferenceRunnerBase):
    """Runs the model over a data set, after each epoch.

    A pass is ``len(input)`` datapoints; a dataflow that doesn't know its length runs to its end.

    Args:
        input: an input source, or a DataFlow, which is fed by a ``FeedInput``.
        infs: an ``Inferencer``, or several.
        tower_name: name scope of the model for inference; another one for each runner.
        tower_func: a ``TowerFunc`` to use in place of the trainer's.
        device: number of the GPU to use.

    Raises:
        RuntimeError: in training, where the input ends before its length.

    Example:
        .. code-block:: python

            InferenceRunner(test_data, [ScalarStats("cost"), ClassificationError("wrong")])
    """

    def __init__(self, input: InputSource | DataFlow, infs: Inferencer | Sequence[Inferencer],
                 tower_name: str = "InferenceTower", tower_func: Any = None,
                 device: int = 0) -> None:
        if not isinstance(input, InputSource):
            input = FeedInput(as_dataflow(input, asked_by="InferenceRunner"), infinite=False)
        super().__init__(input, infs)
        if self._size is None and not isinstance(input, FeedInput):
            raise ValueError(say("InferenceRunner", expected="an input with a size",
                                 received=f"a {_name_of(input)} without",
                                 do="Give the dataflow a __len__, or pass it as it is."))
        self._tower_name = tower_name
        self._tower_func = tower_func
        self._device = device
        self._run: Any = None

    def _setup_graph(self) -> None:
        func = self._tower_func or _trainers_tower_func(self)
        with v1.name_scope(None):
            self._setup_input(func)
        handle = self._build_tower(func, self._tower_name, self._device)
        self._setup_inferencers()
        hooks = [InferencerToHook(inf, handle.get_tensors(inf.get_fetches())) for inf in self.infs]
        self._run = HookedRun([*self._source_hooks, *hooks, *self._hooks])

    def _trigger(self) -> None:
        self._run_pass(self._advance)

    def _advance(self, left: int | None) -> int:
        self._run()
        return 1


class DataParallelInferenceRunner(InferenceRunnerBase):
    """Runs the model over a data set on several GPUs at once, a datapoint on each.

    Datapoints that are left over for less than all GPUs run on the first.

    Args:
        input: a ``QueueInput``, or a DataFlow, which is put into one.
        infs: an ``Inferencer``, or several.
        gpus: how many GPUs, or their numbers.
        tower_name: start of the name scopes of the models for inference.
        tower_func: a ``TowerFunc`` to use in place of the trainer's.
    """

    def __init__(self, input: InputSource | DataFlow, infs: Inferencer | Sequence[Inferencer],
                 gpus: int | Sequence[int], tower_name: str = "InferenceTower",
                 tower_func: Any = None) -> None:
        if not isinstance(input, InputSource):
            input = QueueInput(as_dataflow(input, asked_by="DataParallelInferenceRunner"))
        super().__init__(input, infs)
        self._gpus = list(range(gpus)) if isinstance(gpus, int) else list(gpus)
        if not self._gpus or self._size is None:
            raise ValueError(say("DataParallelInferenceRunner",
                                 expected="at least one GPU, and an input with a size",
                                 received=f"gpus={gpus!r}, size {self._size}",
                                 do="Name the GPUs, and give the dataflow a __len__."))
        self._tower_name = tower_name
        self._tower_func = tower_func
        self._all: Any = None
        self._one: Any = None

    def register_hook(self, h: Any) -> None:
        """Have a session hook take part in each run, of all towers or of the first alone.

        Args:
            h: a ``tf.compat.v1.train.SessionRunHook``.
        """
        super().register_hook(h)

    def _setup_graph(self) -> None:
        func = self._tower_func or _trainers_tower_func(self)
        with v1.name_scope(None):
            self._setup_input(func)
        towers = [self._build_tower(func, f"{self._tower_name}{k}", gpu)
                  for k, gpu in enumerate(self._gpus)]
        self._setup_inferencers()
        fetches = [[tower.get_tensors(inf.get_fetches()) for tower in towers] for inf in self.infs]
        own = [*self._source_hooks, *self._hooks]
        self._all = HookedRun([*(_EachTower(i, f) for i, f in zip(self.infs, fetches)), *own])
        self._one = HookedRun([*(InferencerToHook(i, f[0]) for i, f in zip(self.infs, fetches)),
                               *own])

    def _trigger(self) -> None:
        self._run_pass(self._advance)

    def _advance(self, left: int | None) -> int:
        if left is not None and left < len(self._gpus):
            self._one()
            return 1
        self._all()
        return len(self._gpus)


class _EachTower(InferencerToHook):
    """Hands an inferencer the values of one tower after the other."""

    def after_run(self, run_context: Any, run_values: Any) -> None:
        for results in run_values.results:
            self._inf.on_fetches(results)


def _trainers_tower_func(runner: InferenceRunnerBase) -> Any:
    func = getattr(runner.trainer, "tower_func", None)
    if func is None:
        raise RuntimeError(say(type(runner).__name__, expected="a trainer with a tower_func",
                               received="one without", do="Pass tower_func=TowerFunc(...)."))
    return func


def _size_of(source: InputSource) -> int | None:
    try:
        return source.size()
    except (NotImplementedError, TypeError):
        return None


def _name_of(source: InputSource) -> str:
    dataflow = getattr(source, "ds", None)
    name = type(source).__name__
    return name if dataflow is None else f"{name} of {type(dataflow).__name__}"
