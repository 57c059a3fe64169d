# SPDX-License-Identifier: Apache-2.0
"""Towers, summaries, gradients and penalties beside real tensorpack's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.parity

CODE = """
import numpy as np
import tensorflow as tf
v1 = tf.compat.v1

def tags(graph):
    found = [tf.get_static_value(o.inputs[0]) for o in graph.get_operations()
             if o.type in ('ScalarSummary', 'HistogramSummary')]
    return sorted(np.asarray(tag).item().decode() for tag in found)

def summaries():
    with tf.Graph().as_default() as g:
        with TowerContext('tower0', is_training=True):
            x = tf.identity(tf.ones([2, 3]), name='a/x')
            for kind in ['scalar', 'histogram', 'sparsity', 'mean', 'rms']:
                summary.add_tensor_summary(x, [kind])
            summary.add_tensor_summary(x, ['mean'], name='other', collections=['cc'])
            summary.add_activation_summary(x)
            summary.add_activation_summary(x, ['mean'], name='zz')
            v1.get_variable('conv/W', [2, 3])
            v1.get_variable('fc/b', [3])
            summary.add_param_summary(('.*/W', ['histogram', 'rms']), ('.*b', ['mean']))
            c = tf.reduce_mean(x, name='cost')
            with tf.name_scope('inner'):
                d = tf.cast(c, tf.int32, name='d')
            summary.add_moving_summary(c, d)
            summary.add_moving_summary(tf.identity(c, name='e'), decay=0.5, collection='mine',
                                       summary_collections=['sc'])
        with v1.variable_scope(v1.get_variable_scope(), reuse=True):
            with TowerContext('other', is_training=False):
                summary.add_moving_summary(tf.reduce_mean(x, name='no'))
                summary.add_activation_summary(x)
        outputs['tags'] = tags(g)
        outputs['collections'] = {k: sorted(i.name for i in g.get_collection(k))
                                  for k in ('summaries', 'cc', 'sc', 'local_variables')}
        outputs['moving'] = [len(g.get_collection(k)) for k in ('MOVING_SUMMARY_OPS', 'mine')]

def averages():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [], 'x')
        with TowerContext('', is_training=True):
            ops = summary.add_moving_summary(x) + summary.add_moving_summary(
                tf.identity(x, name='fast'), decay=0.3)
        rows = []
        with v1.Session() as sess:
            sess.run(v1.local_variables_initializer())
            for value in [3., -1., 4., 1., 5.]:
                sess.run([getattr(o, 'op', o) for o in ops], {x: value})
                rows.append({v.op.name: sess.run(v) for v in v1.local_variables()})
        outputs['averages'] = rows

def gradients():
    made = dict(
        clip=lambda: gradproc.GlobalNormClip(1.), few=lambda: gradproc.MapGradient(
            lambda g: g * 2, 'a/.*'), both=lambda: gradproc.MapGradient(lambda g, v: g + v),
        scale=lambda: gradproc.ScaleGradient([('a/v', 3.), ('b/.*', 0)]),
        one=lambda: gradproc.ScaleGradient(('a', 3.)), none=lambda: gradproc.FilterNoneGrad(),
        summary=lambda: gradproc.SummaryGradient('a.*'))
    for name, make in made.items():
        with tf.Graph().as_default() as g:
            v = v1.get_variable('a/v', initializer=[1., 2.])
            w = v1.get_variable('b/w', initializer=[3.])
            u = v1.get_variable('u', [1])
            cost = tf.reduce_sum(v * v) + tf.reduce_sum(w)
            pairs = v1.train.GradientDescentOptimizer(1.).compute_gradients(cost)
            if name != 'none':
                pairs = [p for p in pairs if p[0] is not None]
            with TowerContext('', is_training=True):
                pairs = make().process(pairs)
            with v1.Session() as sess:
                sess.run(v1.global_variables_initializer())
                outputs['gradient ' + name] = [(b.op.name, sess.run(a)) for a, b in pairs]
            outputs['gradient tags ' + name] = tags(g)

def towers():
    keys = ['update_ops', 'summaries', 'MOVING_SUMMARY_OPS', 'foo', 'regularization_losses',
            'variables', 'trainable_variables']
    made = dict(
        train=(lambda: tower.TowerContext('', True), False),
        named=(lambda: tower.TowerContext('t', True), False),
        predict=(lambda: tower.TowerContext('p', False), False),
        own=(lambda: tower.TowerContext('p', False, vs_name='q'), False),
        second=(lambda: tower.TrainTowerContext('tower1', index=1, total=2), True),
        second_own=(lambda: tower.TrainTowerContext('t1', 't1', index=1, total=2), False),
        first_own=(lambda: tower.TrainTowerContext('t0', 't0', index=0, total=2), False),
        reused=(lambda: tower.PredictTowerContext('p'), True))
    for name, (make, reuse) in made.items():
        with tf.Graph().as_default():
            if reuse:
                v1.get_variable('v', [1])
            with v1.variable_scope(v1.get_variable_scope(), reuse=reuse):
                with make() as ctx:
                    v = v1.get_variable('v', [1])
                    x = tf.identity(v, name='x')
                    for k in keys[:5]:
                        v1.add_to_collection(k, x)
                    seen = [ctx.name, ctx.ns_name, ctx.vs_name, ctx.is_training,
                            ctx.is_main_training_tower, ctx.has_own_variables, v.name, x.name,
                            str(ctx)]
            outputs['tower ' + name] = seen + [
                (k, len(v1.get_collection(k)), len(ctx.get_collection_in_tower(k))) for k in keys]

def penalties(m):
    with tf.Graph().as_default():
        for training in (True, False):
            with v1.variable_scope(v1.get_variable_scope(), reuse=not training):
                with TowerContext('' if training else 'p', training):
                    x = tf.ones([2, 4])
                    x = m.FullyConnected('fc0', x, 3, kernel_initializer=tf.ones_initializer())
                    m.FullyConnected('fc1', x, 3, kernel_initializer=tf.ones_initializer(),
                                     kernel_regularizer=m.l2_regularizer(.3))
                    costs = [m.regularize_cost('fc.*/W', m.l2_regularizer(.1)),
                             m.regularize_cost('c1/W', m.l1_regularizer(.1)),
                             m.regularize_cost('nope', m.l1_regularizer(.1)),
                             m.regularize_cost_from_collection()]
                    with v1.Session() as sess:
                        sess.run(v1.global_variables_initializer())
                        outputs['penalties %s' % training] = sess.run(costs)

summaries(), averages(), gradients(), towers(), penalties(models)
"""
IMPORTS = """
from {0} import models
from {0}.tfutils import *
from {0}.tfutils import gradproc, summary, tower
from {0}.tfutils.tower import TrainTowerContext, PredictTowerContext
tower.TrainTowerContext, tower.PredictTowerContext = TrainTowerContext, PredictTowerContext
"""


def _same(a: Any, b: Any, where: str) -> None:
    if isinstance(a, dict):
        assert sorted(a) == sorted(b), where
        for key in a:
            _same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            _same(x, y, f"{where}[{i}]")
    elif isinstance(a, (str, bool)):
        assert a == b, where
    else:
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=where)


def test_same(peer: Any) -> None:
    theirs = peer(IMPORTS.format("tensorpack") + CODE)
    ours: dict[str, Any] = {"outputs": {}}
    exec(IMPORTS.format("tfqueue_compat") + CODE, ours)
    _same(ours["outputs"], theirs, "")
    assert len(theirs) > 25
