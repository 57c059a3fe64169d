# SPDX-License-Identifier: Apache-2.0
"""Where in the user's own files an operation of a graph was made."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

__all__ = ["user_line", "with_user_line"]

_NODE = re.compile(r"\{\{node ([^}\s]+)\}\}")
_LIBRARIES = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
              os.path.dirname(os.path.abspath(tf.__file__)) + os.sep, "<")


def user_line(op: tf.Operation) -> str | None:
    """Say which line outside of TensorFlow and this package made an operation.

    Args:
        op: of a graph. For one of a gradient, the operation that it is the gradient of counts.

    Returns:
        File, line, function and code, or None where no such line is known.
    """
    op = getattr(op, "_original_op", None) or op
    frames = [f for f in op.traceback or () if not f.filename.startswith(_LIBRARIES)]
    if not frames:
        return None
    last = frames[-1]
    code = linecache.getline(last.filename, last.lineno).strip()
    return f"{last.filename}:{last.lineno}, in {last.name}" + (code and f": {code}")


def with_user_line(error: Any, graph: tf.Graph) -> Any:
    """Return the same error, with the lines that made the operations it names.

    Args:
        error: a ``tf.errors.OpError``, as a callable of a session raises it.
        graph: the session's graph.
    """
    lines = list(_lines(dict.fromkeys(_NODE.findall(error.message)), graph))
    if not lines:
        return error
    return type(error)(error.node_def, error.op, "\n".join([error.message, *lines]))


def _lines(names: Iterable[str], graph: tf.Graph) -> Iterable[str]:
    for name in names:
        try:
            op = graph.get_operation_by_name(name)
        except (KeyError, ValueError):  # a node inside a function, or of TensorFlow's own making
            continue
        line = user_line(op)
        if line:
            yield f"{op.name!r} ({op.type}) was defined at {line}"
