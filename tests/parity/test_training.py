# SPDX-License-Identifier: Apache-2.0
"""Fifty steps of training give the losses that real tensorpack gives, from the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parity

# Runs under either library; `tp` is the root, `inputs` and `outputs` are dicts.
TRAINING = '''
import numpy as np
import tensorflow as tf
v1 = tf.compat.v1


class Model(tp.ModelDesc):
    def inputs(self):
        return [tf.TensorSpec((None, 12, 12, 1), tf.float32, "image"),
                tf.TensorSpec((None,), tf.int32, "label")]

    def build_graph(self, image, label):
        with tp.argscope(tp.Conv2D, kernel_size=3, activation=tp.BNReLU, filters=6):
            x = tp.Conv2D("conv0", image)
            x = tp.MaxPooling("pool0", x, 2)
            x = tp.Conv2D("conv1", x)
        x = tp.FullyConnected("fc0", x, 16, activation=tf.nn.relu)
        logits = tp.FullyConnected("fc1", x, 5)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            logits=logits, labels=label), name="loss")
        decay = tp.regularize_cost("fc.*/W", tp.l2_regularizer(1e-3), name="decay")
        return tf.add(loss, decay, name="cost")

    def optimizer(self):
        return {"sgd": lambda: v1.train.GradientDescentOptimizer(0.05),
                "momentum": lambda: v1.train.MomentumOptimizer(0.02, 0.9),
                "adam": lambda: v1.train.AdamOptimizer(1e-3)}[inputs["optimizer"]]()


class Watch(tp.Callback):
    costs = []

    def _setup_graph(self):
        self.variables = v1.global_variables()

    def _before_train(self):
        if inputs["weights"] is None:
            sess = v1.get_default_session()
            outputs["weights"] = {v.op.name: sess.run(v) for v in v1.trainable_variables()}

    def _before_run(self, _):
        return ["cost:0"]

    def _after_run(self, _, values):
        self.costs.append(float(values.results[0]))

    def _after_train(self):
        sess = v1.get_default_session()
        outputs["end"] = {v.op.name: sess.run(v) for v in self.variables}


rng = np.random.RandomState(0)
data = [[rng.rand(8, 12, 12, 1).astype("float32"), rng.randint(5, size=8).astype("int32")]
        for _ in range(50)]
watch = Watch()
init = None if inputs["weights"] is None else tp.DictRestore(inputs["weights"])
tp.launch_train_with_config(tp.TrainConfig(
    model=Model(), data=tp.QueueInput(tp.DataFromList(data, shuffle=False)), callbacks=[watch],
    extra_callbacks=[tp.RunUpdateOps()], monitors=[], session_init=init, steps_per_epoch=50,
    max_epoch=1), tp.SimpleTrainer())
outputs["costs"] = watch.costs
'''


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_losses_of_fifty_steps(peer: Callable[..., dict[str, Any]], optimizer: str) -> None:
    import tfqueue_compat

    theirs = peer("import tensorpack as tp\n" + TRAINING, optimizer=optimizer, weights=None)
    ours: dict[str, Any] = {}
    exec(TRAINING, {"tp": tfqueue_compat, "outputs": ours,
                    "inputs": {"optimizer": optimizer, "weights": theirs["weights"]}})
    assert len(ours["costs"]) == 50
    np.testing.assert_allclose(ours["costs"], theirs["costs"], rtol=1e-5)
    assert set(ours["end"]) == set(theirs["end"])
    for name, value in theirs["end"].items():
        assert ours["end"][name].shape == value.shape
        if optimizer == "adam" and name.endswith(("/b", "/bn/mean/EMA")) and "conv" in name:
            continue  # BatchNorm takes the bias away: its gradient is rounding, scaled up by Adam
        np.testing.assert_allclose(ours["end"][name], value, rtol=1e-3, atol=1e-4, err_msg=name)
