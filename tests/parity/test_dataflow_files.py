# SPDX-License-Identifier: Apache-2.0
"""Files that real tensorpack wrote are read here, and the other way round; so is the wire."""

from __future__ import annotations

import itertools
import multiprocessing as mp
from typing import Any

import numpy as np
import pytest

from tfqueue_compat.dataflow import (DataFromList, HDF5Serializer, LMDBSerializer, NumpySerializer,
                                     RemoteDataZMQ, TFRecordSerializer, send_dataflow_zmq)
from tfqueue_compat.dataflow.dataset import Mnist
from tfqueue_compat.utils import serialize, utils

pytestmark = [pytest.mark.parity, pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning")]  # Python 3.12 on

POINTS = [[k, np.full((2, 3), k, "float32")] for k in range(6)]
KINDS = {"lmdb": LMDBSerializer, "npz": NumpySerializer, "tfrecord": TFRecordSerializer,
         "h5": HDF5Serializer}
PEER = """
import numpy as np
if not hasattr(np, 'object'):
    np.object = object  # NumpySerializer of 0.11 asks for it
from tensorpack.dataflow import *
kind = dict(lmdb=LMDBSerializer, npz=NumpySerializer, tfrecord=TFRecordSerializer,
            h5=HDF5Serializer)[inputs['kind']]
extra = (['number', 'array'],) if inputs['kind'] == 'h5' else ()
if inputs['write']:
    kind.save(DataFromList(inputs['points'], shuffle=False), inputs['path'], *extra)
else:
    options = {} if inputs['kind'] == 'tfrecord' else {'shuffle': False}
    ds = kind.load(inputs['path'], *extra, **options)
    ds.reset_state()
    outputs['points'] = [list(dp) for dp in ds.__iter__()]
"""


def assert_points(got: Any) -> None:
    got = list(iter(got))
    assert len(got) == len(POINTS)
    for g, w in zip(got, POINTS):
        assert g[0] == w[0]
        np.testing.assert_array_equal(g[1], w[1])


@pytest.mark.parametrize("kind", KINDS)
def test_theirs_is_read_here(kind: str, peer: Any, tmp_path: Any) -> None:
    path = str(tmp_path / f"x.{kind}")
    peer(PEER, kind=kind, write=True, path=path, points=POINTS)
    extra = (["number", "array"],) if kind == "h5" else ()
    options = {} if kind == "tfrecord" else {"shuffle": False}
    assert_points(KINDS[kind].load(path, *extra, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_ours_is_read_there(kind: str, peer: Any, tmp_path: Any) -> None:
    path = str(tmp_path / f"x.{kind}")
    if kind == "tfrecord":
        pytest.importorskip("tensorflow")
    extra = (["number", "array"],) if kind == "h5" else ()
    KINDS[kind].save(DataFromList(POINTS, shuffle=False), path, *extra)
    assert_points(peer(PEER, kind=kind, write=False, path=path)["points"])


def test_bytes_of_either_serializer(peer: Any) -> None:
    got = peer("from tensorpack.utils.serialize import dumps, loads\n"
               "outputs['theirs'] = dumps(inputs['points'])\n"
               "outputs['read'] = loads(inputs['ours'])\n",
               points=POINTS, ours=serialize.dumps(POINTS))
    assert_points(serialize.loads(got["theirs"]))
    assert_points(got["read"])


def test_real_tensorpack_receives(peer: Any, tmp_path: Any) -> None:
    addr = f"ipc://{tmp_path}/socket"
    sender = mp.get_context("fork").Process(
        target=send_dataflow_zmq, args=(DataFromList(POINTS, shuffle=False), addr))
    sender.start()
    try:
        got = peer("import itertools\nfrom tensorpack.dataflow import RemoteDataZMQ\n"
                   "ds = RemoteDataZMQ(inputs['addr'])\nds.reset_state()\n"
                   "outputs['points'] = list(itertools.islice(iter(ds), 6))\n", addr=addr)
    finally:
        sender.kill()
        sender.join()
    assert_points(got["points"])


def test_real_tensorpack_sends(peer: Any, tmp_path: Any) -> None:
    addr = f"ipc://{tmp_path}/socket"
    iterator = iter(RemoteDataZMQ(addr))
    receiving: list[Any] = []
    import threading
    thread = threading.Thread(target=lambda: receiving.extend(itertools.islice(iterator, 6)))
    thread.start()
    peer("import threading\nfrom tensorpack.dataflow import DataFromList, send_dataflow_zmq\n"
         "ds = DataFromList(inputs['points'], shuffle=False)\n"
         "t = threading.Thread(target=send_dataflow_zmq, args=(ds, inputs['addr']), daemon=True)\n"
         "t.start()\nt.join(3)\n"
         "with open('outputs.pkl', 'wb') as f:\n    pickle.dump({}, f)\n"
         "import os\nos._exit(0)\n", addr=addr, points=POINTS)
    thread.join(60)
    iterator.close()
    assert_points(receiving)


def test_mnist(peer: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip
    import struct
    rng = np.random.RandomState(0)
    for part in ("train", "t10k"):
        images = rng.randint(0, 256, (20, 28, 28)).astype("uint8")
        labels = rng.randint(0, 10, 20).astype("uint8")
        for name, array, ndim in (("images-idx3", images, 3), ("labels-idx1", labels, 1)):
            head = struct.pack(f">{1 + ndim}I", 2048 + ndim, *array.shape)
            (tmp_path / f"{part}-{name}-ubyte.gz").write_bytes(
                gzip.compress(head + array.tobytes()))
    got = peer("from tensorpack.dataflow.dataset import Mnist\n"
               "from tensorpack.utils import fix_rng_seed\nfix_rng_seed(3)\n"
               "ds = Mnist('test', dir=inputs['dir'])\nds.reset_state()\n"
               "outputs['points'] = list(ds)\n", dir=str(tmp_path))
    monkeypatch.setattr(utils, "_RNG_SEED", 3)
    ours = list(Mnist("test", dir=str(tmp_path)))
    for (image, label), (their_image, their_label) in zip(ours, got["points"], strict=True):
        np.testing.assert_array_equal(image, their_image)
        assert image.dtype == their_image.dtype and label == their_label
        assert label.dtype == their_label.dtype
