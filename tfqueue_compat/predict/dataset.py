# SPDX-License-Identifier: Apache-2.0
"""Predicts on all of a dataflow."""

from __future__ import annotations

import multiprocessing as mp
import queue
import threading
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from typing import Any

from ..dataflow.base import as_dataflow, ensure_reset, length
from ..utils import logger
from ..utils.concurrency import DIE
from ..utils.errors import say
from ..utils.gpu import get_num_gpu
from ..utils.utils import get_tqdm
from .base import OfflinePredictor, _require_config
from .concurrency import MultiProcessQueuePredictWorker, WorkerError
from .config import PredictConfig

__all__ = ["DatasetPredictorBase", "MultiProcessDatasetPredictor", "SimpleDatasetPredictor",
           "logger"]


class DatasetPredictorBase(metaclass=ABCMeta):
    """Predicts on each datapoint of one pass over a dataflow.

    Args:
        config: what to predict.
        dataset: a DataFlow; its components are the inputs, in order.
    """

    def __init__(self, config: PredictConfig, dataset: Any) -> None:
        _require_config(type(self).__name__, config)
        self.config = config
        self.dataset = as_dataflow(dataset, type(self).__name__)

    @abstractmethod
    def get_result(self) -> Iterator[Any]:
        """Yield the outputs for each datapoint."""

    def get_all_result(self) -> list[Any]:
        """Return the outputs for all datapoints."""
        return list(self.get_result())


class SimpleDatasetPredictor(DatasetPredictorBase):
    """Predicts in this process, one datapoint after another.

    Args:
        config: what to predict.
        dataset: a DataFlow.

    Attributes:
        predictor: the OfflinePredictor.
    """

    def __init__(self, config: PredictConfig, dataset: Any) -> None:
        super().__init__(config, dataset)
        self.predictor = OfflinePredictor(config)

    def get_result(self) -> Iterator[Any]:
        """Yield the outputs for each datapoint, in order."""
        ensure_reset(self.dataset)
        with get_tqdm(total=length(self.dataset) or 0) as bar:
            for datapoint in self.dataset:
                yield self.predictor(*datapoint)
                bar.update()


class MultiProcessDatasetPredictor(DatasetPredictorBase):
    """Predicts in several processes, each with a model of its own.

    The config goes to new processes: where it can't be pickled, the processes are forked, for
    which TensorFlow must not have run in this one.

    Args:
        config: what to predict.
        dataset: a DataFlow.
        nr_proc: processes.
        use_gpu: whether each uses a GPU; there must be as many.
        ordered: whether outputs come in the order of the datapoints.
    """

    def __init__(self, config: PredictConfig, dataset: Any, nr_proc: int, use_gpu: bool = True,
                 ordered: bool = True) -> None:
        super().__init__(config, dataset)
        if config.return_input:
            raise ValueError(say("MultiProcessDatasetPredictor", expected="return_input=False",
                                 received="True", do="Use SimpleDatasetPredictor."))
        if nr_proc < 1:
            raise ValueError(say("MultiProcessDatasetPredictor", expected="nr_proc of at least 1",
                                 received=repr(nr_proc), do="Pass some."))
        if use_gpu and nr_proc > get_num_gpu():
            raise ValueError(say("MultiProcessDatasetPredictor", expected="a GPU for each process",
                                 received=f"{get_num_gpu()} GPUs, {nr_proc} processes",
                                 do="Pass use_gpu=False, or fewer processes."))
        self.nr_proc = nr_proc
        self.ordered = ordered
        self._use_gpu = use_gpu

    def get_result(self) -> Iterator[Any]:
        """Yield the outputs for each datapoint.

        Raises:
            WorkerError: what went wrong in a process.
        """
        context = mp.get_context("fork")
        tasks, results = context.Queue(self.nr_proc * 2), context.Queue()
        workers = [_worker(self, i, tasks, results) for i in range(self.nr_proc)]
        feeder = threading.Thread(target=_feed, daemon=True,
                                  args=(self.dataset, tasks, results, self.nr_proc))
        try:
            for worker in workers:
                worker.start()
            feeder.start()
            yield from _gathered(workers, results, self.ordered, length(self.dataset) or 0)
        finally:
            for worker in workers:
                worker.terminate()
                worker.join()
            tasks.cancel_join_thread()


def _worker(predictor: MultiProcessDatasetPredictor, index: int, tasks: Any, results: Any) -> Any:
    return MultiProcessQueuePredictWorker(index, tasks, results, predictor.config)


def _feed(dataset: Any, tasks: Any, results: Any, workers: int) -> None:
    try:
        ensure_reset(dataset)
        for number, datapoint in enumerate(dataset):
            tasks.put((number, datapoint))
    except Exception as e:
        results.put((-1, WorkerError(type(dataset).__name__, e)))
    for _ in range(workers):
        tasks.put((DIE, None))


def _gathered(workers: list[Any], results: Any, ordered: bool, total: int) -> Iterator[Any]:
    live = len(workers)
    waiting: dict[int, Any] = {}
    turn = 0
    with get_tqdm(total=total) as bar:
        while live:
            number, output = _next(workers, results)
            if number == DIE:
                live -= 1
                continue
            if isinstance(output, WorkerError):
                raise output
            bar.update()
            if not ordered:
                yield output
                continue
            waiting[number] = output
            while turn in waiting:
                yield waiting.pop(turn)
                turn += 1


def _next(workers: list[Any], results: Any) -> Any:
    """The next result; an error where a worker has died, whatever killed it."""
    while True:
        try:
            return results.get(timeout=1)
        except queue.Empty:
            dead = [w for w in workers if w.exitcode not in (None, 0)]
            if dead:
                raise WorkerError(dead[0].name, f"died with status {dead[0].exitcode}") from None
