# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gzip
import struct
import urllib.error
import urllib.request

import numpy as np
import pytest

from tfqueue_compat.dataflow.dataset import FashionMnist, Mnist
from tfqueue_compat.dataflow.dataset.mnist import extract_labels


def write_idx(path, array):
    head = struct.pack(f">{1 + array.ndim}I", 2048 + array.ndim, *array.shape)
    data = head + array.tobytes()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


IMAGES = np.random.RandomState(0).randint(0, 256, (5, 28, 28)).astype("uint8")
LABELS = np.array([3, 1, 4, 1, 5], "uint8")


@pytest.mark.parametrize("cls, folder", [(Mnist, "mnist_data"),
                                         (FashionMnist, "fashion_mnist_data")])
@pytest.mark.parametrize("suffix", [".gz", ""])
def test_reads_the_files(root, cls, folder, suffix):
    for part, name in (("train", "train"), ("t10k", "test")):
        write_idx(root / folder / f"{part}-images-idx3-ubyte{suffix}", IMAGES)
        write_idx(root / folder / f"{part}-labels-idx1-ubyte{suffix}", LABELS)
        ds = cls(name, shuffle=False)
        assert len(ds) == 5
        for (image, label), want, number in zip(ds, IMAGES, LABELS):
            assert image.dtype == np.float32 and label == number
            np.testing.assert_allclose(image, want / 255, rtol=1e-6)
    assert sorted(dp[1] for dp in cls("train")) == [1, 1, 3, 4, 5]


def test_offline_it_says_which_file_goes_where(root, monkeypatch):
    def refuse(*args, **kwargs):
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(OSError) as e:
        Mnist("train")
    where = root / "mnist_data" / "train-images-idx3-ubyte.gz"
    assert str(where) in str(e.value) and "no network" in str(e.value)
    assert list(where.parent.iterdir()) == []


def test_broken_file(tmp_path):
    path = tmp_path / "labels"
    write_idx(path, LABELS)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="Delete it"):
        extract_labels(str(path))


def test_wrong_name():
    with pytest.raises(ValueError, match="'valid'"):
        Mnist("valid")
    assert len(FashionMnist.get_label_names(None)) == 10
