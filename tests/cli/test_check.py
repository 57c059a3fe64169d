# SPDX-License-Identifier: Apache-2.0
"""``check``: names are resolved without imports, and told by what becomes of them here."""

from __future__ import annotations

import ast
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tfqueue_compat.cli.check import check
from tfqueue_compat.cli.names import find_uses
from tfqueue_compat.cli.python2 import make_python3

Done = subprocess.CompletedProcess

OLD_TRAINER = '''\
#!/usr/bin/env python
import tensorflow as tf
from tensorpack import *
from tensorpack.tfutils.symbolic_functions import prediction_incorrect
import tensorpack.dataflow.imgaug as ia
from tensorpack import dataflow as D, logger
import tensorpack as tp
import numpy as np


class Net(ModelDesc):
    def _get_inputs(self):
        return [InputDesc(tf.float32, (None, 28, 28), 'input')]

    def _build_graph(self, inputs):
        x = FullyConnected('fc', inputs[0], out_dim=10, nl=tf.identity)
        with argscope([Conv2D, Deconv2D], kernel_shape=3):
            pass
        self.cost = tf.reduce_mean(x)


class Source(D.RNGDataFlow):
    def get_data(self):
        for k in range(3):
            yield [np.float(k)]


def make(df):
    df = df.whatever(D)
    ds = D.PrefetchDataZMQ(Source(), nr_proc=2)
    ds = tp.dataflow.BatchData(ds, 8)
    return tp.imgaug.Flip(horiz=True), ia.Resize(28), D.dataset.Mnist('train')


tf.mul(1, 2), tf.contrib.crf.crf_log_likelihood, tf.scalar_summary
DistributedTrainerReplicated([0], None)
'''


def uses(text: str) -> set[tuple[int, str, str]]:
    return {(u.line, u.fact.name, u.fact.here) for u in find_uses(ast.parse(text))
            if u.kind not in ("star", "module")}


def test_names_are_found_through_stars_aliases_and_attributes() -> None:
    found = uses(OLD_TRAINER)
    for line, name, here in [
            (4, "prediction_incorrect", "works"), (11, "ModelDesc", "works"),
            (12, "ModelDescBase._get_inputs()", "works"), (13, "InputDesc", "works"),
            (15, "ModelDescBase._build_graph()", "changed"), (16, "FullyConnected", "works"),
            (16, "FullyConnected(out_dim=)", "works"), (16, "FullyConnected(nl=)", "works"),
            (17, "Conv2D(kernel_shape=)", "works"), (22, "RNGDataFlow", "works"),
            (23, "DataFlow.get_data()", "works"), (25, "np.float", "moved"),
            (30, "PrefetchDataZMQ", "changed"), (30, "PrefetchDataZMQ(nr_proc=)", "works"),
            (31, "BatchData", "works"), (32, "Flip", "works"), (32, "Resize", "works"),
            (32, "Mnist", "works"), (35, "tf.mul", "moved"), (35, "tf.contrib.crf", "gone"),
            (35, "tf.scalar_summary", "moved"), (36, "DistributedTrainerReplicated", "gone")]:
        assert any(u[0] == line and u[1].endswith(name) and u[2] == here for u in found), name
    assert not [u for u in found if u[0] == 29]  # df is an argument there


@pytest.mark.parametrize("source", [
    "from tensorpack import *\ndef f(BatchData): BatchData(1)\n",
    "import tensorpack.dataflow as df\ndef f(df): df.BatchData\n",
    "from mine import BatchData\nBatchData(1)\n",
    "class tensorpack: BatchData = 1\ntensorpack.BatchData\n",
    "from .tensorpack import BatchData\nBatchData(1)\n",
    "import tensorpack.dataflow as df\nlambda df: df.BatchData\n",
])
def test_other_things_of_the_same_name_are_not_found(source: str) -> None:
    assert not [u for u in uses(source) if "BatchData" in u[1]]


@pytest.mark.parametrize("source, versions", [
    ("from tensorpack import *\nBatchData(ds, 3)\n", ("0.1", "0.11")),
    ("from tensorpack import *\nInputDesc(0, 0, '')\nTowerContext('')\n", ("0.1.6", "0.9.9")),
    ("from tensorpack import *\nMultiProcessRunnerZMQ(ds, 3)\n", ("0.9.6", "0.11")),
    ("from tensorpack.RL import *\nGymEnv('x')\n", ("0.1.5", "0.8.0")),
    ("from tensorpack import *\nPrefetchDataZMQ(ds, nr_proc=3)\n", ("0.1", "0.9.9")),
    ("import tensorflow as tf\ntf.Session()\n", None),
])
def test_the_version_it_was_written_for(source: str, versions: tuple[str, str] | None,
                                        tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(source)
    assert check([path]).versions == versions


PYTHON2 = '''\
# -*- coding: utf-8 -*-
import sys, cPickle
from tensorpack import *
print "reading", sys.argv[0]   # why not
try:
    d = cPickle.load(open("a"))
except IOError, e:
    print >>sys.stderr, "no:", e
    raise ValueError, "bad"
for k, v in d.iteritems():
    for i in xrange(0777):
        print "%s %d" % (
            k, i),
print
'''


def test_python2_is_read_line_by_line_and_not_crashed_on(tmp_path: Path) -> None:
    text, tree, leftovers = make_python3(PYTHON2)
    assert tree is not None and len(text.splitlines()) == len(PYTHON2.splitlines())
    assert sorted({line for line, _, _ in leftovers}) == [4, 7, 8, 9, 11, 12, 14]
    lines = text.splitlines()
    assert lines[3] == 'print("reading", sys.argv[0])   # why not'
    assert lines[7:9] == ['    print("no:", e, file=sys.stderr)', '    raise ValueError("bad")']
    assert lines[11:14] == ['        print("%s %d" % (', '            k, i), end=" ")', "print()"]
    (tmp_path / "old.py").write_text(PYTHON2)
    report = check([tmp_path])
    assert not report.unreadable and report.at_fault()
    python2 = {(f.place, f.name) for f in report.findings if f.kind == "python2"}
    assert {("old.py:2", "cPickle"), ("old.py:10", "iteritems"), ("old.py:11", "xrange"),
            ("old.py:9", 'raise ValueError, "bad"')} <= python2


def test_what_is_no_python_at_all_is_told_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("import tensorpack\nx = = 3\n")
    (tmp_path / "other.py").write_text("y = = 3\n")  # nobody's business
    report = check([tmp_path])
    assert [place for place, _ in report.unreadable] == ["bad.py:2"] and report.at_fault()


def test_a_notebook_is_told_by_cell_and_line(tmp_path: Path) -> None:
    def code(*lines: str) -> dict[str, object]:
        return {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
                "source": [f"{x}\n" for x in lines]}

    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["import tensorpack"]},
        code("%matplotlib inline", "import tensorpack.dataflow as df"), code("%%bash", "ls x = ("),
        code("!pip list", "ds = df.PrefetchData(", "    ds, 2)", "df.BatchData?")]}
    path = tmp_path / "book.ipynb"
    path.write_text(json.dumps(book))
    report = check([path])
    assert [(f.place, f.name.rpartition(".")[2]) for f in report.findings] == [
        ("book.ipynb[1]:2", "dataflow"), ("book.ipynb[3]:2", "PrefetchData")]


def test_only_a_folders_own_files_are_read(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "ignored/c.py", "venv/d.py", ".hidden/e.py",
                 "tensorpack/__init__.py", "tensorpack/models/f.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import tensorpack\n")
    for room in ("dataflow", "tfutils"):
        (tmp_path / "tensorpack" / room).mkdir()
    (tmp_path / "script").write_text("#!/usr/bin/python3\nimport tensorpack\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    found = [f.place for f in check([tmp_path]).findings]
    assert found == ["a.py:1", "ignored/c.py:1", "script:2", "sub/b.py:1"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("ignored\n")
    found = [f.place for f in check([tmp_path]).findings]
    assert found == ["a.py:1", "script:2", "sub/b.py:1"]


def test_the_command(python: Callable[..., Done[str]], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OLD_TRAINER)
    (tmp_path / "fine.py").write_text("from tensorpack.dataflow import *\nBatchData(ds, 2)\n")
    done = python("-m", "tfqueue_compat", "check", ".")
    assert done.returncode == 0 and len(done.stdout.splitlines()) <= 50, done.stderr
    assert "\x1b[" not in done.stdout  # no terminal, no colours
    for word in ("2 files", "gone: do this instead: 2 names", "DistributedTrainerReplicated",
                 "train.py:36", "Use HorovodTrainer()", "works, changed so", "2 places need you"):
        assert word in done.stdout, word
    assert python("-m", "tfqueue_compat", "check", "--strict", ".").returncode == 1
    assert python("-m", "tfqueue_compat", "check", "--strict", "fine.py").returncode == 0
    every = python("-m", "tfqueue_compat", "check", "--all", "fine.py").stdout
    assert "    fine.py:2" in every.splitlines()
    data = json.loads(python("-m", "tfqueue_compat", "check", "--json", ".").stdout)
    assert data["tensorpack"] == ["0.4.0", "0.9.0.1"]
    assert {"place": "train.py:36", "kind": "name", "here": "gone",
            "name": "tensorpack.train.trainers.DistributedTrainerReplicated"}.items() <= next(
        f for f in data["findings"] if f["place"] == "train.py:36").items()
    lost = python("-m", "tfqueue_compat", "check", "nowhere")
    assert lost.returncode == 2 and "Expected a file or a folder" in lost.stderr


def test_a_reader_may_have_seen_enough(python: Callable[..., Done[str]], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OLD_TRAINER)
    code = ("import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'tfqueue_compat', "
            "'check', '--json', '.'], stdout=subprocess.PIPE, stderr=subprocess.PIPE); "
            "p.stdout.close(); print(p.wait(), p.stderr.read())")
    assert python("-c", code).stdout == "0 b''\n"


def test_it_loads_neither_tensorflow_nor_the_users_code(python: Callable[..., Done[str]],
                                                        tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import tensorpack\nraise SystemExit('imported')\n")
    code = ("import sys; from tfqueue_compat.cli.main import main; main(['check', '.']); "
            "print(sorted({'tensorflow', 'train', 'numpy', 'keras'} & set(sys.modules)))")
    assert python("-c", code).stdout.splitlines()[-1] == "[]"
