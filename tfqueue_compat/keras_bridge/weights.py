# SPDX-License-Identifier: Apache-2.0
"""tensorpack's model files for a Keras model: .npz files and checkpoints, read and written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from ..tfutils.sessinit import SessionInit, SmartInit
from ..tfutils.varmanip import save_chkpt_vars
from ..utils.errors import NotSupported, say
from .eager import eagerly
from .variables import VariableStore

__all__ = ["ModelFiles", "is_tensorpack_file", "load_tensorpack", "save_tensorpack", "value_of"]

_KERAS = (".weights.h5", ".h5", ".keras", ".weights.json")


class ModelFiles(keras.Model):
    """The half of a Keras model that is about its files.

    Attributes:
        model_desc: the ModelDesc whose variables they are.
    """

    model_desc: Any
    _store: VariableStore

    @eagerly
    def save_weights(self, filepath: Any, overwrite: bool = True, **kwargs: Any) -> None:
        """Save the weights, in the format that the name asks for.

        Args:
            filepath: ``*.weights.h5``: Keras' format. ``*.npz``: the model, as tensorpack's
                ``dump_session_params`` writes it. Anything else: a checkpoint, with the state of
                the optimizer, as tensorpack's ``ModelSaver`` writes it.
            overwrite, **kwargs: as for ``keras.Model.save_weights``.
        """
        if is_tensorpack_file(filepath):
            save_tensorpack(self._store, os.fspath(filepath))
        else:
            super().save_weights(filepath, overwrite=overwrite, **kwargs)

    @eagerly
    def load_weights(self, filepath: Any, skip_mismatch: bool = False, **kwargs: Any) -> None:
        """Load weights.

        Args:
            filepath: ``*.weights.h5``; or what tensorpack's ``get_model_loader`` takes, or
                returned: an .npz file, a checkpoint, a dict of arrays, a SessionInit.
            skip_mismatch: whether values of another shape are skipped, with a warning.
            **kwargs: as for ``keras.Model.load_weights``.

        Raises:
            ValueError: for values that do not fit.
        """
        if is_tensorpack_file(filepath):
            load_tensorpack(self._store, filepath, skip_mismatch)
        else:
            super().load_weights(filepath, skip_mismatch=skip_mismatch, **kwargs)

    @eagerly
    def get_weights(self) -> list[np.ndarray]:
        """Return the values of all variables, in the order of ``weights``."""
        return [np.asarray(x) for x in super().get_weights()]

    @eagerly
    def set_weights(self, weights: Any) -> None:
        """Set all variables to values in the order of ``weights``."""
        super().set_weights(weights)

    def get_config(self) -> dict[str, Any]:
        """Refused: a ModelDesc is code, which a ``.keras`` file can't hold.

        Raises:
            NotSupported: always.
        """
        raise NotSupported(say(f"saving {type(self).__name__} whole", expected="its weights alone",
                               received=f"a model whose code is {type(self.model_desc).__name__}",
                               do="Call save_weights('name.weights.h5'), or with a name that "
                               "ends in .npz; for serving, use tfutils.export.ModelExporter."))

    def export(self, *args: Any, **kwargs: Any) -> None:
        """Refused: see ``tfutils.export.ModelExporter``.

        Raises:
            NotSupported: always.
        """
        self.get_config()


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
