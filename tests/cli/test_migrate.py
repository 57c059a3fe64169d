# SPDX-License-Identifier: Apache-2.0
"""``migrate``: old scripts in, today's scripts out, as a person would have changed them by hand."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tfqueue_compat.cli.migrate import migrate_files, renamable
from tfqueue_compat.cli.rewrite import rewrite
from tfqueue_compat.cli.to_keras import propose

Done = subprocess.CompletedProcess
Python = Callable[..., Done[str]]
TFV1 = "tfqueue_compat.compat.tfv1"

OLD = '''\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Übung
import tensorflow as tf  # TF 1
from tensorpack import *
from tensorpack.dataflow.prefetch import (PrefetchData,
                                          ThreadedMapData)   # two
from tensorpack.tfutils.sessinit import ParamRestore, SaverRestore
import tensorpack.dataflow as df
import numpy as np


class Net(ModelDesc):
    def _get_inputs(self):
        return [InputDesc(tf.float32, [None, 28], 'x'), InputDesc(tf.int32, [None], 'y')]

    def _build_graph(self, inputs):
        x, y = inputs
        l = FullyConnected('fc', x, out_dim=10,
                           nl=tf.identity)  # odd   spacing
        self.cost = tf.reduce_mean(tf.mul(l, l))

    def _get_optimizer(self):
        return tf.train.AdamOptimizer(1e-3)


def data():
    ds = PrefetchData(df.FakeData([[28]]), nr_prefetch=2, nr_proc=1)
    ds = ThreadedMapData(ds, nr_thread=2, map_func=lambda dp: dp)
    ds = df.PrefetchDataZMQ(ds, nr_proc=np.int(2))
    return PrefetchDataZMQ(ds, 1), ParamRestore({'x': 1}), GymThing()


if __name__ == '__main__':
    data()
'''

NEW = '''\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Übung
import tfqueue_compat.compat.tfv1 as tf; tf.disable_eager_execution()  # TF 1
from tfqueue_compat import *
from tfqueue_compat.dataflow import (MultiProcessRunner,
                                          MultiThreadMapData)   # two
from tfqueue_compat.tfutils.sessinit import DictRestore, SaverRestore
import tfqueue_compat.dataflow as df
import numpy as np


class Net(ModelDesc):
    def inputs(self):
        return [tf.TensorSpec([None, 28], tf.float32, 'x'), tf.TensorSpec([None], tf.int32, 'y')]

    def _build_graph(self, inputs):
        x, y = inputs
        l = FullyConnected('fc', x, units=10,
                           activation=tf.identity)  # odd   spacing
        self.cost = tf.reduce_mean(tf.multiply(l, l))

    def optimizer(self):
        return tf.train.AdamOptimizer(1e-3)


def data():
    ds = MultiProcessRunner(df.FakeData([[28]]), num_prefetch=2, num_proc=1)
    ds = MultiThreadMapData(ds, num_thread=2, map_func=lambda dp: dp)
    ds = df.MultiProcessRunnerZMQ(ds, num_proc=int(2))
    return MultiProcessRunnerZMQ(ds, 1), DictRestore({'x': 1}), GymThing()


if __name__ == '__main__':
    data()
'''


def migrated(path: Path) -> str:
    (file,), unreadable = migrate_files(path)
    assert not unreadable
    return file.text


def test_an_old_script_becomes_todays(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(OLD, encoding="utf-8")
    assert migrated(path) == NEW
    path.write_text(NEW, encoding="utf-8")
    assert migrated(path) == NEW


@pytest.mark.parametrize("old, new", [
    # what is gone from its old place is bound under its old name where today's means another thing
    ("from tensorpack.tfutils.sessinit import ParamRestore\nDictRestore = 1\ny = ParamRestore(x)\n",
     "from tfqueue_compat.tfutils.sessinit import DictRestore as ParamRestore\nDictRestore = 1\n"
     "y = ParamRestore(x)\n"),
    ("from tensorpack import PrefetchData as P\nP(ds, nr_proc=2)\n",
     "from tfqueue_compat import PrefetchData as P\nP(ds, num_proc=2)\n"),
    ("from tensorpack import *\nx = prediction_incorrect(a, b)\n",
     "from tfqueue_compat import *; from tfqueue_compat.tfutils.symbolic_functions import "
     "prediction_incorrect\nx = prediction_incorrect(a, b)\n"),
    ("from tensorpack.train.multigpu import SyncMultiGPUTrainer\n",
     "from tfqueue_compat.train import SyncMultiGPUTrainer\n"),
    ("from tensorpack.models.model_desc import InputVar, ModelDesc\n",
     "from tfqueue_compat.graph_builder.model_desc import InputVar, ModelDesc\n"),
    ("import tensorpack.utils.stat as s\n", "import tfqueue_compat.utils.stats as s\n"),
    ("from tensorpack import *\ndef f():\n  with argscope([Conv2D, MaxPooling], stride=2): pass\n",
     "from tfqueue_compat import *\ndef f():\n"
     "  with argscope([Conv2D, MaxPooling], strides=2): pass\n"),
    ("from tensorpack import *\ny = (LinearWrap(x).Conv2D('c', out_channel=3, nl=f)\n"
     "     .tf.sqrt().FullyConnected('f', 2, nl=g)())\n",
     "from tfqueue_compat import *\ny = (LinearWrap(x).Conv2D('c', filters=3, activation=f)\n"
     "     .tf.sqrt().FullyConnected('f', 2, activation=g)())\n"),
    ("import cv2\ncv2.putText(a, b, cv2.CV_AA)\n", "import cv2\ncv2.putText(a, b, cv2.LINE_AA)\n"),
    ("import cPickle as pickle\nfrom StringIO import StringIO\nimport Queue\n",
     "import pickle as pickle\nfrom io import StringIO\nimport queue as Queue\n"),
    ("for k, v in d.iteritems():\n    xrange(3)\n", "for k, v in d.items():\n    range(3)\n"),
    ("try:\n    xrange\nexcept NameError:\n    xrange = range\n",) * 2,
    ("import tensorflow as tf\na = tf.concat(0, [b,\n  c]) + tf.concat([b], 1)\n"
     "tf.nn.softmax_cross_entropy_with_logits(x + 1, y), tf.split(-1, 2, z)\n",
     f"import {TFV1} as tf\na = tf.concat(axis=0, values=[b,\n  c]) + tf.concat([b], 1)\n"
     "tf.nn.softmax_cross_entropy_with_logits(logits=x + 1, labels=y), "
     "tf.split(axis=-1, num_or_size_splits=2, value=z)\n"),
    ("import tensorflow as tf\nfrom tensorflow import train\nimport numpy as np\n"
     "from tensorpack import InputDesc\nx = InputDesc(tf.int32, [np.int(3)], 'x')\n"
     "train.SummaryWriter, tf.train.SummaryWriter\n",
     f"import {TFV1} as tf\nfrom {TFV1} import train\nimport numpy as np\n"
     "from tfqueue_compat.graph_builder.model_desc import InputDesc\n"
     "x = tf.TensorSpec([int(3)], tf.int32, 'x')\n"
     "train.SummaryWriter, tf.summary.FileWriter\n"),
    ("from tensorpack.tfutils.summary import *\ndef f(): add_param_summary([('W', ['rms'])])\n",
     "from tfqueue_compat.tfutils.summary import *\n"
     "def f(): add_param_summary(*[('W', ['rms'])])\n"),
    ("import six\nsix.iteritems(d)\n",) * 2,
    ("import tensorflow as tf\nx = tf.zeros([2])\n",
     f"import {TFV1} as tf\nx = tf.zeros([2])\n"),  # only imported by others
    ("from tensorpack.dataflow import *\nif __name__ == '__main__':\n    BatchData(x, 2)\n",
     "from tfqueue_compat.dataflow import *\nif __name__ == '__main__':\n    BatchData(x, 2)\n"),
    ("import tensorflow as tf\nimport logging\nlogging.info('x')\nclass A: pass\n",
     f"import {TFV1} as tf\nimport logging\nlogging.info('x')\nclass A: pass\n"),
    ("import tensorflow as tf\nx = tf.placeholder(tf.float32)\n",
     f"import {TFV1} as tf; tf.disable_eager_execution()\nx = tf.placeholder(tf.float32)\n"),
    ("import tensorflow as tf\ndef main(): pass\nmain()\n",
     f"import {TFV1} as tf; tf.disable_eager_execution()\ndef main(): pass\nmain()\n"),
    ("import tensorflow as tf\ntf.disable_v2_behavior()\nwhile tf: pass\n",
     f"import {TFV1} as tf\ntf.disable_v2_behavior()\nwhile tf: pass\n"),
    ("from tensorpack import *\nfrom net import Net\nif __name__ == '__main__':\n"
     "    SimpleTrainer()\n",
     f"from tfqueue_compat import *\nfrom net import Net; import {TFV1} as tfv1; "
     "tfv1.disable_eager_execution()\nif __name__ == '__main__':\n    SimpleTrainer()\n"),
])
def test_one_by_one(old: str, new: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(old)
    assert migrated(path) == new
    path.write_text(new)
    assert migrated(path) == new


def test_run_renames_only_what_is_not_there_under_its_old_name() -> None:
    source = ("from tensorpack import *\nfrom tensorpack.tfutils.sessinit import ParamRestore\n"
              "x = PrefetchData(ds, nr_proc=2), ParamRestore(1), LMDBDataPoint('x')\n"
              "import tensorpack as tp\ntp.InputDesc(1, 2, 'x'), tp.dataflow.BatchData\n")
    assert rewrite(source).text == (
        "from tfqueue_compat import *; from tfqueue_compat.dataflow.format import LMDBDataPoint\n"
        "from tfqueue_compat.tfutils.sessinit import DictRestore as ParamRestore\n"
        "x = PrefetchData(ds, nr_proc=2), ParamRestore(1), LMDBDataPoint('x')\n"
        "import tfqueue_compat as tp\ntp.graph_builder.model_desc.InputDesc(1, 2, 'x'), "
        "tp.dataflow.BatchData\n")


def test_methods_are_renamed_together_or_not_at_all() -> None:
    base = "from tensorpack import *\nclass A(ModelDesc):\n    def _get_optimizer(self): pass\n"
    assert renamable([base, base]) == {"_get_optimizer"}
    child = "from base import A\nclass B(A):\n    def _get_optimizer(self): pass\n"
    assert renamable([base, child]) == frozenset()
    assert renamable([base, "m._get_optimizer()\n"]) == frozenset()


def test_what_it_cannot_decide_stays_and_is_listed(tmp_path: Path) -> None:
    source = ("import tensorflow as tf\nfrom tensorpack.RL import GymEnv\n"
              "from tensorpack import *\n"
              "x = tf.contrib.seq2seq.decode()\n"
              "SyncMultiGPUTrainerReplicated(3, use_nccl=True)\n"
              "import_module(name)\nimport importlib; importlib.import_module(name)\n")
    path = tmp_path / "a.py"
    path.write_text(source)
    (file,), _ = migrate_files(tmp_path)
    assert file.text.splitlines()[3:] == source.splitlines()[3:]
    assert {d.line for d in file.doubts} == {2, 4, 5, 6, 7}
    assert all(d.why for d in file.doubts)
    path.write_text("x = = 1\n")
    files, ((place, why),) = migrate_files(tmp_path)
    assert (files, place) == ([], "a.py:1") and "neither Python 3" in why


def test_python2_is_made_python3_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("from tensorpack import *\nprint 'x', 3/2\nfor i in xrange(3): print i,\n")
    (file,), _ = migrate_files(path)
    assert file.text == ("from tfqueue_compat import *\nprint('x', 3/2)\n"
                         "for i in range(3): print(i, end=\" \")\n")
    assert ["3 / 2"] == [d.old for d in file.doubts]


def test_bytes_that_are_not_the_rewriters_stay(tmp_path: Path, python: Python) -> None:
    latin = tmp_path / "latin.py"
    latin.write_bytes("# coding: latin-1\r\nimport tensorpack  # é\r\nx = '\\\n'\r\n".encode(
        "latin-1"))
    latin.chmod(0o754)
    bom = tmp_path / "bom.py"
    bom.write_bytes(b"\xef\xbb\xbfimport tensorpack as tp")
    link = tmp_path / "link.py"
    link.symlink_to("latin.py")
    other = tmp_path / "other.py"
    other.write_bytes(b"x = 1\r\ny=2")
    before = other.stat()
    done = python("-m", "tfqueue_compat", "migrate", ".")
    assert done.returncode == 0, done.stderr
    assert latin.read_bytes() == (
        "# coding: latin-1\r\nimport tfqueue_compat as tensorpack  # é\r\nx = '\\\n'\r\n".encode(
            "latin-1"))
    assert stat.S_IMODE(latin.stat().st_mode) == 0o754 and link.is_symlink()
    assert bom.read_bytes() == b"\xef\xbb\xbfimport tfqueue_compat as tp"
    assert other.stat().st_mtime_ns == before.st_mtime_ns and other.stat().st_ino == before.st_ino
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "bom.py", "latin.py", "link.py", "migration_report.md", "other.py"]
    assert "`bom.py:1`" in (tmp_path / "migration_report.md").read_text()


def test_a_notebook_keeps_all_but_its_code(tmp_path: Path) -> None:
    book = {"cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["import tensorpack é\n"]},
        {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [{"x": 1}],
         "source": ["%pylab inline\n", "from tensorpack import *\n", "\n", "np.int(3)"]},
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
         "source": "ds = PrefetchDataZMQ(ds, nr_proc=2)\nprint 'x'"}],
        "metadata": {"a": 1}, "nbformat": 4, "nbformat_minor": 2}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (file,), _ = migrate_files(path)
    book["cells"][1]["source"] = [  # type: ignore[index]
        "%pylab inline\n", "from tfqueue_compat import *; import numpy as np\n", "\n", "int(3)"]
    book["cells"][2]["source"] = (  # type: ignore[index]
        "ds = MultiProcessRunnerZMQ(ds, num_proc=2)\nprint('x')")
    assert file.source.data(file.text).decode() == json.dumps(
        book, indent=1, ensure_ascii=False) + "\n"


def git(folder: Path, *args: str) -> str:
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *args], cwd=folder,
                          check=True, capture_output=True, text=True).stdout


def test_a_git_tree_must_be_clean(tmp_path: Path, python: Python) -> None:
    script = tmp_path / "a.py"
    script.write_text("import tensorpack\n")
    git(tmp_path, "init", "-q")
    done = python("-m", "tfqueue_compat", "migrate", ".")
    assert done.returncode == 2 and "uncommitted changes" in done.stderr
    assert script.read_text() == "import tensorpack\n"
    assert "-import tensorpack\n" in python("-m", "tfqueue_compat", "migrate", "--diff", ".").stdout
    git(tmp_path, "add", "a.py")
    git(tmp_path, "commit", "-qm", "x")
    assert python("-m", "tfqueue_compat", "migrate", ".").returncode == 0
    assert script.read_text() == "import tfqueue_compat as tensorpack\n"
    again = python("-m", "tfqueue_compat", "migrate", ".")
    assert again.returncode == 0 and "Nothing to rewrite" in again.stdout
    script.write_text("import tensorpack as t\n")
    assert python("-m", "tfqueue_compat", "migrate", "--force", "a.py").returncode == 0
    assert script.read_text() == "import tfqueue_compat as t\n"


def test_out_leaves_the_original_alone(tmp_path: Path, python: Python) -> None:
    old = tmp_path / "old"
    (old / "data").mkdir(parents=True)
    (old / "a.py").write_text("import tensorpack\n")
    (old / "data" / "x.bin").write_bytes(b"\0\1")
    done = python("-m", "tfqueue_compat", "migrate", "old", "--out", "new")
    assert done.returncode == 0, done.stderr
    assert (old / "a.py").read_text() == "import tensorpack\n" and len(os.listdir(old)) == 2
    assert (tmp_path / "new" / "a.py").read_text() == "import tfqueue_compat as tensorpack\n"
    assert (tmp_path / "new" / "data" / "x.bin").read_bytes() == b"\0\1"
    done = python("-m", "tfqueue_compat", "migrate", "old", "--out", "new")
    assert done.returncode == 2 and "Expected an empty folder" in done.stderr


LAUNCH = '''\
from tensorpack import *
def main():
    train, test = get_data('train'), get_data('test')
    config = TrainConfig(model=Net(depth=3), data=QueueInput(train), max_epoch=5,
                         steps_per_epoch=len(train),
                         callbacks=[ModelSaver(), InferenceRunner(test, [ScalarStats('cost')])],
                         starting_epoch=2, monitors=[], session_init=SmartInit(args.load))
    launch_train_with_config(config, {trainer})
'''


TRAIN = '''\
from tensorpack import *
import tensorflow as tf
class Net(ModelDesc):
    def inputs(self):
        return [tf.TensorSpec([None, 4], tf.float32, 'x')]
    def build_graph(self, x):
        w = tf.get_variable('w', [4], initializer=tf.ones_initializer())
        return tf.reduce_mean(tf.square(x * w), name='cost')
    def optimizer(self):
        return tf.train.GradientDescentOptimizer(0.5)
DATA = [[np.full((8, 4), k / 8, 'float32')] for k in range(5)]
def main():
    config = TrainConfig(model=Net(), dataflow=DataFromList(DATA, shuffle=False),
                         max_epoch=2, steps_per_epoch=3,
                         callbacks=[ModelSaver(checkpoint_dir='out')])
    launch_train_with_config(config, SimpleTrainer())
if __name__ == '__main__':
    logger.set_logger_dir('log', 'd')
    main()
'''


@pytest.mark.slow
def test_the_proposed_form_trains_as_the_launch_did(tmp_path: Path, python: Python) -> None:
    path = tmp_path / "train.py"
    path.write_text(TRAIN)
    (file,), _ = migrate_files(path, keras=True)
    path.write_text(file.text)
    remark, = file.proposals
    text = file.text.replace("; tf.disable_eager_execution()", "")
    text = text.replace(remark.old, "\n    ".join(remark.new.splitlines()))
    (tmp_path / "fit.py").write_text(text.replace("'out'", "'out_fit'"))
    for script in ("train.py", "fit.py"):
        done = python(script)
        assert done.returncode == 0, done.stderr
    code = ("from tfqueue_compat.tfutils.varmanip import load_checkpoint_vars as load\n"
            "for folder in ('out', 'out_fit'):\n"
            "    v = load(folder + '/checkpoint'); print(sorted(v), v['w'].tolist())")
    launched, fitted = python("-c", code).stdout.splitlines()
    assert launched == fitted and launched.startswith("['global_step', 'w']")


def test_the_keras_form_of_a_launch() -> None:
    remark, = propose(LAUNCH.format(trainer="SyncMultiGPUTrainerReplicated(2)"))
    assert remark.line == 8
    assert remark.new.splitlines() == [
        "from tfqueue_compat.keras_bridge import ModelDescModel",
        "# eager: leave tf.disable_eager_execution() out",
        "# not translated: monitors=[]",
        "with tf.distribute.MirroredStrategy().scope():",
        "    model = ModelDescModel(Net(depth=3))",
        "model.load_weights(SmartInit(args.load))",
        "model.fit(QueueInput(train), epochs=5, steps_per_epoch=len(train), "
        "initial_epoch=2 - 1, callbacks=[ModelSaver(), InferenceRunner(test, "
        "[ScalarStats('cost')])])"]
    remark, = propose(LAUNCH.format(trainer="AsyncMultiGPUTrainer(2)"))
    assert not remark.new and remark.why.startswith("Not mechanical: its trainer")


@pytest.mark.parametrize("script, args", [("feed_session.py", ["--steps", "20"]),
                                          ("dataflow_only.py", [])])
def test_migrated_it_says_what_it_said_under_run(script: str, args: list[str], tmp_path: Path,
                                                 python: Python, launch: Python) -> None:
    scripts = Path(__file__).parents[1] / "legacy" / "scripts"
    shutil.copytree(scripts, tmp_path / "old", ignore=shutil.ignore_patterns("__pycache__"))
    under_run = launch(f"old/{script}", *args)
    assert under_run.returncode == 0, under_run.stderr
    done = python("-m", "tfqueue_compat", "migrate", "old", "--out", "new")
    assert done.returncode == 0, done.stderr
    plain = python(f"new/{script}", *args)
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == under_run.stdout
