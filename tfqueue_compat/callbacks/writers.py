# SPDX-License-Identifier: Apache-2.0
"""Monitors that write: TensorBoard's event files, ``stats.json``, the console, a command."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from .event_file import EventFile
from .monitor_base import MonitorBase, NoOpMonitor

__all__ = ["JSONWriter", "ScalarPrinter", "SendMonitorData", "TFEventWriter"]

v1 = tf.compat.v1


class TFEventWriter(MonitorBase):
    """Writes summaries and the graph to a TensorBoard event file.

    Without a log directory it does nothing, and says so.

    Args:
        logdir: by default the log directory.
        max_queue: events that may wait before they are flushed to the file.
        flush_secs: seconds that they may wait.
        split_files: begin a new file after each epoch, for file systems that can't append.
    """

    def __new__(cls, logdir: str | None = None, max_queue: int = 10, flush_secs: int = 120,
                **kwargs: Any) -> Any:
        if logdir is None and logger.get_logger_dir() is None:
            return _nowhere(cls)
        return super().__new__(cls)

    def __init__(self, logdir: str | None = None, max_queue: int = 10, flush_secs: int = 120,
                 split_files: bool = False) -> None:
        self._logdir = os.fspath(logdir if logdir is not None else logger.get_logger_dir() or ".")
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._split_files = split_files
        self._file: EventFile | None = None

    def _before_train(self) -> None:
        self._file = EventFile(self._logdir, self._max_queue, self._flush_secs)
        graph = self.graph.as_graph_def(add_shapes=True)
        self._add(v1.Event(graph_def=graph.SerializeToString()))
        self._file.flush()

    def _add(self, event: Any) -> None:
        if self._file is None:
            raise RuntimeError(say("TFEventWriter", expected="a training that runs",
                                   received="a summary before or after it",
                                   do="Put summaries from before_train to after_train."))
        event.wall_time = time.time()
        self._file.add(event)

    def process_summary(self, summary: Any) -> None:
        """Write a summary at the global step."""
        self._add(v1.Event(step=self.global_step, summary=summary))

    def process_event(self, evt: Any) -> None:
        """Write an event."""
        self._add(evt)

    def _trigger(self) -> None:
        if self._file is None:
            return
        self._file.flush()
        if self._split_files:
            self._file.close()
            self._file.open()

    def _after_train(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class JSONWriter(MonitorBase):
    """Writes all numbers to ``stats.json`` in the log directory, a record for each global step.

    The file is a list of objects: the numbers by name, ``epoch_num`` and ``global_step``. Where
    training goes on, it goes on. Without a log directory the writer does nothing, and says so.
    """

    FILENAME = "stats.json"

    def __new__(cls) -> Any:
        return _nowhere(cls) if logger.get_logger_dir() is None else super().__new__(cls)

    def __init__(self) -> None:
        self._path = os.path.join(logger.get_logger_dir() or ".", self.FILENAME)
        self._stats: list[dict[str, Any]] = []
        self._now: dict[str, Any] = {}

    @staticmethod
    def load_existing_json(dir: str | None = None) -> list[dict[str, Any]] | None:
        """Read the file of an earlier training.

        Args:
            dir: where it is; by default the log directory.

        Returns:
            Its records, or None where there is no such file.

        Raises:
            ValueError: where the file is not one.
        """
        folder = logger.get_logger_dir() if dir is None else dir
        path = os.path.join(folder or ".", JSONWriter.FILENAME)
        if folder is None or not os.path.exists(path):
            return None
        with open(path, encoding="utf-8") as f:
            try:
                stats = json.load(f)
            except ValueError:
                stats = None
        if not isinstance(stats, list):
            raise ValueError(say(path, expected="a JSON list of records, as JSONWriter writes",
                                 received="something else", do="Move the file away."))
        return stats

    @staticmethod
    def load_existing_epoch_number(dir: str | None = None) -> int | None:
        """Read how many epochs an earlier training has done.

        Args:
            dir: where its file is; by default the log directory.

        Returns:
            The number, or None where it is not to be found.
        """
        stats = JSONWriter.load_existing_json(dir)
        try:
            return int(stats[-1]["epoch_num"]) if stats else None
        except (KeyError, TypeError):
            return None

    def _before_train(self) -> None:
        self._stats, self._now = [], {}
        epoch = JSONWriter.load_existing_epoch_number(os.path.dirname(self._path))
        if epoch is None:
            self._move_away()
        elif epoch + 1 != self.trainer.loop.starting_epoch:
            logger.warning("%s ends with epoch %d, and this training begins with epoch %d. To go "
                           "on with it, use AutoResumeTrainConfig or set starting_epoch=%d.",
                           self._path, epoch, self.trainer.loop.starting_epoch, epoch + 1)
            self._move_away()
        else:
            logger.info("Going on with the %s that is there.", self._path)
            self._stats = JSONWriter.load_existing_json(os.path.dirname(self._path)) or []

    def _move_away(self) -> None:
        if os.path.exists(self._path):
            kept = f"{self._path}.{datetime.now().strftime('%m%d-%H%M%S')}"
            logger.info("The old %s is kept as %s", self._path, kept)
            shutil.move(self._path, kept)

    def process_scalar(self, name: str, val: Any) -> None:
        """Take a number into the record of this step."""
        self._now[name] = val

    def _trigger_step(self) -> None:
        # what the last step reports is written with what the epoch's end reports
        if self._now and self.local_step != self.trainer.steps_per_epoch - 1:
            self._write()

    def _trigger_epoch(self) -> None:
        self._write()

    def _after_train(self) -> None:
        self._write()  # what was reported before an error is not lost

    def _write(self) -> None:
        if not self._now:
            return
        record, self._now = self._now, {}
        record["epoch_num"], record["global_step"] = self.epoch_num, self.global_step
        self._stats.append(record)
        part = self._path + ".tmp"
        with open(part, "w", encoding="utf-8") as f:
            json.dump(self._stats, f)
        os.replace(part, self._path)  # a reader finds the old file or the new one


class ScalarPrinter(MonitorBase):
    """Logs all numbers, by name.

    Args:
        enable_step: log what a step reports, after it.
        enable_epoch: log what an epoch reports, after it; the last number of each name.
        whitelist: regular expressions; log only names that one of them matches anywhere.
        blacklist: regular expressions; don't log names that one of them matches anywhere.
    """

    def __init__(self, enable_step: bool = False, enable_epoch: bool = True,
                 whitelist: Sequence[str] | None = None,
                 blacklist: Sequence[str] | None = None) -> None:
        self._enable_step, self._enable_epoch = enable_step, enable_epoch
        self._whitelist = None if whitelist is None else [re.compile(w) for w in whitelist]
        self._blacklist = [re.compile(w) for w in blacklist or ()]
        self._now: dict[str, Any] = {}

    def _before_train(self) -> None:
        self._now = {}

    def process_scalar(self, name: str, val: Any) -> None:
        """Remember a number until it is logged."""
        wanted = self._whitelist is None or any(r.search(name) for r in self._whitelist)
        if wanted and not any(r.search(name) for r in self._blacklist):
            self._now[name] = val

    def _trigger_step(self) -> None:
        last = self.local_step == self.trainer.steps_per_epoch - 1
        if self._enable_step and not (last and self._enable_epoch):
            self._log()

    def _trigger_epoch(self) -> None:
        if self._enable_epoch:
            self._log()

    def _log(self) -> None:
        for name, value in sorted(self._now.items()):
            logger.info("%s: %.5g", name, value)
        self._now = {}


class SendMonitorData(MonitorBase):
    """Runs a shell command with some numbers, each time that all of them have been reported.

    Args:
        command: the command, with the names in braces, e.g. ``"echo {val_error}"``.
        names: the names of the numbers.
    """

    def __init__(self, command: str, names: str | Sequence[str]) -> None:
        self.command = command
        self.names = [names] if isinstance(names, str) else list(names)
        self._now: dict[str, Any] = {}

    def process_scalar(self, name: str, val: Any) -> None:
        """Take a number, if it is wanted."""
        if name in self.names:
            self._now[name] = val

    def _trigger_step(self) -> None:
        self.trigger()

    def _trigger(self) -> None:
        if len(self._now) == len(set(self.names)):
            values, self._now = self._now, {}
            run_command(self.command, values)


def run_command(command: str, values: dict[str, Any]) -> None:
    """Run a shell command with values filled in; a failure is logged.

    Raises:
        ValueError: where it has a name in braces that is none of the values'.
    """
    try:
        text = command.format(**values)
    except (KeyError, IndexError) as e:
        raise ValueError(say(f"command {command!r}", expected=f"names in braces of {list(values)}",
                             received=str(e), do="Pass that name in names=, too.")) from e
    code = subprocess.run(text, shell=True).returncode
    if code != 0:
        logger.error("Command %r failed with exit status %d.", text, code)


def _nowhere(cls: type) -> NoOpMonitor:
    logger.warning("No log directory is set: %s does nothing. "
                   "Do: call logger.set_logger_dir(dir) before.", cls.__name__)
    return NoOpMonitor(cls.__name__)
