# SPDX-License-Identifier: Apache-2.0
"""``bench-fit``: measure Keras ``fit`` fed by QueueInput beside other ways to feed it.

Each alternative trains the same small model, in a process of its own; the rounds are interleaved.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["ALTERNATIVES", "main", "measure", "register", "table"]

BATCH, STEPS, EPOCHS = 128, 100, 4
PAUSE = 0.005  # seconds of a slow batch, and of a slow step
TIMEOUT = 300
# alternative -> (compared with, ratio to reach)
RATIOS = {
    "QueueInput": (("memory", 0.95), ("PyDataset, 2 workers", 2.5), ("generator", 1.2),
                   ("from_generator().prefetch(50)", 1.8)),
    "ModelDesc, fit": (("ModelDesc, graph machine", 0.9),),
}


def _arrays() -> tuple[Any, Any]:
    import numpy as np
    rng = np.random.RandomState(0)
    return (rng.rand(STEPS * BATCH, 28, 28).astype("float32"),
            rng.randint(10, size=STEPS * BATCH).astype("int32"))


def _batches() -> Iterator[list[Any]]:
    x, y = _ARRAYS
    for i in range(0, len(x), BATCH):
        yield [x[i:i + BATCH], y[i:i + BATCH]]


_ARRAYS: tuple[Any, Any] = (None, None)


def _mlp() -> Any:
    import keras
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(256, "relu"),
                              keras.layers.Dense(10)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def _dataflow(pause: float = 0.0) -> Any:
    from ..dataflow import DataFlow

    class Batches(DataFlow):
        def __len__(self) -> int:
            return STEPS

        def __iter__(self) -> Iterator[list[Any]]:
            for batch in _batches():
                if pause:
                    time.sleep(pause)
                yield batch

    return Batches()


def _memory() -> Any:
    import tensorflow as tf
    return tf.data.Dataset.from_tensor_slices(_ARRAYS).batch(BATCH).prefetch(tf.data.AUTOTUNE)


def _from_generator() -> Any:
    import tensorflow as tf
    specs = (tf.TensorSpec((None, 28, 28), tf.float32), tf.TensorSpec((None,), tf.int32))
    return tf.data.Dataset.from_generator(
        lambda: (tuple(b) for b in _batches()), output_signature=specs).repeat().prefetch(50)


def _generator() -> Any:
    while True:
        for x, y in _batches():
            yield x, y


def _pydataset() -> Any:
    import keras

    class Batches(keras.utils.PyDataset):
        def __len__(self) -> int:
            return STEPS

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            x, y = _ARRAYS
            part = slice(index * BATCH, (index + 1) * BATCH)
            return x[part], y[part]

    return Batches(workers=2, use_multiprocessing=False, max_queue_size=50)


def _queue() -> Any:
    from ..input_source import QueueInput
    return QueueInput(_dataflow())


def _fit(data: Callable[[], Any]) -> Callable[[], float]:
    def run() -> float:
        return _timed(_mlp(), data())
    return run


def _timed(model: Any, data: Any) -> float:
    """Steps a second, from the end of the first epoch on."""
    import keras
    ends: list[float] = []

    class Clock(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            ends.append(time.perf_counter())

    model.fit(data, epochs=1 + EPOCHS, steps_per_epoch=STEPS, verbose=0, callbacks=[Clock()],
              shuffle=False)
    return STEPS * EPOCHS / (ends[-1] - ends[0])


def _model_desc() -> Any:
    import tensorflow as tf

    from ..graph_builder import ModelDesc
    v1 = tf.compat.v1

    class Model(ModelDesc):
        def inputs(self) -> list[Any]:
            return [tf.TensorSpec((None, 28, 28), tf.float32, "image"),
                    tf.TensorSpec((None,), tf.int32, "label")]

        def build_graph(self, image: Any, label: Any) -> Any:
            x = tf.reshape(image, [-1, 784])
            for i, (a, b) in enumerate(((784, 256), (256, 10))):
                x = tf.matmul(x, v1.get_variable(f"w{i}", [a, b])) + v1.get_variable(f"b{i}", [b])
                x = tf.nn.relu(x) if i == 0 else x
            return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                logits=x, labels=label), name="cost")

        def optimizer(self) -> Any:
            return v1.train.GradientDescentOptimizer(0.01)

    return Model()


def _model_desc_fit() -> float:
    from ..keras_bridge import ModelDescModel
    model = ModelDescModel(_model_desc())
    model.compile(steps_per_execution=20)
    return _timed(model, _queue())


def _model_desc_graph() -> float:
    from ..callbacks import Callback
    from ..train import SimpleTrainer, TrainConfig, launch_train_with_config
    ends: list[float] = []

    class Clock(Callback):
        def _after_epoch(self) -> None:
            ends.append(time.perf_counter())

    launch_train_with_config(TrainConfig(
        model=_model_desc(), data=_queue(), steps_per_epoch=STEPS, max_epoch=1 + EPOCHS,
        callbacks=[Clock()], extra_callbacks=[], monitors=[]), SimpleTrainer())
    return STEPS * EPOCHS / (ends[-1] - ends[0])


def _overlap() -> float:
    """Batches of 5 ms under steps of 5 ms, as a share of the slower one's speed alone."""
    import keras
    import tensorflow as tf

    from ..input_source import QueueInput

    class Slow(keras.Model):
        def train_step(self, data: Any) -> Any:
            tf.numpy_function(lambda: time.sleep(PAUSE), [], [])
            return {"loss": tf.constant(0.0)}

    model = Slow()
    model.compile()
    model.built = True
    step = _timed(model, _memory().cache().repeat())
    return _timed(model, QueueInput(_dataflow(PAUSE))) / min(step, 1 / _slept())


def _slept() -> float:
    """What a sleep of 5 ms takes on this machine, in seconds."""
    start = time.perf_counter()
    for _ in range(50):
        time.sleep(PAUSE)
    return (time.perf_counter() - start) / 50


#: Name -> what measures it: steps a second, or a share.
ALTERNATIVES: dict[str, Callable[[], float]] = {
    "memory": _fit(_memory),
    "QueueInput": _fit(_queue),
    "generator": _fit(_generator),
    "from_generator().prefetch(50)": _fit(_from_generator),
    "PyDataset, 2 workers": _fit(_pydataset),
    "ModelDesc, fit": _model_desc_fit,
    "ModelDesc, graph machine": _model_desc_graph,
    "5 ms of data under 5 ms of step: share of the slower": _overlap,
}


def measure(name: str) -> float:
    """Measure one of :data:`ALTERNATIVES` in this process."""
    global _ARRAYS
    _ARRAYS = _arrays()
    return ALTERNATIVES[name]()


def _in_a_process(name: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from tfqueue_compat.cli.bench_fit import measure; "
         "print('RATE', measure(sys.argv[1]), flush=True)", name],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3",
             "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, check=False)
    rates = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RATE ")]
    if not rates:
        raise RuntimeError((done.stderr or done.stdout).strip()[-500:])
    return float(rates[-1])


def table(rates: dict[str, list[float]]) -> str:
    """Return the medians and ratios as Markdown.

    Args:
        rates: alternative -> steps a second in each round.
    """
    from tabulate import tabulate
    medians = {name: statistics.median(values) for name, values in rates.items() if values}
    lines = []
    for name, median in medians.items():
        notes = []
        for other, least in RATIOS.get(name, ()):
            if other in medians:
                ratio = median / medians[other]
                reached = "yes" if ratio >= least else "NO"
                notes.append(f"{ratio:.2f}x of {other} (>= {least:g} {reached})")
        lines.append([name, f"{median:,.4g}", "; ".join(notes)])
    return str(tabulate(lines, ["fed by", "steps/s", "ratios"], tablefmt="github",
                        disable_numparse=True))


def register(subparsers: Any) -> None:
    """Add the verb ``bench-fit`` to the command line."""
    parser = subparsers.add_parser(
        "bench-fit", help="measure Keras fit fed by QueueInput beside other ways to feed it",
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="to take medians over (default 3)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append the table to this file")
    parser.add_argument("--json", action="store_true", help="print every rate as JSON instead")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Measure, print and write the table; return the exit status."""
    rates: dict[str, list[float]] = {name: [] for name in ALTERNATIVES}
    failed = False
    for r in range(args.rounds):
        names = list(ALTERNATIVES)
        for name in names[r:] + names[:r]:
            print(f"round {r + 1} of {args.rounds}: {name}", file=sys.stderr, flush=True)
            try:
                rates[name].append(_in_a_process(name))
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                failed = True
                print(f"failed: {e}", file=sys.stderr, flush=True)
    report = json.dumps(rates) if args.json else table(rates)
    print(report)
    if args.out:
        with args.out.open("a", encoding="utf-8") as f:
            f.write(f"\n## Keras fit\n\nAn MLP, batches of {BATCH}; medians of {args.rounds} "
                    f"rounds of {STEPS * EPOCHS} steps.\n\n{report}\n")
    return 1 if failed else 0
