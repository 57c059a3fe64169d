# SPDX-License-Identifier: Apache-2.0
"""Checkpoints and .npz files go from real tensorpack to us and back: the same predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat import models, tfutils
from tfqueue_compat.tfutils import varmanip

pytestmark = pytest.mark.parity

MODEL = """
import numpy as np
import tensorflow as tf
v1 = tf.compat.v1
DATA = np.random.RandomState(0).rand(8, 12, 12, 3).astype('float32')

def build(m):
    x = v1.placeholder(tf.float32, (None, 12, 12, 3), 'input')
    y = m.Conv2D('conv0', x, 8, 3, activation=m.BNReLU)
    y = m.MaxPooling('pool', y, 2)
    y = m.Conv2DTranspose('up', y, 4, 3, strides=2)
    y = m.PReLU('prelu', y)
    y = m.LayerNorm('ln', y)
    y = m.BatchNorm('bn', y)
    return x, m.FullyConnected('fc', y, 5)

def train_and_save(m, tfutils, varmanip, folder):
    with tf.Graph().as_default():
        with tfutils.TowerContext('', is_training=True):
            x, y = build(m)
        cost = tf.reduce_mean(tf.square(y - 1.0))
        step = v1.train.MomentumOptimizer(0.01, 0.9).minimize(cost)
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        with v1.variable_scope(v1.get_variable_scope(), reuse=True):
            with tfutils.TowerContext('p', is_training=False):
                x2, y2 = build(m)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for _ in range(3):
                sess.run([step, updates], {x: DATA})
            saved = v1.train.Saver().save(sess, folder + '/model', global_step=3)
            # the averages by name: the stand-in for tf.layers keeps them out of the collection
            values = {v.name: sess.run(v) for v in v1.global_variables()
                      if 'Momentum' not in v.name}
            varmanip.save_chkpt_vars(values, folder + '/model.npz')
            return sess.run(y2, {x2: DATA})

def predict(m, tfutils, path):
    with tf.Graph().as_default():
        with tfutils.TowerContext('', is_training=False):
            x, y = build(m)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            tfutils.SmartInit(path).init(sess)
            return sess.run(y, {x: DATA})
"""
PEER = MODEL + """
from tensorpack import models, tfutils
from tensorpack.tfutils import varmanip
if inputs['what'] == 'train':
    outputs['prediction'] = train_and_save(models, tfutils, varmanip, inputs['folder'])
else:
    for name in ('model-3', 'model.npz'):
        outputs[name] = predict(models, tfutils, inputs['folder'] + '/' + name)
"""


@pytest.fixture
def ours() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(MODEL, names)
    return names


def test_theirs_load_here(peer: Any, ours: dict[str, Any], tmp_path: Path) -> None:
    wanted = peer(PEER, what="train", folder=str(tmp_path))["prediction"]
    for name in ("model-3", "model.npz"):
        got = ours["predict"](models, tfutils, str(tmp_path / name))
        np.testing.assert_allclose(got, wanted, atol=1e-5)


def test_ours_load_there(peer: Any, ours: dict[str, Any], tmp_path: Path) -> None:
    wanted = ours["train_and_save"](models, tfutils, varmanip, str(tmp_path))
    got = peer(PEER, what="predict", folder=str(tmp_path))
    for name in ("model-3", "model.npz"):
        np.testing.assert_allclose(got[name], wanted, atol=1e-5)
        again = ours["predict"](models, tfutils, str(tmp_path / name))
        np.testing.assert_allclose(again, wanted, atol=1e-5)


def test_the_same_names_are_saved(peer: Any, ours: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    peer(PEER, what="train", folder=str(tmp_path / "a"))
    ours["train_and_save"](models, tfutils, varmanip, str(tmp_path / "b"))
    theirs, here = (tf.train.load_checkpoint(str(tmp_path / f / "model-3"))
                    .get_variable_to_shape_map() for f in "ab")
    assert here == theirs
