# SPDX-License-Identifier: Apache-2.0
"""Predictors in threads and processes of their own."""

from __future__ import annotations

import multiprocessing as mp
import os
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any


from ..utils import logger
from ..utils.concurrency import DIE, ShareSessionThread, StoppableThread
from ..utils.errors import say
from .base import AsyncPredictorBase, OfflinePredictor, PredictorBase
from .config import PredictConfig

__all__ = ["MultiProcessPredictWorker", "MultiProcessQueuePredictWorker",
           "MultiThreadAsyncPredictor", "PredictorWorkerThread", "logger"]

Task = tuple[Sequence[Any], Future[Any]]


class MultiProcessPredictWorker(mp.Process):
    """A process that predicts.

    Args:
        idx: number of the worker; with GPUs it uses the one of this number.
        config: what to predict.
    """

    def __init__(self, idx: int, config: PredictConfig) -> None:
        super().__init__(name=f"{type(self).__name__}-{idx}", daemon=True)
        self.idx = idx
        self.config = config

    def _init_runtime(self) -> None:
        """Take one GPU, where there are some, and build the predictor."""
        gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        if gpus != [""] and gpus != ["-1"]:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self.idx % len(gpus)]
        self.predictor = OfflinePredictor(self.config)


class MultiProcessQueuePredictWorker(MultiProcessPredictWorker):
    """A process that takes datapoints from one queue and puts predictions into another.

    Args:
        idx: number of the worker.
        inqueue: of ``(number, datapoint)``; ``(DIE, None)`` ends the worker, and goes back.
        outqueue: of ``(number, outputs)``; an error is its own outputs.
        config: what to predict.
    """

    def __init__(self, idx: int, inqueue: Any, outqueue: Any, config: PredictConfig) -> None:
        super().__init__(idx, config)
        self.inqueue = inqueue
        self.outqueue = outqueue

    def run(self) -> None:
        """Predict until told to end."""
        try:
            self._init_runtime()
        except Exception as e:
            self.outqueue.put((-1, WorkerError(self.name, e)))
            return
        while True:
            number, datapoint = self.inqueue.get()
            if number == DIE:
                self.outqueue.put((DIE, None))
                return
            try:
                self.outqueue.put((number, self.predictor(*datapoint)))
            except Exception as e:
                self.outqueue.put((number, WorkerError(self.name, e)))


class WorkerError(RuntimeError):
    """What went wrong in a worker process.

    Args:
        name: of the worker.
        error: what it raised; kept as text, which any process can read.
    """

    def __init__(self, name: str, error: BaseException | str) -> None:
        self.worker = name
        self.text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        super().__init__(f"{name}: {self.text}")

    def __reduce__(self) -> Any:
        return WorkerError, (self.worker, self.text)


class PredictorWorkerThread(StoppableThread, ShareSessionThread):
    """A thread that predicts on as many tasks at once as wait, up to a number.

    Args:
        queue: of ``(datapoint, future)``.
        pred_func: takes batches of each component; returns batches of outputs.
        id: number of the thread.
        batch_size: most datapoints in a batch.
    """

    def __init__(self, queue: Any, pred_func: Any, id: int, batch_size: int = 5) -> None:
        StoppableThread.__init__(self)
        ShareSessionThread.__init__(self)
        self.name = f"PredictorWorkerThread-{id}"
        self.daemon = True
        self.queue = queue
        self.func = pred_func
        self.batch_size = batch_size
        self.id = id

    def run(self) -> None:
        """Predict until stopped."""
        with self.default_sess():
            while not self.stopped():
                batch, futures = self.fetch_batch()
                if futures:
                    self._answer(batch, futures)

    def _answer(self, batch: list[list[Any]], futures: list[Future[Any]]) -> None:
        try:
            outputs = self.func(*batch)
        except Exception as e:  # it belongs to whoever waits for the futures
            for future in futures:
                future.set_exception(e)
            return
        for index, future in enumerate(futures):
            future.set_result([out[index] for out in outputs])

    def fetch_batch(self) -> tuple[list[list[Any]], list[Future[Any]]]:
        """Wait for a task; take what else waits, at most ``batch_size`` in all.

        Returns:
            A list of values for each input, and the futures; nothing when stopped.
        """
        task = self.queue_get_stoppable(self.queue)
        tasks: list[Task] = [] if task is None else [task]
        while tasks and len(tasks) < self.batch_size:
            try:
                tasks.append(self.queue.get_nowait())
            except queue.Empty:
                break
        live = [t for t in tasks if t[1].set_running_or_notify_cancel()]
        return [list(values) for values in zip(*(t[0] for t in live))], [t[1] for t in live]


class MultiThreadAsyncPredictor(AsyncPredictorBase):
    """Predicts in a thread for each of several predictors; tasks that wait become batches.

    The model's inputs need an open batch dimension; a task has none.

    Args:
        predictors: OnlinePredictors, e.g. of several GPUs.
        batch_size: most tasks in a batch.

    Example:
        .. code-block:: python

            predict = MultiThreadAsyncPredictor(trainer_predictors, batch_size=8)
            predict.start()                     # under `with session.as_default()`
            predict.put_task([image]).result()
    """

    def __init__(self, predictors: Sequence[Any], batch_size: int = 5) -> None:
        predictors = list(predictors)
        for p in predictors:
            if not isinstance(p, PredictorBase):
                raise TypeError(say("MultiThreadAsyncPredictor", expected="OnlinePredictors",
                                    received=repr(p), do="Pass e.g. [OfflinePredictor(config)]."))
            if p.return_input:
                raise ValueError(say("MultiThreadAsyncPredictor", expected="return_input=False",
                                     received="True", do="Keep the inputs yourself."))
        if not predictors or batch_size < 1:
            raise ValueError(say("MultiThreadAsyncPredictor", expected="predictors, and a "
                                 "batch_size of at least 1", received=f"{len(predictors)}, "
                                 f"{batch_size}", do="Pass some."))
        self.input_queue: queue.Queue[Task] = queue.Queue(maxsize=len(predictors) * 100)
        self.threads = [PredictorWorkerThread(self.input_queue, p, i, batch_size=batch_size)
                        for i, p in enumerate(predictors)]

    def start(self) -> None:
        """Start the threads, under a default session where the predictors need one."""
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        """End the threads; later calls change nothing."""
        for thread in self.threads:
            thread.stop()

    def run(self) -> None:
        """``start``, under another name."""
        self.start()

    def put_task(self, dp: Sequence[Any], callback: Callable[[Future[Any]], Any] | None = None,
                 ) -> Future[Any]:
        """Ask for a prediction on one datapoint, without a batch dimension."""
        future: Future[Any] = Future()
        if callback is not None:
            future.add_done_callback(callback)
        self.input_queue.put((dp, future))
        return future
