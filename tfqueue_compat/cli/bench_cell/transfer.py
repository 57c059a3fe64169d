# SPDX-License-Identifier: Apache-2.0
"""How fast a DataFlow's parallel parts are, without TensorFlow: one measurement in one process.

``python transfer.py LIBRARY WHAT [KIND]`` prints datapoints a second. It is run by whichever Python
has the library.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bench_cell.producers import KINDS, Kind, make_dataflow  # noqa: E402

__all__ = ["LIBRARIES", "WHAT", "measure"]

LIBRARIES = ("tensorpack", "tfqueue_compat", "torch", "grain", "one process", "memcpy")
SECONDS, WARM = 2.0, 1.0
JPEG_BATCH = 4  # so that full queues are soon used up


def _rate(stream: Iterator[Any], per_item: int = 1, warm: float = WARM) -> float:
    """Datapoints a second, after what the queues have gathered in the beginning."""
    next(stream)
    end = time.perf_counter() + warm
    while time.perf_counter() < end:
        next(stream)
    count, start = 0, time.perf_counter()
    while True:
        for _ in range(8):
            next(stream)
        count += 8
        took = time.perf_counter() - start
        if took >= SECONDS:
            return count * per_item / took


def _dataflow(library: str) -> Any:
    if library == "tensorpack":
        import tensorpack_on_tf2  # noqa: F401 - makes it importable
    return importlib.import_module(f"{library}.dataflow")


def _pass(df: Any) -> Iterator[Any]:
    df.reset_state()
    while True:
        yield from df


def _torch(df: Any, workers: int) -> Iterator[Any]:
    import torch

    class Data(torch.utils.data.IterableDataset):
        def __iter__(self) -> Iterator[Any]:
            return iter(df)

    return iter(torch.utils.data.DataLoader(Data(), batch_size=None, num_workers=workers))


def _grain(make: Callable[[int], Any], workers: int) -> Iterator[Any]:
    import grain
    data = grain.MapDataset.range(1 << 40).map(make).to_iter_dataset()
    return iter(data.mp_prefetch(grain.multiprocessing.MultiprocessingOptions(workers)))


def _transfer(library: str, kind: Kind) -> float:
    """From one worker process to the iterating Python."""
    if library == "memcpy":
        source, target = np.ones(kind.shape, kind.dtype), np.ones(kind.shape, kind.dtype)
        return _rate(iter(lambda: np.copyto(target, source), 0))
    if library == "torch":
        return _rate(_torch(make_dataflow("tf.data", kind), 1))
    if library == "grain":
        return _rate(_grain(lambda i: kind.value(int(i)), 1))
    df = _dataflow(library)
    return _rate(_pass(df.MultiProcessRunnerZMQ(make_dataflow(library, kind), 1)))


def _spin(dp: Any) -> Any:
    """1 ms of pure Python."""
    end = time.thread_time() + 0.001
    while time.thread_time() < end:
        pass
    return dp


def _map(library: str, kind: Kind) -> float:
    """A map of 1 ms in pure Python, in 2 worker processes."""
    if library == "torch":
        class Mapped:
            def __iter__(self) -> Iterator[Any]:
                return map(_spin, iter(make_dataflow("tf.data", kind)))
        return _rate(_torch(Mapped(), 2))
    if library == "grain":
        return _rate(_grain(lambda i: _spin(kind.value(int(i))), 2))
    if library == "one process":
        return _rate(map(_spin, iter(make_dataflow("tf.data", kind))))
    df = _dataflow(library)
    return _rate(_pass(df.MultiProcessMapDataZMQ(make_dataflow(library, kind), 2, _spin)))


def _batch(library: str, kind: Kind) -> float:
    """BatchData by 128, or by 64 for images; in batches a second."""
    df = _dataflow(library)
    image = np.ones((224, 224, 3), np.uint8) if kind is KINDS["u8"] else np.ones((28, 28), "f4")

    class Source(df.DataFlow):  # type: ignore[name-defined]
        def __iter__(self) -> Iterator[Any]:
            while True:
                yield [image, 3]

        def __len__(self) -> int:
            return 1 << 40

    return _rate(_pass(df.BatchData(Source(), 64 if kind is KINDS["u8"] else 128)))


def _jpegs() -> list[bytes]:
    """A few JPEG files of 500x375, as ImageNet has them."""
    import cv2
    rng = np.random.RandomState(0)
    files = []
    for _ in range(16):
        small = rng.randint(0, 256, (12, 16, 3), np.uint8)
        image = cv2.resize(small, (500, 375), interpolation=cv2.INTER_CUBIC)
        files.append(cv2.imencode(".jpg", image)[1].tobytes())
    return files


class _Training:
    """Decodes, crops and flips as ResNet's training does, by the same OpenCV calls everywhere."""

    files: list[bytes] | None = None  # made in the worker: OpenCV's threads survive no fork

    def __call__(self, i: int) -> Any:
        import cv2
        if self.files is None:
            cv2.setNumThreads(0)
            self.files, self.rng = _jpegs(), np.random.RandomState(os.getpid())
        image: Any = cv2.imdecode(np.frombuffer(self.files[i % 16], np.uint8), cv2.IMREAD_COLOR)
        h, w = image.shape[:2]
        side = int(min(h, w) * self.rng.uniform(0.4, 1.0))
        y, x = self.rng.randint(h - side + 1), self.rng.randint(w - side + 1)
        image = cv2.resize(image[y:y + side, x:x + side], (224, 224),
                           interpolation=cv2.INTER_CUBIC)
        gain = np.float32(self.rng.uniform(0.6, 1.4))
        image = np.clip(image.astype(np.float32) * gain, 0, 255).astype(np.uint8)
        return image[:, ::-1] if self.rng.rand() < 0.5 else image

    def batch(self, i: int) -> list[Any]:
        """Batch ``i``: images (4, 224, 224, 3) and labels (4,)."""
        images = [self(i * JPEG_BATCH + k) for k in range(JPEG_BATCH)]
        return [np.stack(images), np.arange(JPEG_BATCH, dtype=np.int32)]


def _jpeg(library: str, kind: Kind) -> float:
    """Images a second: 2 workers decode and augment; QueueInput in a session, or the loader."""
    work = _Training()

    class Batches:
        def __iter__(self) -> Iterator[Any]:
            i = 0
            while True:
                yield work.batch(i)
                i += 1

    if library == "torch":
        return _rate(_torch(Batches(), 2), JPEG_BATCH, 3 * WARM)
    if library == "grain":
        return _rate(_grain(lambda i: work.batch(int(i)), 2), JPEG_BATCH, 3 * WARM)
    df = _dataflow(library)

    class Flow(df.DataFlow):  # type: ignore[name-defined]
        def __iter__(self) -> Iterator[Any]:
            return iter(Batches())

    return _through_queue(library, df.MultiProcessRunnerZMQ(Flow(), 2))


def _through_queue(library: str, df: Any) -> float:
    from bench_cell.alternatives import Queue
    from bench_cell.ways import WAYS
    kind = Kind((JPEG_BATCH, 224, 224, 3), "uint8", (JPEG_BATCH,))
    with WAYS["step"](Queue(library, df, kind)) as take:
        return _rate(iter(lambda: take(1), None), JPEG_BATCH, 3 * WARM)


WHAT: dict[str, Callable[[str, Kind], float]] = {
    "transfer": _transfer, "map": _map, "batch": _batch, "jpeg": _jpeg}


def measure(library: str, what: str, kind: str = "small") -> float:
    """Return datapoints (for ``batch``: batches, for ``jpeg``: images) a second.

    Args:
        library: one of :data:`LIBRARIES`.
        what: one of :data:`WHAT`.
        kind: one of :data:`producers.KINDS`.
    """
    return WHAT[what](library, KINDS[kind])


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    print("RATE", measure(*sys.argv[1:]), flush=True)
    os._exit(0)  # workers and queues are worth no orderly end
