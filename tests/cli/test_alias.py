# SPDX-License-Identifier: Apache-2.0
"""install() and uninstall(), each in a process of its own."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

Python = Callable[..., subprocess.CompletedProcess[str]]


def ok(python: Python, text: str, **kwargs: object) -> str:
    done = python("-c", textwrap.dedent(text), **kwargs)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tensorpack_is_this_package_module_by_module(python: Python) -> None:
    assert ok(python, """
        import pickle, sys
        import tfqueue_compat
        tfqueue_compat.install()
        tfqueue_compat.install()
        import tensorpack, tensorpack.dataflow as df
        from tensorpack.dataflow.common import BatchData
        from tensorpack.utils import logger
        assert tensorpack is tfqueue_compat
        assert df is tfqueue_compat.dataflow and BatchData is df.BatchData
        assert df.__spec__.name == 'tfqueue_compat.dataflow'   # its own, not the alias's
        assert pickle.loads(pickle.dumps(BatchData)) is BatchData
        assert 'tensorflow' not in sys.modules
        try:
            import tensorpack.no_such_room
        except ImportError as e:
            print(e)
        """) == "No module named 'tfqueue_compat.no_such_room'\n"


def test_uninstall(python: Python, tmp_path: Path) -> None:
    (tmp_path / "tensorpack.py").write_text("REAL = True\n")
    assert ok(python, """
        import tfqueue_compat
        tfqueue_compat.uninstall()     # nothing to do
        tfqueue_compat.install()
        import tensorpack
        assert tensorpack is tfqueue_compat
        tfqueue_compat.uninstall()
        import tensorpack
        print(tensorpack.REAL)
        try:
            tfqueue_compat.install()
        except RuntimeError as e:
            print('Expected no tensorpack in this process' in str(e))
        """) == "True\nTrue\n"


def test_tf1_names_for_the_notebook_and_its_modules_only(python: Python, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import tensorflow as tf\nfrom tensorflow import layers\n")
    library = tmp_path / "lib" / "site-packages"
    library.mkdir(parents=True)
    (library / "theirs.py").write_text("import tensorflow as tf\n")
    assert ok(python, """
        import builtins
        plain = builtins.__import__
        import tfqueue_compat
        tfqueue_compat.install(tensorflow=True)
        tfqueue_compat.install(tensorflow=True)
        import tensorflow as tf
        import tensorflow.contrib.layers as contrib_layers
        import tensorflow.contrib.slim
        from tensorflow import layers
        from tensorflow.python.framework import ops, graph_util
        from tensorflow.python.client import device_lib
        import mine, theirs
        assert mine.tf is tf and mine.layers is layers is tf.layers
        assert contrib_layers is tf.contrib.layers and tensorflow is tf
        assert tf.placeholder(tf.float32).graph is tf.get_default_graph()
        assert not tf.executing_eagerly()
        assert theirs.tf is not tf and theirs.tf.__name__ == 'tensorflow'
        assert ops.__name__ == 'tensorflow.python.framework.ops' and device_lib
        assert graph_util.convert_variables_to_constants
        tfqueue_compat.uninstall()
        assert builtins.__import__ is plain
        import tensorflow as tf
        assert tf is theirs.tf and tf.executing_eagerly()
        print('ok')
        """, path=(library,)) == "ok\n"
