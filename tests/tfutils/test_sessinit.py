# SPDX-License-Identifier: Apache-2.0
"""Checkpoints, arrays and sessions: what is read, what is said where it does not match."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.models import BatchNorm, FullyConnected
from tfqueue_compat.tfutils import sesscreate, sessinit, varmanip
from tfqueue_compat.tfutils.distributed import get_distributed_session_creator
from tfqueue_compat.tfutils.export import ModelExporter
from tfqueue_compat.tfutils.sessinit import SmartInit
from tfqueue_compat.tfutils.tower import TowerContext, TowerFunc
from tfqueue_compat.utils import logger

v1 = tf.compat.v1
A, B = np.arange(6.0).reshape(2, 3).astype("float32"), np.array([1, 2], "int32")


@pytest.fixture
def saved(tmp_path: Path) -> str:
    """A checkpoint with a (2, 3), b (2), c ()."""
    path = str(tmp_path / "model-10")
    varmanip.save_chkpt_vars({"a": A, "b:0": B, "c": np.float32(3)}, path)
    return path


@pytest.fixture
def said(monkeypatch: Any) -> list[str]:
    lines: list[str] = []
    for level in ("info", "warning"):
        monkeypatch.setattr(logger, level, lambda text, *args, **_: lines.append(text % args))
    return lines


@pytest.fixture(autouse=True)
def graph() -> object:
    with tf.Graph().as_default() as made:
        yield made


def loaded(init: Any, *variables: Any) -> list[Any]:
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        init._setup_graph()
        v1.get_default_graph().finalize()  # as trainers do
        init._run_init(sess)
        return sess.run(list(variables))


def variable(name: str, shape: Any, dtype: Any = tf.float32) -> Any:
    return v1.get_variable(name, shape, dtype, v1.zeros_initializer())


@pytest.mark.parametrize("end", ["", ".index", ".data-00000-of-00001"])
def test_a_checkpoint_by_any_of_its_names(saved: str, end: str) -> None:
    a, = loaded(SmartInit(saved + end), variable("a", [2, 3]))
    np.testing.assert_array_equal(a, A)


def test_the_latest_checkpoint(saved: str) -> None:
    folder = os.path.dirname(saved)
    varmanip.save_chkpt_vars({"a": A + 1}, os.path.join(folder, "model-9"))
    assert varmanip.get_checkpoint_path(os.path.join(folder, "checkpoint")).endswith("model-9")
    assert [s for _, s in varmanip.get_all_checkpoints(folder)] == [9, 10]


@pytest.mark.parametrize("name", ["m.npz", "m.npy"])
def test_arrays_in_files(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    if name.endswith("npz"):
        np.savez(path, **{"a:0": A, "b": B})
    else:
        np.save(path, np.array({"a:0": A, "b": B}, dtype=object), allow_pickle=True)
    a, b = loaded(SmartInit("file://" + path), variable("a", [3, 2]), variable("b", [2], tf.int32))
    np.testing.assert_array_equal(a, A.reshape(3, 2))  # as many numbers: reshaped
    np.testing.assert_array_equal(b, B)


def test_prefix_ignore_and_several_copies(saved: str) -> None:
    copies = [variable("tower0/a", [2, 3]), variable("a", [2, 3])]
    c = variable("c", [])
    got = loaded(sessinit.SaverRestore(saved, prefix="tower0", ignore=["c:0"]), *copies, c)
    np.testing.assert_array_equal(got[0], A)
    np.testing.assert_array_equal(got[1], A)
    assert got[2] == 0


def test_what_is_missing_and_extra_is_logged(saved: str, said: list[str]) -> None:
    variable("a", [2, 3]), variable("new/W", [1]), variable("a/Momentum", [2, 3])
    loaded(SmartInit(saved))
    text = "\n".join(said)
    assert "in the graph, but not found in the checkpoint: new/W\n" in text
    assert "in the checkpoint, but not found in the graph: b, c\n" in text


def test_a_mismatch_is_a_table(saved: str) -> None:
    variable("a", [3, 3]), variable("b", [2]), variable("new/W", [1])
    with pytest.raises(ValueError) as e:
        SmartInit(saved)._setup_graph()
    rows = [line.split("  ")[0] for line in str(e.value).splitlines()[3:-1]]
    assert rows == ["a", "b", "new/W", "c"]
    assert "[2, 3, 'float32']" in str(e.value) and "missing" in str(e.value)


def test_relaxed(saved: str, said: list[str]) -> None:
    a, b, c = variable("a", [3, 3]), variable("b", [2]), variable("c", [])
    got = loaded(SmartInit(saved, ignore_mismatch=True), a, b, c)
    np.testing.assert_array_equal(got[0], np.zeros([3, 3]))
    assert got[1].tolist() == [1.0, 2.0] and got[2] == 3  # cast; loaded
    assert any("Skipped" in line and "'a'" in line for line in said)


def test_dicts_and_chains(saved: str) -> None:
    a, b = variable("a", [2, 3]), variable("b", [2], tf.int32)
    chain = SmartInit([saved, None, {"b": [7, 8], "unknown": 1}])
    got = loaded(chain, a, b)
    np.testing.assert_array_equal(got[0], A)
    assert got[1].tolist() == [7, 8]
    with v1.Session() as sess, pytest.raises(ValueError, match=r"b +\[2\] +\[3\]"):
        SmartInit({"b": [1, 2, 3]}).init(sess)


@pytest.mark.parametrize("value", [[1.5, 2.0], [2 ** 40, 0]])
def test_numbers_are_never_lost(value: Any) -> None:
    b = variable("b", [2], tf.int32)
    with pytest.raises(ValueError, match="can't hold"):
        varmanip.SessionUpdate.relaxed_value_for_var(np.array(value), b)


def test_errors_help(saved: str) -> None:
    with pytest.raises(FileNotFoundError, match="'model-10'"):
        SmartInit(saved + "0")
    with pytest.raises(FileNotFoundError, match="model-10"):
        SmartInit(os.path.dirname(saved))
    with pytest.raises(FileNotFoundError, match=r"no\.npz"):
        SmartInit("no.npz")
    with pytest.raises(TypeError, match="a path"):
        SmartInit(3)
    reader = sessinit.CheckpointReaderAdapter(tf.train.load_checkpoint(saved))
    assert reader.has_tensor("a:0") and reader.get_variable_to_shape_map()["a"] == [2, 3]
    with pytest.raises(KeyError, match="c"):
        reader.get_tensor("cc")
    with v1.Session() as sess, pytest.raises(KeyError, match="'weights:0'"):
        varmanip.SessionUpdate(sess, [variable("weights", [1])]).update({"weight": [1]})


@pytest.mark.parametrize("name", ["dump.npz", "dump"])
def test_a_session_is_dumped_and_loaded(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    with TowerContext("", is_training=True):
        y = BatchNorm("bn", FullyConnected("fc", tf.ones([2, 3]), 4))
    v1.get_variable("counter", initializer=0, trainable=False)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(y.variables.mean.assign([1.0, 2, 3, 4]))
        varmanip.dump_session_params(path)
        kept = varmanip.load_chkpt_vars(path)
        assert sorted(kept) == ["bn/beta", "bn/gamma", "bn/mean/EMA", "bn/variance/EMA",
                                "fc/W", "fc/b"]
        np.testing.assert_array_equal(kept["fc/W"], sess.run("fc/W/Read/ReadVariableOp:0"))
    assert kept["bn/mean/EMA"].tolist() == [1, 2, 3, 4]


def test_session_creators(said: list[str]) -> None:
    v = v1.get_variable("v", initializer=4.0)
    with sesscreate.NewSessionCreator().create_session() as sess:
        assert sess.run(v) == 4
        reused = sesscreate.ReuseSessionCreator(sess)
        adapted = sesscreate.SessionCreatorAdapter(reused, lambda s: ("wrapped", s))
        assert reused.create_session() is sess and adapted.create_session() == ("wrapped", sess)
    queue = tf.queue.FIFOQueue(1, [tf.float32], [[]])
    v1.get_variable("late", initializer=queue.dequeue())
    sesscreate._warn_of_waiting([v1.global_variables_initializer()])
    assert any("may wait" in line for line in said)


def test_sessions_of_a_server() -> None:
    v = v1.get_variable("v", initializer=4.0)
    server = tf.distribute.Server.create_local_server()
    with get_distributed_session_creator(server).create_session() as sess:
        assert sess.run(v) == 4
    with pytest.raises(TypeError, match="Server"):
        get_distributed_session_creator("localhost")


class Config:
    """What ModelExporter asks of a PredictConfig."""

    input_signature = [tf.TensorSpec([None, 3], tf.float32, "x")]
    input_names, output_names = ["x"], ["prob", "twice:0"]
    session_creator = sesscreate.NewSessionCreator()
    session_init = SmartInit({"fc/W": np.ones([3, 2]), "bn/mean/EMA": [1.0, 2.0]})

    def __init__(self) -> None:
        self.tower_func = TowerFunc(self._build, self.input_signature)

    def _build(self, x: tf.Tensor) -> None:
        tf.nn.softmax(BatchNorm("bn", FullyConnected("fc", x, 2)), name="prob")
        tf.multiply(x, 2, name="twice")

    def _maybe_create_graph(self) -> Any:
        return tf.Graph().as_default()


X = np.random.RandomState(0).rand(4, 3).astype("float32")
LOGITS = (X.sum(1, keepdims=True) - np.array([1.0, 2.0])) / np.sqrt(1 + 1e-5)
PROB = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)


@pytest.mark.parametrize("options", [{}, {"optimize": False}, {"toco_compatible": True}])
def test_a_frozen_graph(tmp_path: Path, options: Any) -> None:
    path = str(tmp_path / "model.pb")
    ModelExporter(Config()).export_compact(path, **options)
    graph_def = v1.GraphDef.FromString(Path(path).read_bytes())
    assert not [n for n in graph_def.node if "Var" in n.op or "Assign" in n.op]
    with tf.Graph().as_default(), v1.Session() as sess:
        got = tf.import_graph_def(graph_def, return_elements=["prob:0", "twice:0"], name="")
        prob, twice = sess.run(got, {"x:0": X})
    np.testing.assert_allclose(prob, PROB, rtol=1e-4)
    np.testing.assert_allclose(twice, X * 2)


def test_a_saved_model(tmp_path: Path) -> None:
    path = str(tmp_path / "serving")
    ModelExporter(Config()).export_serving(path)
    with tf.Graph().as_default(), v1.Session() as sess:
        read = v1.saved_model.load(sess, ["serve"], path)
        signature = read.signature_def["prediction_pipeline"]
        prob = sess.run(signature.outputs["prob"].name, {signature.inputs["x"].name: X})
    np.testing.assert_allclose(prob, PROB, rtol=1e-4)
    with pytest.raises(FileExistsError, match="serving"):
        ModelExporter(Config()).export_serving(path)
    with pytest.raises(TypeError, match="PredictConfig"):
        ModelExporter({})
