# SPDX-License-Identifier: Apache-2.0
"""Runs a file's cases in one TF 1 namespace; ``python run_cases.py FILE OUT`` in tf-keras'."""

from __future__ import annotations

import pickle
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np


def value_of(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The same numbers for a variable of that name, in whatever process; variances positive."""
    rng = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)
    if "variance" in name or "stddev" in name:
        return rng.uniform(0.5, 1.5, shape).astype("float32")
    return (rng.randn(*shape) * 0.4).astype("float32")


def run_case(case: Any, tf: Any) -> dict[str, Any]:
    """Build a case in a new graph, give its variables known values, and record what it does."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        outputs = case(tf)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        variables = tf.global_variables()
        total = sum(tf.reduce_sum(o * tf.cos(o)) for o in outputs)
        trainable = tf.trainable_variables()
        grads = tf.gradients(total, trainable)
        named = {v.name: g for v, g in zip(trainable, grads) if g is not None}
        losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        given = [tf.assign(v, value_of(v.name, tuple(v.shape.as_list()))) for v in variables]
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            initial = dict(zip([v.name for v in variables], sess.run(variables)))
            sess.run(given)
            outputs_, losses_ = sess.run([outputs, losses])
            try:
                grads_ = sess.run(named)
            except tf.errors.InvalidArgumentError:  # NCHW on CPU: the reference has no gradients
                grads_ = None
            # renorm moves its averages whenever it is run: start the updates from known values.
            sess.run(given)
            for _ in range(3):
                sess.run(updates)
            after = dict(zip([v.name for v in variables], sess.run(variables)))
        return {
            "variables": [(v.name, tuple(v.shape.as_list()), v.dtype.base_dtype.name)
                          for v in variables],
            "trainable": [v.name for v in trainable], "static": [o.shape.as_list()
                                                                 for o in outputs],
            "outputs": outputs_, "grads": grads_, "after": after, "initial": initial,
            "losses": losses_, "loss_names": [x.name for x in losses], "updates": len(updates)}


def run_file(path: Path, tf: Any) -> dict[str, Any]:
    """Run each of the file's CASES."""
    scope: dict[str, Any] = {"__name__": "cases"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    found = {}
    for name, case in scope["CASES"].items():
        try:
            found[name] = run_case(case, tf)
        except Exception as e:  # noqa: BLE001 - told by the test of that case
            found[name] = {"error": f"{type(e).__name__}: {e}"}
    return found


if __name__ == "__main__":
    import tensorflow.compat.v1 as v1
    Path(sys.argv[2]).write_bytes(pickle.dumps(run_file(Path(sys.argv[1]), v1)))
