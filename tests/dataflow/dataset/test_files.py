# SPDX-License-Identifier: Apache-2.0
"""The larger data sets, on small files in their formats."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

from tfqueue_compat.dataflow.dataset import (BSDS500, ILSVRC12, Caltech101Silhouettes, Cifar10,
                                             Cifar100, ILSVRC12Files, ILSVRCMeta,
                                             Places365Standard, SVHNDigit, TinyImageNet)

RNG = np.random.RandomState(0)


class Python2Pickler(pickle._Pickler):
    """Writes bytes as Python 2 wrote its str, as the CIFAR files have it."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_bytes(self, obj):
        self.write(b"T" + struct.pack("<i", len(obj)) + obj)
        self.memoize(obj)

    dispatch[bytes] = save_bytes


def dump2(obj, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as f:
        Python2Pickler(f, protocol=2).dump(obj)


def pictures(n, h, w):
    return RNG.randint(0, 256, (n, h, w, 3)).astype("uint8")


def cifar_rows(images):
    return images.transpose(0, 3, 1, 2).reshape(len(images), -1)


def test_cifar10(root):
    folder = root / "cifar10_data" / "cifar-10-batches-py"
    images = pictures(12, 32, 32)
    labels = list(range(10)) + [0, 1]
    names = [f"data_batch_{k}" for k in range(1, 6)] + ["test_batch"]
    for k, name in enumerate(names):
        dump2({b"data": cifar_rows(images[2 * k:2 * k + 2]), b"labels": labels[2 * k:2 * k + 2]},
              folder / name)
    dump2({b"label_names": [b"plane", b"car"]}, folder / "batches.meta")
    train, test = Cifar10("train", shuffle=False), Cifar10("test")
    assert (len(train), len(test)) == (10, 2)
    for (image, label), want, number in zip(train, images, labels):
        np.testing.assert_array_equal(image, want)
        assert image.dtype == np.uint8 and label == number
    np.testing.assert_allclose(train.get_per_pixel_mean(), images.mean(0), rtol=1e-5)
    np.testing.assert_allclose(train.get_per_pixel_mean(("test",)), images[10:].mean(0))
    np.testing.assert_allclose(train.get_per_channel_mean(), images.mean((0, 1, 2)), rtol=1e-5)
    assert train.get_label_names() == ["plane", "car"]
    with pytest.raises(ValueError, match="'valid'"):
        Cifar10("valid")


def test_cifar100(root):
    folder = root / "cifar100_data" / "cifar-100-python"
    images = pictures(3, 32, 32)
    for name in ("train", "test"):
        dump2({b"data": cifar_rows(images), b"fine_labels": [5, 99, 0],
               b"coarse_labels": [1, 2, 3]}, folder / name)
    dump2({b"fine_label_names": [b"apple"]}, folder / "meta")
    ds = Cifar100("test", shuffle=False)
    assert [dp[1] for dp in ds] == [5, 99, 0] and ds.get_label_names() == ["apple"]


def test_svhn(root):
    scipy_io = pytest.importorskip("scipy.io")
    images, labels = pictures(4, 32, 32), np.array([[10], [1], [9], [10]], "uint8")
    (root / "svhn_data").mkdir()
    for name in ("train", "test", "extra"):
        scipy_io.savemat(root / "svhn_data" / f"{name}_32x32.mat",
                         {"X": images.transpose(1, 2, 3, 0), "y": labels})
    ds = SVHNDigit("test", shuffle=False)
    got = list(ds)
    np.testing.assert_array_equal([dp[0] for dp in got], images)
    assert [dp[1] for dp in got] == [0, 1, 9, 0] and len(ds) == 4
    np.testing.assert_allclose(SVHNDigit.get_per_pixel_mean(), images.mean(0))


def test_caltech(tmp_path):
    scipy_io = pytest.importorskip("scipy.io")
    images = RNG.randint(0, 2, (3, 784)).astype("uint8")
    content = {}
    for name in ("train", "test", "val"):
        content[f"{name}_data"] = images
        content[f"{name}_labels"] = np.array([[1], [101], [5]], "uint8")
    scipy_io.savemat(tmp_path / "caltech101_silhouettes_28_split1.mat", content)
    got = list(Caltech101Silhouettes("val", shuffle=False, dir=str(tmp_path)))
    np.testing.assert_array_equal([dp[0] for dp in got], images.reshape(-1, 28, 28))
    assert [dp[1] for dp in got] == [0, 100, 4] and got[0][0].dtype == np.float32


def test_bsds500(root):
    scipy_io, cv2 = pytest.importorskip("scipy.io"), pytest.importorskip("cv2")
    data = root / "bsds500_data" / "BSR" / "BSDS500" / "data"
    marks = []
    for k, (h, w) in enumerate([(321, 481), (481, 321)]):
        (data / "images" / "val").mkdir(parents=True, exist_ok=True)
        (data / "groundTruth" / "val").mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(data / "images" / "val" / f"{k}.jpg"), pictures(1, h, w)[0])
        people = np.empty((1, 2), object)
        both = RNG.rand(2, h, w) > 0.9
        for i in range(2):
            one = np.zeros((1, 1), [("Segmentation", "O"), ("Boundaries", "O")])
            one["Boundaries"][0, 0] = both[i].astype("uint8")
            people[0, i] = one
        scipy_io.savemat(data / "groundTruth" / "val" / f"{k}.mat", {"groundTruth": people})
        marks.append(both.mean(0) if h < w else both.mean(0).T)
    ds = BSDS500("val", shuffle=False)
    for (image, edges), want in zip(ds, marks):
        assert image.shape == (321, 481, 3) and image.dtype == np.uint8
        np.testing.assert_allclose(edges, want)
    assert len(ds) == 2
    with pytest.raises(FileNotFoundError):
        BSDS500("train")


SYNSETS = [f"n{k:08d}" for k in range(3)]


@pytest.fixture
def imagenet(root):
    """Metadata and images of three classes; returns the folder of the images."""
    cv2 = pytest.importorskip("cv2")
    meta = root / "ilsvrc_metadata"
    meta.mkdir()
    (meta / "synsets.txt").write_text("\n".join(SYNSETS) + "\n")
    (meta / "synset_words.txt").write_text("".join(f"{s} word\n" for s in SYNSETS))
    (meta / "train.txt").write_text(f"{SYNSETS[0]}/a.JPEG 0\n{SYNSETS[2]}/b.JPEG 2\n")
    (meta / "val.txt").write_text("v1.JPEG 1\nv2.JPEG 0\n")
    (meta / "test.txt").write_text("t1.JPEG 0\n")
    mean = RNG.rand(3, 256, 256).astype("<f4")
    (meta / "imagenet_mean.binaryproto").write_bytes(
        b"\x08\x01\x10\x03\x18\x80\x02\x20\x80\x02\x2a" + b"\x80\x80\x30" + mean.tobytes())
    np.save(root / "mean.npy", mean)
    for name in (f"train/{SYNSETS[0]}/a", f"train/{SYNSETS[2]}/b", "val/v1", "val/v2", "test/t1",
                 f"../sorted/val/{SYNSETS[1]}/v1", f"../sorted/val/{SYNSETS[0]}/v2"):
        path = root / "images" / f"{name}.JPEG"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(cv2.imencode(".jpg", pictures(1, 20, 30)[0])[1].tobytes())
        (root / "images").mkdir(exist_ok=True)
    return root / "images"


def test_ilsvrc(imagenet):
    files = ILSVRC12Files(str(imagenet), "train", shuffle=False)
    assert list(files) == [[f"{imagenet}/train/{SYNSETS[0]}/a.JPEG", 0],
                           [f"{imagenet}/train/{SYNSETS[2]}/b.JPEG", 2]]
    got = list(ILSVRC12(str(imagenet), "val", shuffle=False))
    assert [dp[1] for dp in got] == [1, 0] and got[0][0].shape == (20, 30, 3)
    assert len(ILSVRC12(str(imagenet), "test")) == 1
    in_folders = ILSVRC12Files(str(imagenet.parent / "sorted"), "val", shuffle=False)
    assert [dp[0].rsplit("/", 2)[1:] for dp in in_folders] == [
        [SYNSETS[1], "v1.JPEG"], [SYNSETS[0], "v2.JPEG"]]
    assert len(list(ILSVRC12(str(imagenet.parent / "sorted"), "val"))) == 2
    with pytest.raises(ValueError, match="'foo'"):
        ILSVRC12(str(imagenet), "foo")
    with pytest.raises(FileNotFoundError, match="folder above"):
        ILSVRC12(str(imagenet / "train"), "train")


def test_ilsvrc_image_that_is_missing(imagenet):
    (imagenet / "val" / "v1.JPEG").unlink()
    with pytest.raises(OSError, match="no such file"):
        list(ILSVRC12(str(imagenet), "val", shuffle=False))


def test_ilsvrc_meta(imagenet):
    meta = ILSVRCMeta()
    assert meta.get_synset_1000() == dict(enumerate(SYNSETS))
    assert meta.get_synset_words_1000()[1] == f"{SYNSETS[1]} word"
    assert meta.get_image_list("val", "train")[0] == (f"{SYNSETS[1]}/v1.JPEG", 1)
    mean = np.load(imagenet.parent / "mean.npy")
    np.testing.assert_array_equal(meta.get_per_pixel_mean(), mean.transpose(1, 2, 0))
    assert meta.get_per_pixel_mean((100, 120)).shape == (100, 120, 3)


def test_ilsvrc_boxes(imagenet, tmp_path):
    folder = tmp_path / "boxes" / "train" / SYNSETS[0]
    folder.mkdir(parents=True)
    (folder / "a.xml").write_text(
        "<annotation><size><width>9</width></size><object><name>x</name><bndbox><xmin>1</xmin>"
        "<ymin>2</ymin><xmax>3</xmax><ymax>4</ymax></bndbox></object></annotation>")
    boxes = ILSVRC12.get_training_bbox(str(tmp_path / "boxes"),
                                       ILSVRCMeta().get_image_list("train"))
    assert boxes[0].tolist() == [1, 2, 3, 4] and boxes[1] is None


def test_tiny_imagenet(tmp_path):
    cv2 = pytest.importorskip("cv2")
    jpeg = cv2.imencode(".jpg", pictures(1, 64, 64)[0])[1].tobytes()
    (tmp_path / "wnids.txt").write_text("n2\nn1\n")
    for name in ("train/n1/images/n1_0", "train/n2/images/n2_0", "train/n2/images/n2_1",
                 "val/images/val_0", "val/images/val_1"):
        path = tmp_path / f"{name}.JPEG"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg)
    (tmp_path / "val" / "val_annotations.txt").write_text(
        "val_0.JPEG\tn1\t0\t32\t44\t62\nval_1.JPEG\tn2\t0\t1\t2\t3\n")
    assert [dp[1] for dp in TinyImageNet(str(tmp_path), "train", shuffle=False)] == [0, 0, 1]
    got = list(TinyImageNet(str(tmp_path), "val"))
    assert [dp[1] for dp in got] == [1, 0] and got[0][0].shape == (64, 64, 3)


def test_places(tmp_path):
    cv2 = pytest.importorskip("cv2")
    names = ["val/zoo/1.jpg", "val/attic/1.jpg", "val/zoo/2.jpg"]
    (tmp_path / "val.txt").write_text("\n".join(names) + "\n")
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(tmp_path / name), pictures(1, 16, 16)[0])
    ds = Places365Standard(str(tmp_path), "val")
    assert [dp[1] for dp in ds] == [1, 0, 1] and ds.get_label_names() == ["attic", "zoo"]
    assert len(ds) == 3
    (tmp_path / "train.txt").write_text("x.jpg 3\n")
    with pytest.raises(ValueError, match="easy directory"):
        Places365Standard(str(tmp_path), "train")


def test_archive_is_unpacked(root):
    """An archive lying there is used, without a download."""
    import tarfile
    folder = root / "made" / "cifar-100-python"
    for name in ("train", "test"):
        dump2({b"data": cifar_rows(pictures(2, 32, 32)), b"fine_labels": [1, 2]}, folder / name)
    dump2({b"fine_label_names": [b"apple"]}, folder / "meta")
    (root / "cifar100_data").mkdir()
    with tarfile.open(root / "cifar100_data" / "cifar-100-python.tar.gz", "w:gz") as tar:
        tar.add(folder, "cifar-100-python")
    assert len(Cifar100("train")) == 2
