# SPDX-License-Identifier: Apache-2.0
"""Files: written, read back, and read by the libraries whose formats they are."""

from __future__ import annotations

import multiprocessing as mp
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest

from tfqueue_compat.dataflow import (CaffeLMDB, DataFlow, DataFromList, HDF5Data, HDF5Serializer,
                                     LMDBData, LMDBDataDecoder, LMDBDataPoint, LMDBSerializer,
                                     NumpySerializer, SVMLightData, TFRecordSerializer)

POINTS = [[k, np.full((2, 2), k, "float32"), f"text {k}"] for k in range(7)]


def same(got, want=POINTS):
    got = list(got)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert type(g) is type(w)
        for a, b in zip(g, w):
            np.testing.assert_array_equal(a, b)


def source(points=POINTS):
    return DataFromList(points, shuffle=False)


@pytest.mark.parametrize("as_dir", [False, True])
def test_lmdb(tmp_path, as_dir):
    lmdb = pytest.importorskip("lmdb")
    path = tmp_path / "x.lmdb"
    if as_dir:
        path.mkdir()
    LMDBSerializer.save(source(), str(path), write_frequency=2)
    ds = LMDBSerializer.load(str(path), shuffle=False)
    same(ds)
    same(ds)
    assert len(ds) == 7
    shuffled = list(LMDBSerializer.load(str(path)))
    same(sorted(shuffled, key=lambda dp: dp[0]))
    same(LMDBDataPoint(str(path), shuffle=False))
    del ds
    with lmdb.open(str(path), subdir=as_dir, readonly=True, lock=False) as env:
        with env.begin() as txn:
            assert txn.get(b"00000003") == pickle.dumps(POINTS[3], protocol=5)
            assert pickle.loads(txn.get(b"__keys__")) == [b"%08d" % k for k in range(7)]


def test_lmdb_is_not_overwritten(tmp_path):
    path = str(tmp_path / "x.lmdb")
    LMDBSerializer.save(source(), path)
    with pytest.raises(FileExistsError, match="Do: Remove"):
        LMDBSerializer.save(source(), path)
    with pytest.raises(FileNotFoundError, match="nothing"):
        LMDBData(str(tmp_path / "nothing"))
    with pytest.raises(FileNotFoundError, match="there is none"):
        LMDBData(str(tmp_path))


def test_lmdb_of_the_same_name_later(tmp_path):
    path = str(tmp_path / "x.lmdb")
    for value in (1, 2):
        LMDBSerializer.save(source([[value]]), path)
        ds = LMDBSerializer.load(path)
        assert list(ds) == [[value]]
        os.remove(path)


def test_lmdb_grows(tmp_path):
    big = [[np.full(5 << 20, k, "uint8")] for k in range(30)]  # more than it starts with
    path = str(tmp_path / "x.lmdb")
    LMDBSerializer.save(source(big), path, write_frequency=4)
    assert [dp[0][-1] for dp in LMDBSerializer.load(path, shuffle=False)] == list(range(30))


def test_lmdb_entries(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    path = str(tmp_path / "x.lmdb")
    with lmdb.open(path, subdir=False) as env, env.begin(write=True) as txn:
        for k in range(5):
            txn.put(b"%04d" % k, b"v%d" % k)
    want = [[b"%04d" % k, b"v%d" % k] for k in range(5)]
    assert list(LMDBData(path, shuffle=False)) == want
    assert sorted(LMDBData(path)) == want
    assert sorted(LMDBData(path, keys="{:0>4d}")) == want
    assert sorted(LMDBData(path, keys=["0001", "0003"])) == [want[1], want[3]]
    decoded = LMDBDataDecoder(LMDBData(path, shuffle=False),
                              lambda k, v: [v] if v != b"v2" else None)
    assert [dp[0] for dp in decoded] == [b"v0", b"v1", b"v3", b"v4"]
    with pytest.raises(KeyError, match="none such"):
        list(LMDBData(path, keys=["nope"]))


def _read_in_child(ds, queue):
    queue.put([dp[0] for dp in ds])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_lmdb_in_another_process(tmp_path, method):
    path = str(tmp_path / "x.lmdb")
    LMDBSerializer.save(source(), path)
    ds = LMDBSerializer.load(path, shuffle=False)
    next(iter(ds))
    context = mp.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_read_in_child, args=(ds, queue))
    child.start()
    assert queue.get(timeout=60) == list(range(7))
    child.join()
    same(ds)


def test_numpy(tmp_path):
    path = str(tmp_path / "x.npz")
    NumpySerializer.save(source(), path)
    same(NumpySerializer.load(path, shuffle=False))
    alike = [[np.ones((2, 2)), np.zeros((2, 2))]] * 3  # must not become one array
    NumpySerializer.save(source(alike), path)
    same(NumpySerializer.load(path, shuffle=False), alike)
    with np.load(path, allow_pickle=True) as file:
        assert file["buffer"].shape == (3,)


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "x.h5")
    HDF5Serializer.save(source([dp[:2] for dp in POINTS]), path, ["number", "deep/array"])
    same(HDF5Serializer.load(path, ["number", "deep/array"], shuffle=False),
         [dp[:2] for dp in POINTS])
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["number"], range(7))
    with pytest.raises(KeyError, match="label"):
        HDF5Data(path, ["number", "label"])
    with pytest.raises(ValueError, match="data_paths"):
        HDF5Serializer.save(source(), path, ["number"])


def test_tfrecord_is_read_without_tensorflow(tmp_path):
    path = tmp_path / "x.tfrecord"
    records = [pickle.dumps(dp) for dp in POINTS]
    blank = b"\0\0\0\0"  # the check sums; who reads without TensorFlow does not check them
    path.write_bytes(b"".join(struct.pack("<Q", len(r)) + blank + r + blank for r in records))
    ds = TFRecordSerializer.load(str(path))
    same(ds)
    with pytest.raises(NotImplementedError):
        len(ds)
    assert len(TFRecordSerializer.load(str(path), size=7)) == 7
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(ValueError, match="breaks off"):
        list(ds)


def test_tfrecord_is_written_as_tensorflow_reads_it(tmp_path):
    path = str(tmp_path / "x.tfrecord")
    code = f"""
import pickle
import numpy as np
import tensorflow as tf
from tfqueue_compat.dataflow import DataFromList, TFRecordSerializer
points = [[k, np.full(3, k)] for k in range(4)]
TFRecordSerializer.save(DataFromList(points, shuffle=False), {path!r})
got = [pickle.loads(r.numpy()) for r in tf.data.TFRecordDataset({path!r})]
assert [dp[0] for dp in got] == [0, 1, 2, 3]
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120,
                   env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert [dp[0] for dp in TFRecordSerializer.load(path)] == [0, 1, 2, 3]


def test_svmlight(tmp_path):
    path = tmp_path / "x.svm"
    path.write_text("1 1:0.5 3:2 # first\n\n-1 qid:4 2:1e3\n")
    ds = SVMLightData(str(path), shuffle=False)
    (x0, y0), (x1, y1) = ds
    np.testing.assert_array_equal([x0, x1], [[0.5, 0, 2], [0, 1000, 0]])
    assert (y0, y1) == (1, -1) and len(ds) == 2
    path.write_text("1 0:0.5 3:2\n")
    assert next(iter(SVMLightData(str(path))))[0].tolist() == [0.5, 0, 0, 2]
    path.write_text("1 what\n")
    with pytest.raises(ValueError, match="line 1"):
        SVMLightData(str(path))


def varint(n):
    out = bytearray()
    while True:
        n, low = n >> 7, n & 127
        out.append(low | (128 if n else 0))
        if not n:
            return bytes(out)


def datum(image, label, encoded=None):
    """A caffe.Datum by hand: fields 1-5 and 7 of caffe.proto."""
    h, w, c = image.shape
    data = image.transpose(2, 0, 1).tobytes() if encoded is None else encoded
    return (b"\x08" + varint(c) + b"\x10" + varint(h) + b"\x18" + varint(w) + b"\x22"
            + varint(len(data)) + data + b"\x28" + varint(label)
            + (b"\x38\x01" if encoded is not None else b""))


def test_caffe_lmdb(tmp_path):
    lmdb = pytest.importorskip("lmdb")
    cv2 = pytest.importorskip("cv2")
    image = np.random.RandomState(0).randint(0, 256, (20, 30, 3)).astype("uint8")
    png = cv2.imencode(".png", image)[1].tobytes()
    path = str(tmp_path / "x.lmdb")
    with lmdb.open(path, subdir=False) as env, env.begin(write=True) as txn:
        txn.put(b"0", datum(image, 300))
        txn.put(b"1", datum(image, 7, png))
    for (got, label), want in zip(CaffeLMDB(path, shuffle=False), (300, 7)):
        np.testing.assert_array_equal(got, image)
        assert label == want
    with lmdb.open(str(tmp_path / "bad"), subdir=False) as env, env.begin(write=True) as txn:
        txn.put(b"0", datum(image, 1)[:100])
    with pytest.raises(ValueError, match="Datum"):
        list(CaffeLMDB(str(tmp_path / "bad")))


def test_a_dataflow_that_fails_leaves_its_own_error(tmp_path):
    class Fails(DataFlow):
        def __iter__(self):
            yield [1]
            raise ZeroDivisionError("mine")

    for save in (LMDBSerializer.save, NumpySerializer.save):
        with pytest.raises(ZeroDivisionError, match="mine"):
            save(Fails(), str(tmp_path / save.__qualname__))
