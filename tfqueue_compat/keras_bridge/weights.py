# SPDX-License-Identifier: Apache-2.0
"""tensorpack's model files for a Keras model: .npz files and checkpoints, read and written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from ..tfutils.sessinit import SessionInit, SmartInit
from ..tfutils.varmanip import save_chkpt_vars
from .variables import VariableStore

__all__ = ["is_tensorpack_file", "load_tensorpack", "save_tensorpack", "value_of"]

_KERAS = (".weights.h5", ".h5", ".keras", ".weights.json")


def is_tensorpack_file(source: Any) -> bool:
    """Return whether weights are to be read or written in tensorpack's formats.

    Args:
        source: a SessionInit, a dict or list of them, or a path: of an .npz or .npy file, or
            anything without one of Keras' endings, which is a checkpoint.
    """
    if isinstance(source, (SessionInit, Mapping, list, tuple)):
        return True
    return not os.fspath(source).endswith(_KERAS)


def load_tensorpack(store: VariableStore, source: Any, ignore_mismatch: bool = False) -> None:
    """Set a model's variables by their names; what differs is logged, as tensorpack does.

    Args:
        store: the variables.
        source: what ``get_model_loader`` takes, or what it returned.
        ignore_mismatch: whether values of another shape are skipped, with a warning.

    Raises:
        ValueError: for values that do not fit.
        FileNotFoundError: where there is no such file.
    """
    with store.in_collections():
        loader = SmartInit(source, ignore_mismatch=ignore_mismatch)
        loader._setup_graph()
        loader._run_init(None)


def save_tensorpack(store: VariableStore, path: str) -> None:
    """Save variables by their names, as tensorpack does.

    Args:
        store: the variables.
        path: of an .npz file, which gets those to train and those that layers keep, as
            ``dump_session_params`` writes them; or of a checkpoint, which gets all, the
            optimizer's and ``global_step`` too, as ``ModelSaver`` writes them.
    """
    names = [n for n in store.variables if n not in store.local]
    if path.endswith(".npz"):
        names = [n for n in names if store.variables[n].trainable or n in store.model]
    save_chkpt_vars({n: value_of(store.variables[n]) for n in names}, path)


def value_of(variable: Any) -> np.ndarray:
    """Return a variable's value; of one on several devices, what is saved of it."""
    return np.asarray(tf.convert_to_tensor(variable.read_value()).numpy())
