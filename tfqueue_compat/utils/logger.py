# SPDX-License-Identifier: Apache-2.0
"""The house's log: coloured lines on stdout and, once a directory is set, a ``log.log`` in it.

The module is the logger: ``logger.info(...)``, ``logger.set_logger_dir(...)``.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from .errors import say

__all__ = ["auto_set_dir", "critical", "debug", "error", "exception", "get_logger_dir", "info",
           "setLevel", "set_logger_dir", "warn", "warning"]

LOG_DIR: str | None = None  # the directory set last; read it through get_logger_dir()

_DATE = "%m%d %H:%M:%S"
_LEVELS = {logging.DEBUG: ("DBG", "yellow"), logging.WARNING: ("WRN", "magenta"),
           logging.ERROR: ("ERR", "red"), logging.CRITICAL: ("ERR", "red")}
_CHOICES = "k (keep), d (delete), b (back up), n (new) or q (quit)"


class _Lines(logging.Formatter):
    """``[0110 09:22:21 @file.py:12] WRN text``; in colour where the stream is a terminal."""

    def __init__(self, coloured: Callable[[], bool]) -> None:
        super().__init__(datefmt=_DATE)
        self._coloured = coloured

    def _paint(self, text: str, colour: str) -> str:
        if not self._coloured():
            return text
        from termcolor import colored  # costs 10 ms, wanted by terminals alone
        return colored(text, colour)

    def formatMessage(self, record: logging.LogRecord) -> str:
        head = f"[{self.formatTime(record, _DATE)} @{record.filename}:{record.lineno}]"
        tag, colour = _LEVELS.get(record.levelno, ("", ""))
        parts = [self._paint(head, "green"), self._paint(tag, colour) if tag else "",
                 record.message]
        return " ".join(p for p in parts if p)

    def format(self, record: logging.LogRecord) -> str:
        record.asctime = self.formatTime(record, _DATE)
        return super().format(record)


class _Stdout(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to whatever ``sys.stdout`` is at that moment, so that redirection works."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(_Lines(lambda: bool(getattr(sys.stdout, "isatty", bool)())))

    @property
    def stream(self) -> TextIO:
        return sys.stdout


def _make_logger() -> logging.Logger:
    made = logging.getLogger("tfqueue_compat")
    made.propagate = False
    made.setLevel(logging.INFO)
    if not any(isinstance(h, _Stdout) for h in made.handlers):
        made.addHandler(_Stdout())
    return made


_logger = _make_logger()
_file_handler: logging.FileHandler | None = None

info = _logger.info
warning = _logger.warning
warn = _logger.warning  # Python 3.13 dropped Logger.warn
error = _logger.error
critical = _logger.critical
debug = _logger.debug
exception = _logger.exception
setLevel = _logger.setLevel
addFilter = _logger.addFilter


def get_logger_dir() -> str | None:
    """Return the directory set last, or None; it is where callbacks write their files."""
    return LOG_DIR


def _stamp() -> str:
    return datetime.now().strftime("%m%d-%H%M%S")


def _close_file() -> None:
    global _file_handler
    if _file_handler is not None:
        _logger.removeHandler(_file_handler)
        _file_handler.close()
        _file_handler = None


def _open_file(path: Path) -> None:
    global _file_handler
    if path.is_file():
        kept = path.with_name(f"{path.name}.{_stamp()}")
        shutil.move(path, kept)
        _logger.info("Existing log file %s kept as %s", path, kept)
    _file_handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    _file_handler.setFormatter(_Lines(lambda: False))
    _logger.addHandler(_file_handler)


def _ask(dirname: str) -> str:
    _logger.warning("Log directory %s exists. Use d to delete it.", dirname)
    _logger.warning("If you resume an earlier run there, k (keep) is right: it writes beside it.")
    answer = ""
    while not answer:
        try:
            answer = input(f"Select an action: {_CHOICES}: ").strip().lower()
        except EOFError:
            raise OSError(say(f"set_logger_dir({dirname!r})",
                              expected="a new or empty directory, or an action",
                              received="a directory with files, and no terminal to ask on",
                              do=f"Pass action= one of {_CHOICES}.")) from None
    return answer


def _has_files(dirname: str) -> bool:
    return os.path.isdir(dirname) and any(not n.startswith(".") for n in os.listdir(dirname))


def _settle(dirname: str, action: str | None) -> str:
    """Do what ``action`` says about a directory in use; return the directory to write to."""
    action = (action or _ask(dirname)).lower()
    if action == "b":
        kept = f"{dirname}{_stamp()}"
        shutil.move(dirname, kept)
        _logger.info("Directory %s backed up as %s", dirname, kept)
    elif action == "d":
        shutil.rmtree(dirname)
    elif action == "n":
        dirname = f"{dirname}{_stamp()}"
        _logger.info("Using a new log directory %s", dirname)
    elif action != "k":
        raise OSError(say(f"set_logger_dir({dirname!r})", expected="a new or empty directory",
                          received=f"one with files, and action {action!r}",
                          do=f"Pass another directory, or action= one of {_CHOICES}."))
    return dirname


def set_logger_dir(dirname: str | os.PathLike[str], action: str | None = None) -> None:
    """Write the log to ``dirname/log.log`` from now on, and let callbacks write to ``dirname``.

    Args:
        dirname: the directory; made if missing.
        action: what to do if it holds files: ``"k"`` keep (a ``log.log`` there is renamed),
            ``"d"`` delete, ``"b"`` back up under a time stamp, ``"n"`` use a new directory with a
            time stamp, ``"q"`` quit. None asks on the terminal.

    Raises:
        OSError: where the directory is in use and the action is ``"q"`` or cannot be asked for.

    Example:
        .. code-block:: python

            logger.set_logger_dir("train_log/mnist", action="k")
            logger.info("This line is on stdout and in train_log/mnist/log.log.")
    """
    global LOG_DIR
    name = os.path.normpath(os.fspath(dirname))
    _close_file()
    if _has_files(name):
        name = _settle(name, action)
    os.makedirs(name, exist_ok=True)
    LOG_DIR = name
    _open_file(Path(name) / "log.log")
    _logger.info("Argv: %s", " ".join(sys.argv))


def auto_set_dir(action: str | None = None, name: str | None = None) -> None:
    """Set ``train_log/<name of the script>``, or ``...:<name>``, as the log directory.

    Args:
        action: as in :func:`set_logger_dir`.
        name: appended to the script's name with a colon (an underscore on Windows).

    Raises:
        RuntimeError: where there is no script, as in a notebook.
    """
    main: Any = sys.modules["__main__"]
    script = getattr(main, "__file__", None)
    if not script:
        raise RuntimeError(say("auto_set_dir", expected="a script, whose name names the directory",
                               received="an interactive session",
                               do="Call set_logger_dir('train_log/<name>')."))
    dirname = os.path.join("train_log", os.path.splitext(os.path.basename(script))[0])
    if name:
        dirname += f"{'_' if os.name == 'nt' else ':'}{name}"
    set_logger_dir(dirname, action=action)
