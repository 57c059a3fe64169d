# SPDX-License-Identifier: Apache-2.0
"""Variables as arrays: read from checkpoints and .npz files, written to them, put into sessions."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from glob import escape
from typing import Any

import numpy as np
import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say

__all__ = ["SessionUpdate", "dump_session_params", "get_all_checkpoints", "get_checkpoint_path",
           "load_checkpoint_vars", "load_chkpt_vars", "save_checkpoint_vars", "save_chkpt_vars"]

v1 = tf.compat.v1
_SLOTS = ("/Adam", "/Adam_1", "/Momentum", "/Adagrad", "/RMSProp", "/RMSProp_1", "/AccumGrad",
          "/Adadelta", "/Adadelta_1", "/Ftrl", "/Ftrl_1", "/ExponentialMovingAverage_Adam")


def get_savename_from_varname(varname: str, varname_prefix: str | None = None,
                              savename_prefix: str | None = None) -> str:
    """Return the name under which a variable is saved.

    Args:
        varname: name of the variable in the graph, with or without ``:0``.
        varname_prefix: a scope to take away in front, e.g. ``tower0``.
        savename_prefix: a scope to put in front.

    Example:
        >>> get_savename_from_varname("tower0/conv/W:0", "tower0")
        'conv/W'
    """
    name = varname[:-2] if varname.endswith(":0") else varname
    if varname_prefix is not None and name.startswith(varname_prefix + "/"):
        name = name[len(varname_prefix) + 1:]
    return f"{savename_prefix}/{name}" if savename_prefix is not None else name


def is_training_name(name: str) -> bool:
    """Return whether a variable of this name is needed in training only: a slot, an average.

    Example:
        >>> is_training_name("conv/W/Momentum:0"), is_training_name("conv/W:0")
        (True, False)
    """
    name = name[:-2] if name.endswith(":0") else name
    return (name.endswith(_SLOTS) or name.startswith(("EMA/", "AccumGrad/"))
            or re.search("(^|/)beta[12]_power(_[0-9]+)?$", name) is not None)


class SessionUpdate:
    """Puts arrays into the variables of a session.

    Args:
        sess: the session.
        vars_to_update: its variables that may be set.
        ignore_mismatch: whether a value of another shape is skipped with a warning.
    """

    def __init__(self, sess: Any, vars_to_update: Sequence[Any],
                 ignore_mismatch: bool = False) -> None:
        self.sess = sess
        self.name_map = {v.name: v for v in vars_to_update}
        self.ignore_mismatch = ignore_mismatch

    @staticmethod
    def relaxed_value_for_var(value: Any, var: Any, ignore_mismatch: bool = False) -> Any:
        """Return ``value`` in the shape and dtype of ``var``.

        A value of as many elements is reshaped. One of another numeric dtype is cast: a float to
        a float, anything else where the cast loses no number.

        Args:
            value: an array.
            var: a variable.
            ignore_mismatch: whether to return None where it does not fit, with a warning.

        Raises:
            ValueError: where it does not fit.
        """
        array = np.asarray(value)
        name = var.op.name
        shape = tuple(var.shape.as_list())
        if array.shape != shape:
            if array.size != int(np.prod(shape)):
                text = say(f"variable {name!r}", expected=f"a value of shape {shape}",
                           received=f"shape {array.shape}",
                           do="Load another file, or pass ignore_mismatch=True to skip it.")
                if not ignore_mismatch:
                    raise ValueError(text)
                logger.warning("Skipped. %s", text)
                return None
            logger.warning("The value of %s is reshaped from %s to %s.", name, array.shape, shape)
            array = array.reshape(shape)
        return _cast(array, var)

    def update(self, prms: Mapping[str, Any]) -> None:
        """Set variables.

        Args:
            prms: name of a variable -> value; ``:0`` may be left out.

        Raises:
            KeyError: for a name that is none of the variables.
            ValueError: for a value that does not fit.
        """
        for name, value in prms.items():
            full = name if name.endswith(":0") else name + ":0"
            if full not in self.name_map:
                raise KeyError(say("SessionUpdate", expected="names of variables of the session",
                                   received=repr(name), do="Remove it or rename it."
                                   + near(full, self.name_map)))
        for name, value in prms.items():
            var = self.name_map[name if name.endswith(":0") else name + ":0"]
            fitting = self.relaxed_value_for_var(value, var, self.ignore_mismatch)
            if fitting is not None:
                load_variable(var, fitting, self.sess)


def load_variable(var: Any, value: Any, sess: Any) -> None:
    """Set a variable through its own initializer: no op is added, the graph may be final.

    In eager mode there is no session, and the variable is set itself.
    """
    if tf.executing_eagerly():
        var.assign(value)
        return
    sess.run(var.initializer, feed_dict={var.initializer.inputs[1]: value})


def _cast(array: np.ndarray, var: Any) -> np.ndarray:
    wanted = var.dtype.base_dtype.as_numpy_dtype
    if array.dtype == wanted:
        return array
    if array.dtype.kind in "OSU" or wanted is object:
        return array
    cast = array.astype(wanted)
    floats = var.dtype.base_dtype.is_floating and np.issubdtype(array.dtype, np.floating)
    if not floats and not np.array_equal(cast.astype(array.dtype), array):
        raise ValueError(say(f"variable {var.op.name!r}",
                             expected=f"a value of dtype {var.dtype.base_dtype.name}",
                             received=f"dtype {array.dtype}, whose numbers it can't hold",
                             do="Cast it yourself, or load another file."))
    logger.warning("The value of %s is cast from %s to %s.", var.op.name, array.dtype,
                   var.dtype.base_dtype.name)
    return np.asarray(cast)


def dump_session_params(path: str) -> None:
    """Save the model's variables of the default session: those to train and ``MODEL_VARIABLES``.

    Args:
        path: of an .npz file, or of a checkpoint.

    Raises:
        RuntimeError: outside of a session.
    """
    session = v1.get_default_session()
    if session is None:
        raise RuntimeError(say("dump_session_params", expected="a default session",
                               received="none", do="Call it inside `with session.as_default()`."))
    variables = dict.fromkeys(v.ref() for v in [*v1.trainable_variables(),
                                                *v1.get_collection(v1.GraphKeys.MODEL_VARIABLES)])
    values = session.run({ref.deref().name: ref.deref() for ref in variables})
    save_chkpt_vars(values, path)


def save_chkpt_vars(dic: Mapping[str, Any], path: str) -> None:
    """Save arrays as an .npz file or as a TensorFlow checkpoint.

    Args:
        dic: name -> array; ``:0`` at a name's end is left out in the file.
        path: ends in ``.npz``, else a checkpoint is written.
    """
    arrays = {get_savename_from_varname(name): np.asarray(v) for name, v in dic.items()}
    logger.info("Saving %d variables to %s: %s", len(arrays), path, sorted(arrays))
    if path.endswith(".npz"):
        np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
        return
    with tf.Graph().as_default(), v1.Session() as sess:
        holders = {name: v1.get_variable(name, shape=array.shape, dtype=array.dtype,
                                         initializer=v1.zeros_initializer())
                   for name, array in arrays.items()}
        for name, var in holders.items():
            load_variable(var, arrays[name], sess)
        saver = v1.train.Saver(holders)
        saver.save(sess, path, write_meta_graph=False)


save_checkpoint_vars = save_chkpt_vars


def get_checkpoint_path(path: str) -> str:
    """Return the path of a checkpoint as TensorFlow wants it: without ``.index`` and the like.

    Args:
        path: of a checkpoint, of one of its files, or of a ``checkpoint`` file, which means the
            latest one.

    Raises:
        FileNotFoundError: where there is no such checkpoint; near names are suggested.
    """
    found = str(path)
    if os.path.basename(found) == found:
        found = os.path.join(".", found)
    if os.path.basename(found) == "checkpoint":
        latest = tf.train.latest_checkpoint(os.path.dirname(found))
        if latest is None:
            raise FileNotFoundError(say("checkpoint", expected="a checkpoint listed in the file",
                                        received=repr(path), do="Give the path of one."))
        found = latest
    short = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", found)
    if short != found:
        logger.info("Checkpoint path %s is read as %s.", found, short)
    if not (os.path.isfile(short) or tf.io.gfile.exists(short + ".index")):
        raise FileNotFoundError(_no_checkpoint(str(path), short))
    return short


def _no_checkpoint(path: str, short: str) -> str:
    folder = short if os.path.isdir(short) else os.path.dirname(short) or "."
    files = tf.io.gfile.glob(os.path.join(escape(folder), "*.index"))
    names = [os.path.basename(file)[:-len(".index")] for file in files]
    hint = near(os.path.basename(short), names)
    return say("checkpoint", expected="a checkpoint (its path, without .index)",
               received=f"{path!r}, which is not there",
               do=f"Check the path; {folder!r} has {names or 'no checkpoints'}.{hint}")


def get_all_checkpoints(dir: str, prefix: str = "model") -> list[tuple[str, int]]:
    """Return the checkpoints of a folder, oldest step first.

    Args:
        dir: the folder.
        prefix: of their names: ``model`` for ``model-100``.

    Returns:
        (path of the ``.index`` file, step) of each.
    """
    found = []
    for file in tf.io.gfile.glob(os.path.join(escape(dir), f"{prefix}*.index")):
        match = re.fullmatch(r"-(\d+)\.index", os.path.basename(file)[len(prefix):])
        if match:
            found.append((file, int(match[1])))
    return sorted(found, key=lambda pair: pair[1])


def load_chkpt_vars(path: str) -> dict[str, np.ndarray]:
    """Return the arrays of a checkpoint or of an .npz file: name -> array.

    Args:
        path: of a checkpoint (see ``get_checkpoint_path``), or ending in ``.npz``.
    """
    if str(path).endswith(".npz"):
        with np.load(path) as arrays:
            return {get_savename_from_varname(name): arrays[name] for name in arrays.files}
    reader = tf.train.load_checkpoint(get_checkpoint_path(path))
    names: dict[str, Any] = reader.get_variable_to_shape_map()
    return {get_savename_from_varname(name): reader.get_tensor(name) for name in names
            if name != "_CHECKPOINTABLE_OBJECT_GRAPH"}


load_checkpoint_vars = load_chkpt_vars
