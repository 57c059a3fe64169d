# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import http.server
import os
import threading

import pytest

from tfqueue_compat.utils import fs


def test_paths(tmp_path, monkeypatch):
    fs.mkdir_p(str(tmp_path / "a" / "b"))
    fs.mkdir_p(str(tmp_path / "a" / "b"))
    fs.mkdir_p("")
    (tmp_path / "a" / "x").write_text("")
    (tmp_path / "a" / "b" / "y").write_text("")
    assert sorted(fs.recursive_walk(str(tmp_path))) == [str(tmp_path / "a" / "b" / "y"),
                                                        str(tmp_path / "a" / "x")]
    assert fs.normpath("a//b/../c") == "a/c" and fs.normpath("hdfs://a//b") == "hdfs://a//b"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fs.normpath("~/x") == str(tmp_path / "x")


def test_dataset_path(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSORPACK_DATASET", str(tmp_path))
    assert fs.get_dataset_path("a", "b") == str(tmp_path / "a" / "b")
    monkeypatch.setenv("TENSORPACK_DATASET", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match="TENSORPACK_DATASET"):
        fs.get_dataset_path("a")
    monkeypatch.delenv("TENSORPACK_DATASET")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert fs.get_dataset_path("a") == str(tmp_path / "tensorpack_data" / "a")


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "data.bin").write_bytes(os.urandom(200_000))

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            pass

    httpd = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}", folder
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_download(tmp_path, server, capsys):
    url, folder = server
    data = (folder / "data.bin").read_bytes()
    path = fs.download(f"{url}/data.bin?x=1", str(tmp_path / "new"), expect_size=len(data))
    assert path == str(tmp_path / "new" / "data.bin")
    assert (tmp_path / "new" / "data.bin").read_bytes() == data
    (folder / "data.bin").unlink()  # it is not asked for again
    fs.download(f"{url}/data.bin", str(tmp_path / "new"), expect_size=len(data))
    assert "Skip download" in capsys.readouterr().out


def test_download_of_another_size_warns(tmp_path, server, capsys):
    url, _ = server
    fs.download(f"{url}/data.bin", str(tmp_path), filename="mine", expect_size=7)
    assert "may be broken" in capsys.readouterr().out and (tmp_path / "mine").exists()


def test_download_that_fails(tmp_path, server):
    url, _ = server
    with pytest.raises(OSError, match="put it at") as e:
        fs.download(f"{url}/nothing", str(tmp_path / "new"))
    assert "404" in str(e.value) and list((tmp_path / "new").iterdir()) == []
