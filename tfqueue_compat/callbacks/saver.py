# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: of every epoch, and of the best one."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import tensorflow as tf

from ..engine.hooks import Callback
from ..tfutils.common import get_global_step_var
from ..utils import fs, logger
from ..utils.errors import say
from .graph import log_dir_of

__all__ = ["MaxSaver", "MinSaver", "ModelSaver", "fs", "logger"]

v1 = tf.compat.v1


class ModelSaver(Callback):
    """Saves the variables to ``model-<global_step>``, each time it is triggered.

    A save that fails for want of room or of permission is logged, and training goes on: the disk
    may be there again for the next one.

    Args:
        max_to_keep: how many of the last checkpoints to keep; 0 for all.
        keep_checkpoint_every_n_hours: keep one for good after so many hours.
        checkpoint_dir: by default the log directory.
        var_collections: name of the collection of variables to save, or several; by default
            ``tf.GraphKeys.GLOBAL_VARIABLES``.

    Raises:
        ValueError: where there is no directory, or nothing to save.
    """

    def __init__(self, max_to_keep: int = 10, keep_checkpoint_every_n_hours: float = 0.5,
                 checkpoint_dir: str | None = None,
                 var_collections: str | Sequence[str] | None = None) -> None:
        if var_collections is None:
            var_collections = [v1.GraphKeys.GLOBAL_VARIABLES]
        self.var_collections = ([var_collections] if isinstance(var_collections, str)
                                else list(var_collections))
        self._max_to_keep = max_to_keep
        self._keep_every_n_hours = keep_checkpoint_every_n_hours
        self.checkpoint_dir = os.path.normpath(log_dir_of("ModelSaver", checkpoint_dir))
        os.makedirs(self.checkpoint_dir, exist_ok=True)
        self.saver: Any = None

    def _setup_graph(self) -> None:
        get_global_step_var()  # it is saved, too
        variables = [v for key in self.var_collections for v in v1.get_collection(key)]
        unique = _by_name(variables)
        if not unique:
            raise ValueError(say("ModelSaver", expected="variables in the collections "
                                 f"{self.var_collections}", received="none",
                                 do="Name other collections."))
        self.path = os.path.join(self.checkpoint_dir, "model")
        self.saver = v1.train.Saver(
            var_list=unique, max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_every_n_hours,
            save_relative_paths=True)
        v1.add_to_collection(v1.GraphKeys.SAVERS, self.saver)

    def _before_train(self) -> None:
        if getattr(self.graph, "building_function", False):
            return  # Keras trains: the variables are no part of the graph
        stamp = datetime.now().strftime("%m%d-%H%M%S")
        path = os.path.join(self.checkpoint_dir, f"graph-{stamp}.meta")
        self.saver.export_meta_graph(path, collection_list=self.graph.get_all_collection_keys())

    def _trigger(self) -> None:
        try:
            saved = self.saver.save(v1.get_default_session(), self.path,
                                    global_step=get_global_step_var(), write_meta_graph=False)
        except (OSError, tf.errors.PermissionDeniedError, tf.errors.ResourceExhaustedError):
            logger.exception("The model could not be saved to %s!", self.path)
        else:
            logger.info("Model saved to %s.", saved)


def _by_name(variables: Sequence[Any]) -> Any:
    """What a saver takes for these variables, each once: by name, or as they are where one is a
    slice of a larger one."""
    if any(getattr(v, "_save_slice_info", None) is not None for v in variables):
        return list({id(v): v for v in variables}.values())
    return {v.op.name: v for v in variables}


class MinSaver(Callback):
    """Keeps the checkpoint of the smallest value of some statistics, under a name of its own.

    It copies what ``ModelSaver`` saved last: that one must come before it in the callbacks, and
    save to the same directory. So must whatever reports the statistics.

    Args:
        monitor_stat: name of the statistics.
        reverse: the largest value instead.
        filename: name of the checkpoint; by default ``min-<monitor_stat>`` (``max-...``), with
            ``-`` for ``/``.
        checkpoint_dir: by default the log directory.

    Raises:
        RuntimeError: in training, where there is no checkpoint to copy.
    """

    def __init__(self, monitor_stat: str, reverse: bool = False, filename: str | None = None,
                 checkpoint_dir: str | None = None) -> None:
        self.monitor_stat = monitor_stat
        self.reverse = reverse
        self.filename = filename
        self.best: tuple[int, float] | None = None
        self.checkpoint_dir = os.path.normpath(log_dir_of(type(self).__name__, checkpoint_dir))

    def _get_stat(self) -> tuple[int, float] | None:
        history = self.trainer.monitors.get_history(self.monitor_stat)
        return history[-1] if history else None

    def _trigger(self) -> None:
        now = self._get_stat()
        if now is None:
            logger.warning("[%s] Nothing reports %r yet.", type(self).__name__, self.monitor_stat)
            return
        if self.best is not None and now[0] == self.best[0]:
            return
        better = self.best is None or (now[1] > self.best[1] if self.reverse
                                       else now[1] < self.best[1])
        if better:
            self.best = now
            self._save()

    def _save(self) -> None:
        state = v1.train.get_checkpoint_state(self.checkpoint_dir)
        if state is None:
            raise RuntimeError(say(type(self).__name__,
                                   expected=f"a checkpoint in {self.checkpoint_dir}",
                                   received="none", do="Put a ModelSaver() before it in the "
                                   "callbacks, with the same checkpoint_dir."))
        source = os.path.join(self.checkpoint_dir, os.path.basename(state.model_checkpoint_path))
        word = "maximum" if self.reverse else "minimum"
        target = os.path.join(self.checkpoint_dir, self.filename or
                              f"{word[:3]}-{self.monitor_stat}".replace("/", "-"))
        for path in glob.glob(glob.escape(source) + ".*"):
            tf.io.gfile.copy(path, target + path[len(source):], overwrite=True)
        if self.best is not None:
            logger.info("Model at global_step=%d with %s %s=%.5g saved.", self.best[0], word,
                        self.monitor_stat, self.best[1])


class MaxSaver(MinSaver):
    """Keeps the checkpoint of the largest value of some statistics: see ``MinSaver``.

    Args:
        monitor_stat: name of the statistics.
        filename: name of the checkpoint; by default ``max-<monitor_stat>``.
        checkpoint_dir: by default the log directory.
    """

    def __init__(self, monitor_stat: str, filename: str | None = None,
                 checkpoint_dir: str | None = None) -> None:
        super().__init__(monitor_stat, reverse=True, filename=filename,
                         checkpoint_dir=checkpoint_dir)
