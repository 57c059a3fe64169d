# SPDX-License-Identifier: Apache-2.0
"""Importing does nothing: no TensorFlow, no thread, no process, no environment, no word."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tfqueue_compat

ROOT = Path(tfqueue_compat.__file__).parents[1]

LEAN = ["tfqueue_compat", "tfqueue_compat.dataflow", "tfqueue_compat.dataflow.dataset",
        "tfqueue_compat.dataflow.imgaug", "tfqueue_compat.utils", "tfqueue_compat.utils.logger",
        "tfqueue_compat.cli", "tfqueue_compat.cli.main", "tfqueue_compat.cli.run",
        "tfqueue_compat.cli.rewrite", "tfqueue_compat.libinfo"]

WITH_TENSORFLOW = ["tfqueue_compat.compat", "tfqueue_compat.compat.tfv1",
                   "tfqueue_compat.input_source", "tfqueue_compat.engine", "tfqueue_compat.plots"]

CHECK = """
import os, sys, threading
{before}
for name in ('importlib', 'multiprocessing'):
    __import__(name)
environment, threads = dict(os.environ), threading.active_count()
paths, hooks = list(sys.path), list(sys.meta_path)
import {module}
{after}
"""


def run(text: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", text], env=env, text=True,
                          capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("module", LEAN)
def test_import_loads_no_tensorflow(module: str) -> None:
    heavy = ("tensorflow", "keras", "torch", "matplotlib", "cv2")
    after = f"print([m for m in {heavy} if m in sys.modules])"
    assert run(CHECK.format(before="", module=module, after=after)) == "[]\n"


@pytest.mark.parametrize("use", [
    "from tfqueue_compat.dataflow import *",
    "from tfqueue_compat.dataflow import imgaug, dataset, RNGDataFlow, BatchData",
    "import tfqueue_compat as tp; list(tp.dataflow.BatchData(tp.dataset.Digits('test'), 100))",
])
def test_dataflow_works_where_tensorflow_is_not_installed(use: str) -> None:
    blocked = "sys.modules['tensorflow'] = sys.modules['keras'] = None  # unimportable"
    assert run(CHECK.format(before=blocked, module="tfqueue_compat.dataflow", after=use)) == ""


UNCHANGED = """
assert dict(os.environ) == environment, set(os.environ.items()) ^ set(environment.items())
assert threading.active_count() == threads
assert sys.path == paths and sys.meta_path == hooks
assert not __import__('multiprocessing').active_children()
"""


@pytest.mark.parametrize("module", LEAN)
def test_import_leaves_the_process_as_it_was(module: str) -> None:
    assert run(CHECK.format(before="", module=module, after=UNCHANGED)) == ""


def test_import_adds_nothing_to_what_tensorflow_does() -> None:
    run(CHECK.format(before="import tensorflow, tensorflow.compat.v1",
                     module=", ".join(WITH_TENSORFLOW), after=UNCHANGED))
