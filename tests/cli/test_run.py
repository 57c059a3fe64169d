# SPDX-License-Identifier: Apache-2.0
"""``run``: what a script sees, beside what ``python SCRIPT`` would show it."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Launch = Callable[..., subprocess.CompletedProcess[str]]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def output(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


ABOUT = """
    import os, sys
    if __name__ == '__main__':
        print([os.path.realpath(__file__), sys.argv, sys.path[0], __name__, __package__,
               __spec__ and __spec__.name, sys.modules['__main__'].__dict__ is globals()])
    """


@pytest.mark.parametrize("args", [
    ["about.py"], ["sub/about.py", "--help", "-h", "--", "-m", "a b"], ["./about.py", "-c"],
    ["-m", "about", "-v", "--also", "x", "--", "-c"], ["-m", "sub.about"], ["sub", "x"],
    ["-m", "sub"], ["link.py"]])
def test_a_script_sees_what_python_shows_it(
        args: list[str], launch: Launch, python: Launch, tmp_path: Path) -> None:
    for name in ("about.py", "sub/about.py", "sub/__main__.py"):
        write(tmp_path, name, ABOUT)
    write(tmp_path, "sub/__init__.py", "")
    (tmp_path / "link.py").symlink_to(tmp_path / "sub" / "about.py")
    assert output(launch(*args)) == output(python(*args))


def test_code_from_the_command_line(launch: Launch, python: Launch) -> None:
    code = "import sys; print(sys.argv, __name__, sys.path[0], __spec__)"
    for args in ([], ["-x", "y"], ["--", "-h"], ["", "--also", "-m"]):
        assert output(launch("-c", code, *args)) == output(python("-c", code, *args))
    assert output(launch("-c", "import tensorpack; print(tensorpack.__name__)")) \
        == ["tfqueue_compat"]


@pytest.mark.parametrize("end, status", [
    ("pass", 0), ("sys.exit(3)", 3), ("sys.exit('bad')", 1), ("raise SystemExit", 0),
    ("1 / 0", 1), ("raise KeyboardInterrupt", 130)])
def test_exit_status(end: str, status: int, launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "end.py", f"import sys, atexit; atexit.register(print, 'bye')\n{end}\n")
    done = launch("end.py")
    assert (done.returncode, done.stdout) == (status, "bye\n")
    assert ("bad" in done.stderr) == ("bad" in end)


def test_tracebacks_are_the_scripts_own(launch: Launch, python: Launch, tmp_path: Path) -> None:
    write(tmp_path, "helper.py", """
        from collections import (
            OrderedDict,
            Iterable)
        import numpy as np


        def divide(x):
            return np.int(x) / 0
        """)
    write(tmp_path, "boom.py", """
        import tensorpack; \\
            import tensorpack.utils
        from tensorpack \\
            import libinfo


        def f():
            import helper
            try:
                helper.divide(1)
            except ZeroDivisionError as e:
                raise ValueError('first') from e


        f()
        """)
    text = launch("boom.py").stderr
    frames = [line.strip() for line in text.splitlines() if line.startswith("  File")]
    assert frames == [
        f'File "{tmp_path}/boom.py", line 10, in f',
        f'File "{tmp_path}/helper.py", line 8, in divide',
        f'File "{tmp_path}/boom.py", line 15, in <module>',
        f'File "{tmp_path}/boom.py", line 12, in f'], text
    assert "return np.int(x) / 0" in text  # the line as the user wrote it
    assert text.rstrip().endswith("ValueError: first")


def test_a_syntax_error_shows_no_frame_of_ours(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "old.py", "import tensorpack\nprint 'hello'\n")
    write(tmp_path, "main.py", "import sys\nimport old\n")
    for script, frames in (("old.py", 1), ("main.py", 2)):
        done = launch(script)
        files = [line for line in done.stderr.splitlines() if line.startswith("  File")]
        assert done.returncode == 1 and len(files) == frames, done.stderr
        assert "old.py" in files[-1] and "line 2" in files[-1]
        assert "Expected Python 3. Received Python 2, line 2" in done.stderr


def test_every_form_of_import_gives_this_package(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "pkg/__init__.py", "from .inner import where\n")
    write(tmp_path, "pkg/inner.py", """
        def where():
            from tensorpack.dataflow import DataFlow
            return DataFlow.__module__
        """)
    write(tmp_path, "conf.py", "import tensorpack.dataflow as d\nNAME = d.__name__\n")
    write(tmp_path, "main.py", """
        import importlib, importlib.util, imp
        import tensorpack, tensorpack.dataflow, tensorpack as tp
        import tensorpack.dataflow.base as base
        from tensorpack.dataflow import *
        from tensorpack.utils import logger as log
        import pkg
        try:
            import tensorpack.no_such_room
        except ImportError as e:
            print('guarded', type(e).__name__)
        assert tensorpack is tp and tensorpack.dataflow.base is base
        assert importlib.import_module('tensorpack.dataflow') is tensorpack.dataflow
        assert __import__('tensorpack.dataflow') is tp and BatchData is base.__dict__.get(
            'BatchData', BatchData)
        spec = importlib.util.spec_from_file_location('conf', 'conf.py')
        conf = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(conf)
        print(tp.__name__, log.__name__, pkg.where(), conf.NAME,
              imp.load_source('conf2', 'conf.py').NAME)
        import sys
        assert 'tensorflow' not in sys.modules
        """)
    assert output(launch("main.py")) == [
        "guarded ModuleNotFoundError",
        "tfqueue_compat tfqueue_compat.utils.logger tfqueue_compat.dataflow.base "
        "tfqueue_compat.dataflow tfqueue_compat.dataflow"]


def test_only_the_users_files_see_it(launch: Launch, tmp_path: Path) -> None:
    installed = tmp_path / "env" / "site-packages"
    other = tmp_path / "other"
    write(installed, "tensorpack/__init__.py", "REAL = True\n")
    # TensorFlow is a stand-in: `run` asks it for nothing but graph mode.
    write(installed, "tensorflow/__init__.py", """
        class compat:
            class v1:
                disable_eager_execution = staticmethod(lambda: None)
        REAL = True
        """)
    write(installed, "library.py", "import tensorpack, tensorflow\nimport numpy as np\n")
    write(other, "shared.py", "import tensorpack\n")
    write(tmp_path, "project/main.py", """
        import sys
        import library, tensorpack
        assert library.tensorpack.REAL and library.tensorflow.REAL
        assert tensorpack.__name__ == 'tfqueue_compat'
        sys.path.append(sys.argv[1])
        import shared
        assert shared.tensorpack is tensorpack     # the script added that folder itself
        print('ok')
        """)
    folder = tmp_path / "project"
    assert output(launch("main.py", str(other), path=(installed,), cwd=folder)) == ["ok"]
    write(tmp_path, "project/main.py", "import shared\nprint(shared.tensorpack.__name__)\n")
    plain = launch("main.py", path=(installed, other), cwd=folder)
    assert output(plain) == ["tensorpack"]
    also = launch("--also", str(other), "main.py", path=(installed, other), cwd=folder)
    assert output(also) == ["tfqueue_compat"]


WORKERS = """
    import inspect, multiprocessing, pickle, sys
    from concurrent.futures import ProcessPoolExecutor
    import helper

    class Datapoint(object):
        def __init__(self, value):
            self.value = value

    def double(datapoint):
        import tensorpack
        assert tensorpack.__name__ == helper.NAME == 'tfqueue_compat'
        return Datapoint(2 * datapoint.value)

    if __name__ == '__main__':
        context = multiprocessing.get_context(sys.argv[1])
        with context.Pool(1) as pool:
            answers = pool.map(double, [Datapoint(1), Datapoint(2)])
        assert all(type(a) is Datapoint for a in answers)
        with ProcessPoolExecutor(1, context) as pool:
            answers += pool.map(double, [Datapoint(3)])
        assert pickle.loads(pickle.dumps(answers[0])).value == 2
        assert inspect.getsource(double).splitlines()[1].strip() == 'import tensorpack'
        print([a.value for a in answers])
    """


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("how", [["train-it.py"], ["-m", "train"]], ids=["script", "module"])
def test_worker_processes(method: str, how: list[str], launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "helper.py", "import tensorpack\nNAME = tensorpack.__name__\n")
    write(tmp_path, "train-it.py", WORKERS)
    write(tmp_path, "train.py", WORKERS)
    assert output(launch(*how, method)) == ["[2, 4, 6]"]


def test_workers_of_workers_are_hooked_too(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "main.py", """
        import multiprocessing as mp

        def inner(queue):
            import tensorpack
            queue.put(tensorpack.__name__)

        def outer(queue):
            p = mp.get_context('spawn').Process(target=inner, args=(queue,))
            p.start(); p.join()

        if __name__ == '__main__':
            context = mp.get_context('spawn')
            queue = context.Queue()
            p = context.Process(target=outer, args=(queue,))
            p.start()
            print(queue.get(timeout=60))
            p.join()
        """)
    assert output(launch("main.py")) == ["tfqueue_compat"]


def test_tf1_at_top_level_and_in_threads(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "model.py", """
        import tensorflow as tf
        x = tf.placeholder(tf.float32, (None, 3), name='x')
        """)
    write(tmp_path, "main.py", """
        import threading
        import numpy as np
        from model import x
        import tensorflow as tf
        from tensorflow.contrib.layers import l2_regularizer
        import tensorflow.contrib.slim as slim

        graph = tf.get_default_graph()
        y = tf.layers.dense(x, x.get_shape()[1].value, use_bias=False,
                            kernel_initializer=tf.ones_initializer())

        def in_thread():
            assert tf.get_default_graph() is not graph    # each thread its own, as in TF 1
            assert tf.placeholder(tf.float32).graph is tf.get_default_graph()
            global z
            with graph.as_default():
                z = tf.identity(y)

        thread = threading.Thread(target=in_thread)
        thread.start(); thread.join()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(z, {x: np.ones((1, 3), np.float)}).tolist())
            print(float(sess.run(l2_regularizer(2.0)(tf.constant([3.0])))))
        tf.reset_default_graph()
        assert tf.get_default_graph() is not graph and not tf.executing_eagerly()
        assert tf.trainable_variables() == []
        """)
    assert output(launch("main.py")) == ["[[3.0, 3.0, 3.0]]", "9.0"]


def test_a_linked_script_finds_its_own_files(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "code/mine.py", "import tensorpack\n")
    script = write(tmp_path, "code/main.py", "import mine\nprint(mine.tensorpack.__name__)\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "train").symlink_to(script)
    assert output(launch("train", cwd=tmp_path / "bin")) == ["tfqueue_compat"]


def test_what_a_link_beside_the_script_leads_to_is_the_users(launch: Launch, tmp_path: Path
                                                             ) -> None:
    shared = write(tmp_path, "other/shared.py", "import tensorpack\n")
    write(tmp_path, "third/package/__init__.py", "import tensorpack\n")
    write(tmp_path, "code/main.py", """
        import package, shared
        print(shared.tensorpack.__name__, package.tensorpack.__name__)
        """)
    (tmp_path / "code" / "shared.py").symlink_to(shared)
    (tmp_path / "code" / "package").symlink_to(tmp_path / "third" / "package")
    told = ["tfqueue_compat tfqueue_compat"]
    assert output(launch("main.py", cwd=tmp_path / "code")) == told
    assert output(launch(str(tmp_path / "code" / "main.py"), cwd=tmp_path / "third")) == told


def test_a_module_whose_package_fails_shows_why(launch: Launch, tmp_path: Path) -> None:
    write(tmp_path, "pkg/__init__.py", "1 / 0\n")
    write(tmp_path, "pkg/main.py", "")
    done = launch("-m", "pkg.main")
    frames = [line for line in done.stderr.splitlines() if line.startswith("  File")]
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert len(frames) == 1 and "pkg/__init__.py" in frames[0]


def test_an_import_of_a_room_that_is_missing_says_so(launch: Launch) -> None:
    done = launch("-c", "import tensorpack.no_such_room.at_all")
    assert done.returncode == 1 and "is not there (yet): no_such_room" in done.stderr


def test_nothing_to_run(launch: Launch) -> None:
    for args in ([], ["--also"], ["--also", "x"], ["-m"], ["-c"], ["--no-such-option", "x"]):
        done = launch(*args)
        assert done.returncode == 2 and "usage: " in done.stderr, args
    missing = launch("no/such.py")
    assert missing.returncode == 2 and "No such file" in missing.stderr
    assert "Traceback" not in missing.stderr
    assert launch("-m", "no_such_module").returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_the_script(tmp_path: Path) -> None:
    script = write(tmp_path, "wait.py", """
        import time
        print('ready', flush=True)
        time.sleep(100)
        """)
    child = subprocess.Popen([sys.executable, "-m", "tfqueue_compat", "run", str(script)],
                             cwd=Path(__file__).parents[2], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130 and err.rstrip().endswith("KeyboardInterrupt")
    assert time.monotonic() - begin < 30
