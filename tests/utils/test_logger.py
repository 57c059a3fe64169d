# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import subprocess
import sys

import pytest

from tfqueue_compat.utils import logger


@pytest.fixture(autouse=True)
def fresh_logger(monkeypatch):
    monkeypatch.setattr(logger, "LOG_DIR", None)
    yield
    logger._close_file()


def test_lines(capsys):
    logger.info("plain %d", 3)
    logger.warn("careful")
    logger.error("broken")
    out = capsys.readouterr().out.splitlines()
    assert out[0].endswith("plain 3") and "@test_logger.py:" in out[0]
    assert "WRN careful" in out[1] and "ERR broken" in out[2]


def test_directory_and_file(tmp_path):
    where = tmp_path / "log"
    logger.set_logger_dir(str(where))
    logger.info("into the file")
    assert logger.get_logger_dir() == logger.LOG_DIR == str(where)
    text = (where / "log.log").read_text()
    assert "into the file" in text and "\x1b" not in text


def fill(folder):
    folder.mkdir()
    (folder / "model").write_text("x")
    (folder / "log.log").write_text("old")


def test_keep(tmp_path):
    fill(tmp_path / "log")
    logger.set_logger_dir(str(tmp_path / "log"), action="k")
    names = sorted(p.name for p in (tmp_path / "log").iterdir())
    assert names[0] == "log.log" and names[1].startswith("log.log.") and names[2] == "model"
    assert (tmp_path / "log" / names[1]).read_text() == "old"


def test_delete(tmp_path):
    fill(tmp_path / "log")
    logger.set_logger_dir(str(tmp_path / "log"), action="d")
    assert [p.name for p in (tmp_path / "log").iterdir()] == ["log.log"]


def test_backup(tmp_path):
    fill(tmp_path / "log")
    logger.set_logger_dir(str(tmp_path / "log"), action="b")
    kept = next(p for p in tmp_path.iterdir() if p.name != "log")
    assert (kept / "model").read_text() == "x"
    assert [p.name for p in (tmp_path / "log").iterdir()] == ["log.log"]


def test_new(tmp_path):
    fill(tmp_path / "log")
    logger.set_logger_dir(str(tmp_path / "log"), action="n")
    assert logger.LOG_DIR.startswith(str(tmp_path / "log")) and logger.LOG_DIR != str(
        tmp_path / "log")
    assert (tmp_path / "log" / "log.log").read_text() == "old"


def test_quit_and_nobody_to_ask(tmp_path, monkeypatch):
    fill(tmp_path / "log")
    with pytest.raises(OSError, match="action 'q'"):
        logger.set_logger_dir(str(tmp_path / "log"), action="q")
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    with pytest.raises(OSError, match="no terminal"):
        logger.set_logger_dir(str(tmp_path / "log"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("\nd\n"))
    logger.set_logger_dir(str(tmp_path / "log"))
    assert [p.name for p in (tmp_path / "log").iterdir()] == ["log.log"]


def test_an_empty_directory_is_not_asked_about(tmp_path):
    logger.set_logger_dir(str(tmp_path))
    assert (tmp_path / "log.log").exists()


def test_auto_set_dir_is_named_after_the_script(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("from tfqueue_compat.utils import logger\n"
                      "logger.auto_set_dir('d'); print(logger.get_logger_dir())\n"
                      "logger.auto_set_dir('d', name='x'); print(logger.get_logger_dir())\n")
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, text=True,
                          capture_output=True, timeout=60, env=_env())
    lines = [line for line in done.stdout.splitlines() if line.startswith("train_log")]
    assert lines == ["train_log/train", "train_log/train:x"]


def _env():
    import os

    import tfqueue_compat
    above = os.path.dirname(os.path.dirname(tfqueue_compat.__file__))
    return {**os.environ, "PYTHONPATH": above}


def test_auto_set_dir_without_a_script(monkeypatch):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    with pytest.raises(RuntimeError, match="set_logger_dir"):
        logger.auto_set_dir()


def test_importing_says_and_writes_nothing(tmp_path):
    done = subprocess.run([sys.executable, "-c", "import tfqueue_compat.utils.logger"],
                          cwd=tmp_path, check=True, capture_output=True, timeout=60, env=_env())
    assert done.stdout == done.stderr == b"" and list(tmp_path.iterdir()) == []
