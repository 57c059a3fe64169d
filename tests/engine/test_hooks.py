# SPDX-License-Identifier: Apache-2.0
"""The callback's contract, in real graphs and sessions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

from tfqueue_compat.engine.group import Callbacks
from tfqueue_compat.engine.hooks import (Callback, CallbackFactory, CallbackToHook,
                                         ProxyCallback)

v1 = tf.compat.v1
TRAINER = SimpleNamespace(epoch_num=3, global_step=20, local_step=4)


class my_Scoped(Callback):
    def _setup_graph(self) -> None:
        self.op = tf.constant(1, name="made")


def test_the_clock_is_the_trainers() -> None:
    cb = Callback()
    cb.setup_graph(TRAINER)
    assert (cb.epoch_num, cb.global_step, cb.local_step) == (3, 20, 4)


def test_the_graph_is_built_in_a_scope_of_the_callbacks_name() -> None:
    with tf.Graph().as_default() as graph:
        first, second = my_Scoped(), my_Scoped()
        second.name_scope = "other"
        first.setup_graph(TRAINER)
        second.setup_graph(TRAINER)
        proxied = my_Scoped()
        ProxyCallback(proxied).setup_graph(TRAINER)
    assert first.graph is graph and first.trainer is TRAINER
    assert [cb.op.name for cb in (first, second, proxied)] == [
        "myScoped/made:0", "other/made:0", "myScoped_1/made:0"]


def test_names_are_found_in_the_graph_and_then_in_the_first_training_tower() -> None:
    class Towers:
        def training(self) -> list[Any]:
            return [SimpleNamespace(ns_name="tower0", vs_name=""),
                    SimpleNamespace(ns_name="tower1", vs_name="")]

    trainer = SimpleNamespace(towers=Towers())
    with tf.Graph().as_default():
        top = tf.constant(1.0, name="cost")
        inner = tf.constant(2.0, name="tower0/error")
        cb = Callback()
        cb.setup_graph(trainer)
        assert cb.get_tensors_maybe_in_tower(["cost", "cost:0", "error:0"]) == [
            top.op, top, inner]
        with pytest.raises(KeyError, match=r"'kost:0'.*Did you mean 'cost'"):
            cb.get_tensors_maybe_in_tower(["kost:0"])


@pytest.mark.parametrize("form", [
    lambda t: t, lambda t: [t], lambda t: "x:0", lambda t: ["x:0"],
    lambda t: v1.train.SessionRunArgs(fetches=t)], ids=["tensor", "list", "name", "names", "args"])
def test_what_before_run_returns_is_fetched_with_the_step(form: Any) -> None:
    class Fetch(Callback):
        def _before_run(self, ctx: Any) -> Any:
            return form(x)

        def _after_run(self, run_context: Any, run_values: Any) -> None:
            self.got = run_values.results

    with tf.Graph().as_default():
        x = tf.constant(7, name="x")
        step = tf.constant(1)
        cb = Fetch()
        cb.setup_graph(SimpleNamespace())
        with v1.train.MonitoredSession(hooks=[CallbackToHook(cb)]) as sess:
            assert sess.run(step) == 1
    assert cb.got in (7, [7])


def test_only_callbacks_that_take_part_in_a_run_get_a_hook() -> None:
    class Hears(Callback):
        def _after_run(self, run_context: Any, run_values: Any) -> None:
            pass

    class Public(Callback):
        def before_run(self, ctx: Any) -> None:
            pass

    by_instance = Callback()
    by_instance._before_run = lambda ctx: None  # type: ignore[method-assign]
    deaf, hears, public = Callback(), Hears(), Public()
    group = Callbacks([deaf, hears, ProxyCallback(deaf), ProxyCallback(hears), public,
                       by_instance])
    assert [hook._cb for hook in group.get_hooks()] == [
        hears, group.cbs[3], public, by_instance]


def test_a_proxy_passes_everything_on() -> None:
    calls = []

    class Record(Callback):
        def __getattribute__(self, name: str) -> Any:
            if name in NAMES:
                calls.append(name)
            return super().__getattribute__(name)

    NAMES = ["before_train", "before_epoch", "trigger_step", "after_epoch", "trigger_epoch",
             "trigger", "after_train"]
    inner = Record().set_chief_only(False)
    proxy = ProxyCallback(inner)
    assert not proxy.chief_only
    for name in NAMES:
        getattr(proxy, name)()
    # the inner callback's own _trigger_epoch calls its trigger
    assert calls == ["before_train", "before_epoch", "trigger_step", "after_epoch",
                     "trigger_epoch", "trigger", "trigger", "after_train"]


def test_a_factory_calls_its_functions_with_itself() -> None:
    got: list[Any] = []
    cb = CallbackFactory(setup_graph=lambda s: got.append(("setup", s)),
                         before_train=lambda s: got.append(("before", s)),
                         trigger=lambda s: got.append(("trigger", s)),
                         after_train=lambda s: got.append(("after", s)))
    cb.setup_graph(TRAINER)
    cb.before_train()
    cb.trigger_epoch()
    cb.after_train()
    assert got == [(name, cb) for name in ("setup", "before", "trigger", "after")]
    CallbackFactory().trigger()


@pytest.mark.parametrize("bad", [Callback, None, "ModelSaver"])
def test_what_is_no_callback_is_named(bad: Any) -> None:
    for make in (ProxyCallback, lambda cb: Callbacks([cb])):
        with pytest.raises(TypeError, match="Expected a Callback. Received"):
            make(bad)
