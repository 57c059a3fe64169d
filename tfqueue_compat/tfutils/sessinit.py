# SPDX-License-Identifier: Apache-2.0
"""What a session's variables start from: a checkpoint, arrays, or what is there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from .checkpoint_match import CheckpointReaderAdapter, Match, MismatchLogger
from .varmanip import (SessionUpdate, get_checkpoint_path, get_savename_from_varname,
                       is_training_name, load_variable)

__all__ = ["ChainInit", "CheckpointReaderAdapter", "DictRestore", "JustCurrentSession",
           "MismatchLogger", "SaverRestore", "SaverRestoreRelaxed", "SessionInit", "SmartInit",
           "get_model_loader"]

v1 = tf.compat.v1


class SessionInit:
    """Base: subclasses define ``_setup_graph`` (before the graph is final) and ``_run_init``.

    In eager mode, as for ``keras_bridge.ModelDescModel``, the session is None.
    """

    def init(self, sess: Any) -> None:
        """Set the variables of a session."""
        self._setup_graph()
        self._run_init(sess)

    def _setup_graph(self) -> None:
        pass

    def _run_init(self, sess: Any) -> None:
        pass


class JustCurrentSession(SessionInit):
    """Leaves the variables as they are."""


class SaverRestore(SessionInit):
    """Restores a checkpoint.

    Variables that the checkpoint lacks keep their values; what it has in excess is not used.
    Both are logged.

    Args:
        model_path: of the checkpoint, of one of its files, or of a ``checkpoint`` file.
        prefix: scope of the variables that the checkpoint is for: ``prefix/W`` is set from ``W``.
        ignore: names of variables not to restore.

    Raises:
        FileNotFoundError: where there is no such checkpoint.
    """

    def __init__(self, model_path: str, prefix: str | None = None,
                 ignore: Sequence[str] = ()) -> None:
        self.path = get_checkpoint_path(str(model_path))
        self.prefix = prefix
        self.ignore = [get_savename_from_varname(name) for name in ignore]

    def _setup_graph(self) -> None:
        """Compare the graph with the checkpoint.

        Raises:
            ValueError: where shapes or dtypes differ; the text has a table of all differences.
        """
        self._match = Match.of_graph(tf.train.load_checkpoint(self.path), self.path,
                                     self.prefix, self.ignore)
        self._match.log()
        self._refuse()
        self._savers = [] if tf.executing_eagerly() else [
            v1.train.Saver(var_list=names, name=f"restore_{i}", write_version=2)
            for i, names in enumerate(self._match.by_saved_name())]

    def _refuse(self) -> None:
        if self._match.misshaped:
            raise ValueError(self._match.error_text())

    def _run_init(self, sess: Any) -> None:
        logger.info("Restoring checkpoint from %s ...", self.path)
        for saver in self._savers:
            saver.restore(sess, self.path)
        if tf.executing_eagerly():
            for name, var in self._match.pairs:
                load_variable(var, self._match.reader.get_tensor(name), sess)


class SaverRestoreRelaxed(SaverRestore):
    """Restores of a checkpoint what fits: other shapes are skipped, other dtypes are cast."""

    def _setup_graph(self) -> None:
        self._match = Match.of_graph(tf.train.load_checkpoint(self.path), self.path,
                                     self.prefix, self.ignore)
        self._match.log()

    def _run_init(self, sess: Any) -> None:
        logger.info("Restoring checkpoint from %s ...", self.path)
        reader = self._match.reader
        pairs = [*self._match.pairs, *self._match.misshaped]
        for name, var in pairs:
            SessionUpdate(sess, [var], ignore_mismatch=True).update(
                {var.name: reader.get_tensor(name)})


class DictRestore(SessionInit):
    """Sets variables from arrays.

    Args:
        variable_dict: name -> array; ``:0`` may be left out.
        ignore_mismatch: whether values of another shape are skipped with a warning.

    Raises:
        TypeError: for something else than a dict.
    """

    def __init__(self, variable_dict: Mapping[str, Any], ignore_mismatch: bool = False) -> None:
        if not isinstance(variable_dict, Mapping):
            raise TypeError(say("DictRestore", expected="a dict of arrays",
                                received=type(variable_dict).__name__, do="Pass dict(...)."))
        self._prms = {get_savename_from_varname(name): value
                      for name, value in variable_dict.items()}
        self._ignore_mismatch = ignore_mismatch

    def _run_init(self, sess: Any) -> None:
        variables = {v.op.name: v for v in v1.global_variables()}
        mismatch = MismatchLogger("graph", "dict")
        for name in sorted(set(variables) - set(self._prms)):
            if not is_training_name(name):
                mismatch.add(name)
        mismatch.log()
        extra = MismatchLogger("dict", "graph")
        for name in sorted(set(self._prms) - set(variables)):
            extra.add(name)
        extra.log()
        known = {n: value for n, value in self._prms.items() if n in variables}
        logger.info("Restoring %d variables from dict ...", len(known))
        if not self._ignore_mismatch:
            _refuse_shapes(known, variables)
        SessionUpdate(sess, [variables[n] for n in known], self._ignore_mismatch).update(known)


def _refuse_shapes(values: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    wrong = {n: np.shape(v) for n, v in values.items()
             if np.size(v) != int(np.prod(variables[n].shape.as_list()))}
    if wrong:
        raise ValueError(Match.table_of("the dict", {
            n: (variables[n].shape.as_list(), list(shape)) for n, shape in wrong.items()}))


class ChainInit(SessionInit):
    """Applies several, in order; later ones win.

    Args:
        sess_inits: SessionInits.
    """

    def __init__(self, sess_inits: Sequence[SessionInit]) -> None:
        self.inits = list(sess_inits)

    def _setup_graph(self) -> None:
        for one in self.inits:
            one._setup_graph()

    def _run_init(self, sess: Any) -> None:
        for one in self.inits:
            one._run_init(sess)


def SmartInit(obj: Any, *, ignore_mismatch: bool = False) -> SessionInit:
    """Return the SessionInit that fits what is given.

    Args:
        obj: None or ``""`` for nothing; a SessionInit; a list of any of these; a path or a URL
            of an ``.npz`` or ``.npy`` file; a path of a checkpoint; a dict of arrays.
        ignore_mismatch: whether values of another shape are skipped with a warning.

    Raises:
        FileNotFoundError: where there is no such file.
        TypeError: for anything else.

    Example:
        >>> type(SmartInit(None)).__name__
        'JustCurrentSession'
    """
    if isinstance(obj, SessionInit):
        return obj
    if obj is None or isinstance(obj, str) and not obj:
        return JustCurrentSession()
    if isinstance(obj, (list, tuple)):
        return ChainInit([SmartInit(one, ignore_mismatch=ignore_mismatch) for one in obj])
    if isinstance(obj, Mapping):
        return DictRestore(obj, ignore_mismatch)
    if not isinstance(obj, str) and not hasattr(obj, "__fspath__"):
        raise TypeError(say("SmartInit", expected="a path, a SessionInit, a dict, a list or None",
                            received=repr(obj), do="Pass one of these."))
    from .model_files import arrays_of_file, local_path  # needed for files alone
    path = local_path(obj)
    if path.endswith((".npz", ".npy")):
        return DictRestore(arrays_of_file(path), ignore_mismatch)
    return (SaverRestoreRelaxed if ignore_mismatch else SaverRestore)(path)


def get_model_loader(obj: Any, *, ignore_mismatch: bool = False) -> SessionInit:
    """Return ``SmartInit(obj)``: its older name."""
    return SmartInit(obj, ignore_mismatch=ignore_mismatch)
