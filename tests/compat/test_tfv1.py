# SPDX-License-Identifier: Apache-2.0
"""The namespace: what it forwards, what it adds, what it says of names that are gone."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest


@pytest.fixture(scope="module")
def tf():
    from tfqueue_compat.compat import tfv1
    return tfv1


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_importing_compat_loads_no_tensorflow():
    assert fresh("import sys, tfqueue_compat.compat as c\n"
                 "print('tensorflow' in sys.modules, 'tfv1' in dir(c))") == "False True"


def test_tensorflow_is_left_as_it_was():
    assert fresh(
        "import tensorflow as t, tensorflow.compat.v1 as v1\n"
        "modules = [t, t.compat.v1, t.compat.v1.nn, v1, v1.nn, v1.train]\n"
        "before = [set(vars(m)) for m in modules]\n"
        "def ours(v):\n"
        "    d = getattr(type(v), '__dict__', {}) if not isinstance(v, type(t)) else vars(v)\n"
        "    return any('tfqueue' in str(x) for x in (d.get('__name__'), d.get('__module__'),\n"
        "               getattr(v, '__module__', '') if callable(v) else ''))\n"
        "from tfqueue_compat.compat import tfv1\n"
        "tfv1.nn.rnn_cell.GRUCell, tfv1.layers.dense, tfv1.contrib.slim, tfv1.train\n"
        "print({n for m, b in zip(modules, before) for n, v in vars(m).items()\n"
        "       if not n.startswith('_') and (n not in b or ours(v))}, t.executing_eagerly(),\n"
        "      ours(tfv1.layers), ours(tfv1.reset_default_graph), ours(v1.Session))"
    ) == "set() True True True False"


def test_everything_of_compat_v1_is_there(tf):
    import tensorflow.compat.v1 as v1
    own = {"layers", "nn", "keras", "compat", "disable_eager_execution", "disable_v2_behavior",
           "enable_eager_execution", "reset_default_graph"}
    for name in set(dir(v1)) - own:
        if not name.startswith("_"):
            assert getattr(tf, name) is getattr(v1, name), name
    assert set(dir(v1)) <= set(dir(tf))
    assert tf.__version__ == v1.__version__ and tf.VERSION == v1.VERSION
    assert tf.nn.conv2d is v1.nn.conv2d and "dynamic_rnn" in dir(tf.nn)


@pytest.mark.parametrize("path, name", [
    ("train", "AdamOptimizer"), ("losses", "sparse_softmax_cross_entropy"), ("app", "run"),
    ("python_io", "tf_record_iterator"), ("saved_model.tag_constants", "SERVING"),
    ("layers", "conv2d"), ("nn", "relu"), ("nn", "rnn_cell"), ("contrib.slim", "conv2d"),
    ("contrib.layers", "l2_regularizer"), ("contrib.framework", "arg_scope"),
    ("contrib.rnn", "LSTMStateTuple"), ("contrib", "image"), ("keras", "layers"),
    ("contrib.distributions", "Normal"), ("contrib.signal", "stft"),
    ("rnn_cell", "GRUCell"), ("build_info", "cuda_version_number")])
def test_modules_are_importable(tf, path, name):
    module = importlib.import_module(f"tfqueue_compat.compat.tfv1.{path}")
    owner = tf
    for part in path.split("."):
        owner = getattr(owner, part)
    assert getattr(module, name) is getattr(owner, name)


def test_compat_v1_is_this_namespace(tf):
    import tensorflow
    assert tf.compat.v1 is tf
    assert tf.compat.v2 is tensorflow
    assert tf.contrib.keras is tf.keras
    assert tf.compat.as_text(b"x") == "x"


def test_gone_names_say_what_to_use(tf):
    assert not hasattr(tf, "mul")
    with pytest.raises(NotImplementedError, match=r"tf\.mul: Expected .* Do: Use tf\.multiply"):
        tf.mul
    with pytest.raises(AttributeError, match="Did you mean 'Session'"):
        tf.Sesion
    with pytest.raises(AttributeError, match="tf.estimator left TensorFlow in 2.16"):
        tf.estimator


def test_gone_parts_of_contrib_say_what_to_use(tf):
    from tfqueue_compat.utils.errors import NotSupported
    with pytest.raises(NotSupported, match=r"tf\.contrib\.tpu: .* Do: Use tf\.tpu"):
        tf.contrib.tpu
    with pytest.raises(ImportError, match=r"tf\.contrib\.crff: .* Did you mean 'crf'"):
        from tfqueue_compat.compat.tfv1.contrib import crff  # noqa: F401
    with pytest.raises(NotSupported, match=r"tf\.contrib\.slim\.nets: .* Do: Use"):
        tf.contrib.slim.nets
    with pytest.raises(ImportError, match="Did you mean 'l2_regularizer'"):
        from tfqueue_compat.compat.tfv1.contrib.layers import l2_regulariser  # noqa: F401


@pytest.mark.parametrize("call, text", [
    (lambda t: t.layers.dense(np.zeros((2, 3), "f"), 1, kernel_init=None), "kernel_initializer"),
    (lambda t: t.layers.Dense(3, inits=1), "Received 'inits'"),
    (lambda t: t.layers.conv2d(np.zeros((2, 3), "f"), 1, 1), "Expected an input of rank 4"),
    (lambda t: t.layers.conv2d(np.zeros((1, 4, 4, 1), "f"), 1, (1, 2, 3)), "kernel_size"),
    (lambda t: t.layers.conv2d(np.zeros((1, 4, 4, 1), "f"), 1, 1, padding="sane"), "'same'"),
    (lambda t: t.layers.conv2d(np.zeros((1, 4, 4, 1), "f"), 1, 1, data_format="NHWC"),
     "channels_last or channels_first"),
    (lambda t: t.layers.conv2d(np.zeros((1, 4, 4, 1), "f"), 1, 1, strides=2, dilation_rate=2),
     "Leave one of the two at 1"),
    (lambda t: t.layers.dense(t.placeholder(t.float32, [2, None]), 1), "known size in axis -1"),
    (lambda t: t.layers.batch_normalization(np.zeros((2, 3), "f"), fused=True), "fused=True"),
    (lambda t: t.layers.batch_normalization(np.zeros((2, 3), "f"), virtual_batch_size=1),
     "Split the batch"),
    (lambda t: t.layers.batch_normalization(np.zeros((2, 3), "f"), renorm=True,
                                            renorm_clipping={"max": 1}), "Did you mean"),
    (lambda t: t.layers.Dense(3).scope_name, "Call the layer first"),
    (lambda t: t.layers.Dense(3).output, "Call the layer first"),
])
def test_bad_arguments_are_named(tf, call, text):
    with tf.Graph().as_default(), pytest.raises(Exception, match=text):
        call(tf)


def test_learning_phase(tf):
    backend = tf.keras.backend
    assert backend.learning_phase() == 0
    with tf.Graph().as_default():
        phase = backend.learning_phase()
        assert backend.learning_phase() is phase
        with tf.Session() as sess:
            assert sess.run(phase, {phase: True}) and not sess.run(phase)
        backend.set_learning_phase(1)
        assert backend.learning_phase() == 1
    assert backend.epsilon() == 1e-7


def test_build_info_speaks_of_this_build(tf):
    import tensorflow
    from tfqueue_compat.compat.tfv1 import build_info
    want = tensorflow.sysconfig.get_build_info()
    assert build_info.cuda_version_number == want.get("cuda_version", "")


def test_where_imports_go():
    from tfqueue_compat.compat import tfv1_import, tfv1_target
    home = "tfqueue_compat.compat.tfv1"
    assert tfv1_target("tensorflow") == tfv1_target("tensorflow.compat.v1") == home
    assert tfv1_target("tensorflow.train") == f"{home}.train"
    assert tfv1_target("tensorflow.python.ops.array_ops") == "tensorflow.python.ops.array_ops"
    assert tfv1_target("tensorflow.keras.layers") == f"{home}.keras_layers"
    assert tfv1_target("tensorflow.keras.models") == "tensorflow.keras.models"
    assert tfv1_import("tensorflow.python.ops", "rnn_cell") == (f"{home}.rnn_cell", None)
    module, name = tfv1_import("tensorflow.python.framework", "graph_util")
    assert name is None
    assert hasattr(importlib.import_module(module), "convert_variables_to_constants")


def test_convert_variables_to_constants(tf):
    from tfqueue_compat.compat.tfv1 import graph_util
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        y = tf.identity(tf.layers.dense(tf.ones([1, 2]), 3), name="y")
        sess.run(tf.global_variables_initializer())
        want = sess.run(y)
        frozen = graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_allclose(sess.run("y:0"), want)


def test_tensor_spec_and_is_tfv2():
    import tensorflow
    from tfqueue_compat import compat
    assert compat.is_tfv2() is True
    spec = compat.TensorSpec([None, 3], "float32", "x")
    assert spec == tensorflow.TensorSpec([None, 3], tensorflow.float32, "x")
    assert fresh("import tensorflow.compat.v1 as v1\nv1.disable_v2_behavior()\n"
                 "from tfqueue_compat.compat import is_tfv2\nprint(is_tfv2())") == "False"
