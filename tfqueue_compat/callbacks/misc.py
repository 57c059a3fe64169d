# SPDX-License-Identifier: Apache-2.0
"""Small helps: a command with statistics, a shell in training, the time left."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.hooks import Callback
from ..utils import logger
from ..utils.errors import require, say
from ..utils.utils import humanize_time_delta
from .writers import run_command

__all__ = ["EstimatedTimeLeft", "InjectShell", "SendStat"]


class SendStat(Callback):
    """Runs a shell command with the last values of some statistics, each time it is triggered.

    Args:
        command: the command, with the names in braces, e.g. ``"echo {val_error}"``.
        names: the names of the statistics.
    """

    def __init__(self, command: str, names: str | Sequence[str]) -> None:
        self.command = command
        self.names = [names] if isinstance(names, str) else list(names)

    def _trigger(self) -> None:
        values = {name: self.trainer.monitors.get_latest(name) for name in self.names}
        run_command(self.command, values)


class InjectShell(Callback):
    """Opens a shell in the middle of training, when a file appears.

    In the shell ``self`` is this callback, and ``self.trainer`` the trainer.

    Args:
        file: looked for each time the callback is triggered; deleted after training.
        shell: ``"ipython"`` or ``"pdb"``.
    """

    def __init__(self, file: str = "INJECT_SHELL.tmp", shell: str = "ipython") -> None:
        if shell not in ("ipython", "pdb"):
            raise ValueError(say("InjectShell", expected="shell: 'ipython' or 'pdb'",
                                 received=repr(shell), do="Pass one of them."))
        self._file = file
        self._shell = shell
        logger.info("Create the file '%s' to open a %s shell in training.", file, shell)

    def _trigger(self) -> None:
        if os.path.isfile(self._file):
            logger.info("The file '%s' is there: opening %s ...", self._file, self._shell)
            self._inject()

    def _inject(self) -> None:
        if self._shell == "pdb":
            import pdb
            pdb.set_trace()  # noqa: T100 - it is what the user asked for
        else:
            require("IPython", "ipython", "InjectShell").embed(user_ns={"self": self})

    def _after_train(self) -> None:
        if os.path.isfile(self._file):
            os.unlink(self._file)


class EstimatedTimeLeft(Callback):
    """Logs after each epoch how long the rest of the training will take.

    Args:
        last_k_epochs: judge by the last epochs, so many.
        median: by their median; otherwise by their mean.
    """

    def __init__(self, last_k_epochs: int = 5, median: bool = True) -> None:
        self._times: deque[float] = deque(maxlen=int(last_k_epochs))
        self._median = median
        self._last = 0.0

    def _before_train(self) -> None:
        self._last = time.perf_counter()

    def _trigger_epoch(self) -> None:
        now = time.perf_counter()
        self._times.append(now - self._last)
        self._last = now
        each: Any = np.median(self._times) if self._median else np.mean(self._times)
        left = self.trainer.max_epoch - self.epoch_num
        if left > 0:
            logger.info("Estimated Time Left: %s", humanize_time_delta(float(each) * left))
