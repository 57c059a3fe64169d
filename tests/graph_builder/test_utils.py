# SPDX-License-Identifier: Apache-2.0
"""Sums over towers against NumPy; packing is undone by unpacking."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.graph_builder.utils import (
    GradientPacker, aggregate_grads_colocate, allreduce_grads, allreduce_grads_hierarchical,
    allreduce_grads_naive, merge_grad_list, split_grad_list)

v1 = tf.compat.v1
SHAPES = [(3,), (2, 5), (1,)]


def arrays(towers: int) -> list[list[np.ndarray]]:
    rng = np.random.default_rng(1)
    return [[rng.normal(size=s).astype("float32") for s in SHAPES] for _ in range(towers)]


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("how", ["naive", "nccl", "collective", "hierarchical"])
def test_each_tower_gets_the_sum(how: str, average: bool) -> None:
    towers = 8 if how == "hierarchical" else 3
    values = arrays(towers)
    with tf.Graph().as_default(), v1.Session() as sess:
        grads = [[tf.constant(g) for g in tower] for tower in values]
        if how == "naive":
            out: Any = allreduce_grads_naive(grads, average=average)
        elif how == "hierarchical":
            out = allreduce_grads_hierarchical(grads, ["/cpu:0"] * 8, average=average)
        else:
            out = allreduce_grads(grads, average, mode=how)
        got = sess.run(out)
    reduce = np.mean if average else np.sum
    assert len(got) == towers
    for tower in got:
        for array, parts in zip(tower, zip(*values)):
            np.testing.assert_allclose(array, reduce(parts, axis=0), rtol=1e-5, atol=1e-6)


def test_sparse_gradients_stay_sparse() -> None:
    with tf.Graph().as_default(), v1.Session() as sess:
        v = v1.get_variable("v", initializer=tf.zeros([4]))
        one = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]), tf.constant([4]))
        two = tf.IndexedSlices(tf.constant([6.0]), tf.constant([3]), tf.constant([4]))
        (gradient, variable), = aggregate_grads_colocate([[(one, v)], [(two, v)]])
        assert isinstance(gradient, tf.IndexedSlices) and variable is v
        np.testing.assert_allclose(sess.run(tf.convert_to_tensor(gradient)), [0.5, 0, 0, 4])


@pytest.mark.parametrize("parts", [1, 2, 8])
def test_unpacking_undoes_packing(parts: int) -> None:
    values = arrays(2)
    packer = GradientPacker(parts)
    with tf.Graph().as_default(), v1.Session() as sess:
        grads = [[tf.constant(g) for g in tower] for tower in values]
        assert packer.compute_strategy(grads[0])
        packed = packer.pack_all(grads, ["/cpu:0"] * 2)
        assert [len(p) for p in packed] == [parts, parts]
        got = sess.run(packer.unpack_all(packed, ["/cpu:0"] * 2))
    for tower, original in zip(got, values):
        for a, b in zip(tower, original):
            np.testing.assert_array_equal(a, b)


def test_what_cannot_be_packed() -> None:
    with tf.Graph().as_default():
        assert not GradientPacker(50).compute_strategy([tf.zeros([3])])
        assert not GradientPacker(1).compute_strategy([tf.zeros([3]), tf.zeros([3], tf.float64)])
        assert not GradientPacker(1).compute_strategy([v1.placeholder(tf.float32, [None])])
        with pytest.raises(RuntimeError, match="compute_strategy"):
            GradientPacker(1).pack([tf.zeros([3])])


def test_splitting_and_merging() -> None:
    pairs = [[(1, "a"), (2, "b")], [(3, "a"), (4, "b")]]
    grads, variables = split_grad_list(pairs)
    assert grads == [[1, 2], [3, 4]] and variables == [["a", "b"], ["a", "b"]]
    assert merge_grad_list(grads, variables) == pairs
