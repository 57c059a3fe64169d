# SPDX-License-Identifier: Apache-2.0
"""Keras works in eager mode: its methods leave the graph that TF 1 code has entered."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import tensorflow as tf

from ..compat.graph_mode_ import out_of_graph
from ..utils.errors import say

__all__ = ["eagerly"]

F = TypeVar("F", bound=Callable[..., Any])


def eagerly(method: F) -> F:
    """Let a method run in eager mode.

    The graph that ``enter_graph`` or ``install(tensorflow=True)`` has entered is left meanwhile.

    Raises:
        RuntimeError: from the method, inside of ``with graph.as_default()``.
    """
    @functools.wraps(method)
    def eager(self: Any, *args: Any, **kwargs: Any) -> Any:
        with out_of_graph():
            if not tf.executing_eagerly():
                raise RuntimeError(say(
                    f"{type(self).__name__}.{method.__name__}", expected="eager mode",
                    received="a graph around the call",
                    do="Call it outside of `with graph.as_default()`. Where the process is in "
                    "graph mode, by disable_eager_execution() or `tfqueue_compat run`, import "
                    "tfqueue_compat by name and start the script by Python itself."))
            return method(self, *args, **kwargs)
    return eager  # type: ignore[return-value]
