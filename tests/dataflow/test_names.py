# SPDX-License-Identifier: Apache-2.0
"""The names of tensorpack.dataflow, wherever old code looks for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tfqueue_compat.dataflow as df


def test_every_name_can_be_had():
    for name in df.__all__:
        assert getattr(df, name) is not None
        assert name in dir(df)


def test_old_tutorials_find_the_stages_under_dataset():
    assert df.dataset.BatchData is df.BatchData
    assert df.dataset.MapDataComponent is df.MapDataComponent


def test_typos_are_answered():
    with pytest.raises(AttributeError, match="BatchData"):
        df.BatchDta
    with pytest.raises(AttributeError, match="Mnist"):
        df.dataset.Mnits


def test_star_import_in_a_fresh_process():
    code = ("from tfqueue_compat.dataflow import *\n"
            "assert BatchData and imgaug.Flip and dataset.Digits\n"
            "import sys; assert 'tensorflow' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_star_import_where_no_optional_package_is():
    code = ("import sys\n"
            "for name in ('cv2', 'lmdb', 'zmq', 'h5py', 'msgpack', 'scipy', 'matplotlib',"
            " 'psutil', 'tensorflow'):\n"
            "    sys.modules[name] = None\n"
            "from tfqueue_compat.dataflow import *\n"
            "from tfqueue_compat.utils import *\n"
            "from tfqueue_compat.dataflow.dataset import *\n"
            "assert len(list(BatchData(Digits('test'), 100))) == 5\n"
            "try:\n"
            "    LMDBSerializer.save(FakeData([[1]]), 'x')\n"
            "except ImportError as e:\n"
            "    assert 'pip install lmdb' in str(e)\n")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_common_is_the_same():
    from tfqueue_compat.dataflow import common
    assert common.BatchData is df.BatchData and set(common.__all__) <= set(df.__all__)


def test_dftools():
    from tfqueue_compat.dataflow import dftools
    assert dftools.dump_dataflow_to_lmdb is df.LMDBSerializer.save
