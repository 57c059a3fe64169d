# SPDX-License-Identifier: Apache-2.0
"""Scopes, replaced variables, argscope, dependencies, and what describes a model."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.tfutils import dependency, model_utils, scope_utils, varreplace
from tfqueue_compat.tfutils.argscope import (argscope, enable_argscope_for_function,
                                             enable_argscope_for_module, get_arg_scope)
from tfqueue_compat.utils import logger

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def graph() -> object:
    with tf.Graph().as_default() as made:
        yield made


def test_variables_are_reused_in_each_scope_and_each_graph() -> None:
    @scope_utils.auto_reuse_variable_scope
    def f() -> Any:
        return v1.get_variable("w", [1])

    with v1.variable_scope("a"):
        first = f()
        assert f() is first
    with v1.variable_scope("b"):
        assert f() is not first
    with tf.Graph().as_default():
        assert f().op.name == "w"


def test_name_scopes() -> None:
    @scope_utils.under_name_scope()
    def f() -> str:
        return tf.zeros([1], name="x").op.name

    @scope_utils.under_variable_scope()
    def g() -> str:
        return v1.get_variable("w", [1]).op.name

    assert [f(), f(), g()] == ["f/x", "f_1/x", "g/w"]
    with tf.name_scope("out/"):  # FasterRCNN names the scope of one call so
        assert [f(name_scope="level2"), f(name_scope="level2")] == [
            "out/level2/x", "out/level2/x_1"]
    names = []
    for top in (True, True, False, False):
        with tf.name_scope("out/"), scope_utils.cached_name_scope("c", top_level=top):
            names.append(tf.zeros([1], name="x").op.name)
    assert names == ["c/x", "c/x_1", "out/c/x", "out/c/x_1"]


def test_getters_stack() -> None:
    with varreplace.remap_variables(lambda v: v + 1), varreplace.remap_variables(lambda v: v * 3):
        got = v1.get_variable("v", initializer=2.0)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run(got) == 9  # the inner one last: (2 + 1) * 3


@pytest.mark.parametrize("stop, skip", [(True, False), (False, True), (True, True)])
def test_frozen_variables(stop: bool, skip: bool) -> None:
    with varreplace.freeze_variables(stop_gradient=stop, skip_collection=skip):
        got = v1.get_variable("v", [2])
        still = v1.get_variable("s", [2], trainable=False)
    variable = v1.global_variables()[0]
    assert (v1.gradients(tf.square(got), variable)[0] is None) == stop
    assert v1.trainable_variables() == ([] if skip else [variable])
    assert isinstance(still, tf.Variable)


def test_argscope_of_functions_and_modules() -> None:
    module = ModuleType("mine")

    def scaled(x: Any, by: float = 1.0, name: str | None = None) -> Any:
        return tf.multiply(x, by, name=name)

    module.scaled = scaled  # type: ignore[attr-defined]
    enable_argscope_for_module(module)
    alone = enable_argscope_for_function(scaled, log_shape=False)
    with argscope([module.scaled], by=3.0):
        with argscope(alone, name="n"):
            assert get_arg_scope()["scaled"] == {"by": 3.0, "name": "n"}
        outputs = [module.scaled(tf.constant(2.0)), alone(tf.constant(2.0), by=5.0)]
    assert get_arg_scope()["scaled"] == {}
    with v1.Session() as sess:
        assert sess.run(outputs) == [6.0, 10.0]
    with pytest.raises(TypeError, match="layer_register"), argscope(tf.nn.relu, name="x"):
        pass
    with pytest.raises(KeyError), argscope(alone, by=2.0):
        raise KeyError
    assert get_arg_scope()["scaled"] == {}


def test_dependencies() -> None:
    a, c = tf.constant(1.0, name="a"), tf.constant(2.0, name="c")
    with tf.control_dependencies([c]):
        b = tf.identity(a + 1, name="b")
    d = tf.identity(a)
    assert dependency.dependency_of_targets([d, b], c.op)
    assert not dependency.dependency_of_targets(d, c)
    assert dependency.dependency_of_fetches({"x": ["b:0"]}, a)
    with pytest.raises(TypeError, match="elements of a graph"):
        dependency.dependency_of_targets(3, a)


def test_trainable_variables_are_described(monkeypatch: Any) -> None:
    lines: list[str] = []
    for level in ("info", "warning"):
        monkeypatch.setattr(logger, level, lambda text, *args, **_: lines.append(text % args))
    model_utils.describe_trainable_vars()
    v1.get_variable("conv/W", [3, 3])
    v1.get_variable("fixed", [9], trainable=False)
    model_utils.describe_trainable_vars()
    assert "no trainable" in lines[0]
    assert "conv/W" in lines[1] and "[3, 3]" in lines[1] and "fixed" not in lines[1]
    assert "Number of parameters (elements): 9" in lines[1]
    assert model_utils.get_shape_str([tf.zeros([2]), tf.zeros([])]) == "[2], []"
