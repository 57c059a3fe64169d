# SPDX-License-Identifier: Apache-2.0
"""Towers, their collections, and tensors found by the names they have in the model."""

from __future__ import annotations

import pytest
import tensorflow as tf

from tfqueue_compat.tfutils import collection, common
from tfqueue_compat.tfutils.tower import (PredictTowerContext, TowerContext, TowerFunc,
                                          TowerFuncWrapper, TrainTowerContext,
                                          get_current_tower_context)

v1 = tf.compat.v1
SPECS = [tf.TensorSpec([None, 2], tf.float32, "img")]


def model(x: tf.Tensor) -> tf.Tensor:
    w = v1.get_variable("layer/w", [2])
    v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, x)
    return tf.identity(w * x, name="out")


@pytest.fixture
def built() -> TowerFunc:
    function = TowerFunc(model, SPECS)
    with TowerContext("", is_training=True):
        function(v1.placeholder(tf.float32, [None, 2], "img"))
    with v1.variable_scope(v1.get_variable_scope(), reuse=True):
        with TowerContext("pred", is_training=False):
            function(tf.zeros([3, 2], name="fed"))
    return function


@pytest.fixture(autouse=True)
def graph() -> object:
    with tf.Graph().as_default() as made:
        yield made


def test_handles(built: TowerFunc) -> None:
    towers = built.towers
    assert [len(towers), len(towers.training()), len(towers.inference())] == [2, 1, 1]
    assert towers[1] is towers["pred"]
    train, pred = towers
    assert train["out"].name == "out:0" and pred["out:0"].name == "pred/out:0"
    assert train["img"].name == "img:0" and pred["img"].name == "pred/fed:0"
    assert pred.get_variable("layer/w") is train.get_variable("layer/w:0")
    assert pred.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES) == []
    assert [v.op.name for v in train.get_collection("trainable_variables")] == ["layer/w"]
    assert [len(t.get_collection("update_ops")) for t in towers] == [1, 0]
    assert len(v1.get_collection("update_ops")) == 1


@pytest.mark.parametrize("name, hint", [("oot", "'out'"), ("imgs", "'img'"), ("w", "layer/w")])
def test_a_wrong_name_is_answered_by_near_ones(built: TowerFunc, name: str, hint: str) -> None:
    with pytest.raises(KeyError, match=hint):
        built.towers["pred"].get_tensor(name)


def test_errors_help(built: TowerFunc) -> None:
    with pytest.raises(KeyError, match="'pred'"):
        built.towers["prod"]
    with pytest.raises(RuntimeError, match="TowerContext"):
        built(tf.zeros([1, 2]))
    with TowerContext("a", is_training=False):
        with pytest.raises(TypeError, match="1 inputs"):
            built()
        with pytest.raises(RuntimeError, match="don't nest"):
            with TowerContext("b", is_training=False):
                pass
        assert get_current_tower_context().name == "a"
    assert get_current_tower_context() is None
    with pytest.raises(TypeError, match="TensorSpecs"):
        TowerFunc(model, ["img"])
    assert TowerFuncWrapper(built, SPECS) is built


def test_a_second_tower_may_not_make_variables() -> None:
    with TrainTowerContext("tower0", index=0, total=2):
        v1.get_variable("a", [1])
    with pytest.raises(RuntimeError, match="new trainable variables b:0"):
        with TrainTowerContext("tower1", index=1, total=2):
            v1.get_variable("b", [1])
    with TrainTowerContext("tower1", "tower1", index=1, total=2) as own:
        v1.get_variable("a", [1])
    assert [v.op.name for v in own.get_collection_in_tower("variables")] == ["tower1/a"]


def test_an_error_in_a_tower_comes_out_and_leaves_no_tower() -> None:
    with pytest.raises(ZeroDivisionError):
        with PredictTowerContext("p"):
            raise ZeroDivisionError
    assert get_current_tower_context() is None


def test_each_graph_has_its_own_tower() -> None:
    with TowerContext("", is_training=True):
        with tf.Graph().as_default():
            assert get_current_tower_context() is None
        assert get_current_tower_context().is_training


def test_collections() -> None:
    v1.add_to_collection("a", 1)
    backup = collection.backup_collection(["a", "none"])
    with collection.freeze_collection(["a"]):
        v1.add_to_collection("a", 2)
        v1.add_to_collection("b", 3)
    assert v1.get_collection("a") == [1] and v1.get_collection("b") == [3]
    v1.add_to_collection("a", 4)
    collection.restore_collection(backup)
    assert v1.get_collection("a") == [1]
    assert collection.get_inverse_graphkeys()["update_ops"] == "tf.GraphKeys.UPDATE_OPS"


def test_names_and_the_global_step() -> None:
    x = tf.zeros([1], name="scope/x")
    assert common.get_tensors_by_names(["scope/x", "scope/x:0"]) == [x, x]
    assert common.get_op_or_tensor_by_name("scope/x") is x.op
    assert common.get_op_or_tensor_by_name(["scope/x:0"]) == [x]
    with pytest.raises(KeyError, match="'scope/x'"):
        common.get_tensors_by_names(["x"])
    with v1.variable_scope("inner", reuse=False), tf.name_scope("other"):
        step = common.get_global_step_var()
    assert step.op.name == "global_step" and common.get_global_step_var() is step
    with pytest.raises(RuntimeError, match="default session"):
        common.get_global_step_value()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(v1.assign_add(step, 7))
        assert common.get_global_step_value() == 7
        assert common.gpu_available_in_session() == bool(
            tf.config.list_physical_devices("GPU"))
    assert common.get_tf_version_tuple() >= (2, 16)
    assert common.tfv1.layers.dense and common.get_default_sess_config(0.5).allow_soft_placement
    assert "TensorFlow" in common.collect_env_info()
