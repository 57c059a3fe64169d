# SPDX-License-Identifier: Apache-2.0
"""What is not a rate: how soon a datapoint arrives, how many are held, what a step pays, ..."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from .alternatives import open_input
from .producers import KINDS, make_dataflow, make_stamped
from .throughput import resident_mb, warm_up
from .ways import corner, opened

__all__ = ["PROBES", "held", "imported", "latency", "step"]

BURST = 5000  # datapoints at full speed, by which a chunk has grown
SLOW = 20  # datapoints after it
PAUSE = 0.03  # seconds between those
STEPS = 150
WIDTH = 320  # of the step's matrices: a few milliseconds on one core


def latency(library: str, kind: str, way: str) -> dict[str, Any]:
    """Measure how long a datapoint takes from the producer to a consumer who waits for it.

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        kind: one of :data:`producers.KINDS`.
        way: ``"session"`` or ``"eager"``.

    Returns:
        ``first_ms`` of the first datapoint, which comes alone, a second late; ``slow_ms``, the
        median of slow ones after a burst; ``slow_max_ms``, the longest of those.
    """
    df, stamps = make_stamped(library, KINDS[kind], BURST, PAUSE)
    arrivals = []
    with opened(library, df, KINDS[kind], way) as take:
        for _ in range(BURST + SLOW):
            take(1)
            arrivals.append(time.perf_counter())
    waits = [(a - s) * 1e3 for a, s in zip(arrivals, stamps, strict=False)]
    slow = waits[BURST + SLOW // 2:]  # the earlier ones still stand behind the burst
    return {"first_ms": waits[0], "slow_ms": statistics.median(slow), "slow_max_ms": max(slow)}


def held(library: str, kind: str, way: str) -> dict[str, Any]:
    """Measure how far an input runs ahead of a consumer who has paused.

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        kind: one of :data:`producers.KINDS`.
        way: one of :data:`ways.WAYS`.

    Returns:
        ``ahead`` (datapoints produced and not yet consumed) and ``held_mb`` (resident memory
        more than before the input was opened).
    """
    df, stamps = make_stamped(library, KINDS[kind], burst=sys.maxsize, pause=0.)
    with opened(library, df, KINDS[kind], way) as take:
        before = resident_mb()
        consumed = 0

        def counted(n: int) -> tuple[int, Any, Any]:
            nonlocal consumed
            result = take(n)
            consumed += result[0]
            return result

        warm_up(counted, 1.)  # a chunk has its full size by then
        produced = 0
        while len(stamps) > produced:  # until it is full and stands still
            produced = len(stamps)
            time.sleep(1.)
        return {"ahead": produced - consumed, "held_mb": resident_mb() - before}


def step(library: str, kind: str, way: str) -> dict[str, Any]:
    """Measure what a full input adds to a step of one core, which leaves others free.

    The step with the input and the step without alternate, so that both see the same machine.

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        kind: one of :data:`producers.KINDS`.
        way: ``"session"``, the only one.

    Returns:
        ``step_us`` without input; ``overhead_us`` that a step on one datapoint pays more;
        ``idle_us`` that a step pays for an input that is open and full but not read.
    """
    import tensorflow as tf
    tf1 = tf.compat.v1
    source = open_input(library, make_dataflow(library, KINDS[kind]), KINDS[kind])
    with tf.Graph().as_default():
        source.build()
        # a variable, since the work on a constant would be done once, ahead
        alone = _work(tf1.get_variable("one", initializer=1.)).op
        fed = _work(tf.cast(corner(source.tensors()[0]), tf.float32)).op
        config = tf1.ConfigProto(intra_op_parallelism_threads=1)
        with tf1.Session(config=config) as sess:
            sess.run(tf1.global_variables_initializer())
            run = sess.run
            before = [_timed(run, alone) for _ in range(STEPS)][STEPS // 3:]
            source.start(sess)
            [run(fed) for _ in range(STEPS // 3)]
            time.sleep(0.5)  # let it fill
            pairs = [(_timed(run, alone), _timed(run, fed)) for _ in range(STEPS)]
    base = statistics.median(a for a, _ in pairs)
    return {"step_us": base, "overhead_us": statistics.median(f - a for a, f in pairs),
            "idle_us": base - statistics.median(before)}


def _work(x: Any) -> Any:
    import tensorflow as tf
    matrix = tf.fill([WIDTH, WIDTH], 1. / WIDTH) * x
    return tf.reduce_sum(tf.matmul(tf.matmul(matrix, matrix), matrix))


def _timed(run: Callable[[Any], Any], op: Any) -> float:
    """Return the microseconds of one run."""
    t = time.perf_counter()
    run(op)
    return (time.perf_counter() - t) * 1e6


def imported(library: str, kind: str, way: str) -> dict[str, Any]:
    """Measure the import of ``<library>.dataflow`` (TensorFlow itself for ``tf.data``).

    Args:
        library: one of :data:`alternatives.LIBRARIES`.
        kind: ignored.
        way: ignored.

    Returns:
        ``import_s``, the median of three fresh processes.
    """
    name = "tensorflow" if library == "tf.data" else library + ".dataflow"
    program = ("import time; t = time.perf_counter(); import " + name
               + "; print('took', time.perf_counter() - t)")
    times = []
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", program], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
        times.append(float(out.rsplit("took", 1)[1]))
    return {"import_s": statistics.median(times)}


PROBES: dict[str, Callable[[str, str, str], dict[str, Any]]] = {
    "latency": latency,
    "held": held,
    "step": step,
    "import": imported,
}
