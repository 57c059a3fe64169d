# SPDX-License-Identifier: Apache-2.0
"""Graph mode for scripts that use TF 1 at top level, without a ``with`` around them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

__all__ = ["enter_graph", "graph_mode", "in_entered_graph", "leave_graph", "out_of_graph",
           "renew_graph"]

v1 = tf.compat.v1


class _Entered(threading.local):
    """The graph that this thread entered: TensorFlow's default graph is a thread's own."""

    graph: Any = None
    context: Any = None
    shapes: bool = False


_entered = _Entered()


def enter_graph(graph: Any = None, *, v1_shapes: bool = False) -> Any:
    """Make a graph this thread's default from now on, without a ``with``.

    ``tf.placeholder``, ``tf.get_variable``, ``tf.global_variables_initializer()`` and
    ``tf.Session()`` then find it as they found the default graph in TF 1, and
    ``tf.executing_eagerly()`` is False. Eager mode is not switched off for the process: other
    threads, and this one after ``leave_graph()``, are eager, and Keras ``fit`` works.

    As in TF 1 the default graph is a thread's own: a helper thread may call ``sess.run``, but
    one that creates operations must do so under ``with sess.graph.as_default():``.

    Args:
        graph: the graph; a new one by default.
        v1_shapes: also let ``x.get_shape()[0]`` be a ``Dimension`` with ``.value``, as in TF 1
            (``tf.compat.v1.disable_v2_tensorshape``): for the whole process, until
            ``leave_graph()``. Keras 3 works with either.

    Returns:
        The graph. Where this thread is in a graph already, and none is given, that one.

    Example:
        >>> graph = enter_graph()
        >>> tf.compat.v1.placeholder(tf.float32).graph is graph
        True
        >>> leave_graph()
        >>> tf.executing_eagerly()
        True
    """
    if v1_shapes and not _entered.shapes:
        v1.disable_v2_tensorshape()
        _entered.shapes = True
    if _entered.graph is None and graph is None and not tf.executing_eagerly():
        return v1.get_default_graph()
    if _entered.graph is None:
        _entered.graph = tf.Graph() if graph is None else graph
        _entered.context = _entered.graph.as_default()
        _entered.context.__enter__()
    return _entered.graph


def leave_graph() -> None:
    """Undo ``enter_graph()`` in this thread; nothing where it was not called."""
    if _entered.shapes:
        v1.enable_v2_tensorshape()
        _entered.shapes = False
    if _entered.graph is None:
        return
    context, _entered.graph, _entered.context = _entered.context, None, None
    context.__exit__(None, None, None)


def in_entered_graph() -> bool:
    """Return whether the default graph is the one that this thread entered."""
    return _entered.graph is not None and v1.get_default_graph() is _entered.graph


def renew_graph() -> Any:
    """Put a new graph in the place of the entered one: ``tf.reset_default_graph()``.

    Returns:
        The new graph.

    Raises:
        AssertionError: TensorFlow's own, inside a ``with graph.as_default()`` of the caller.
    """
    if not in_entered_graph():
        return v1.reset_default_graph()
    context, _entered.graph = _entered.context, None
    context.__exit__(None, None, None)
    return enter_graph(tf.Graph())


@contextmanager
def out_of_graph() -> Iterator[None]:
    """A block in eager mode, also where this thread has entered a graph by ``enter_graph``."""
    if not in_entered_graph():
        yield
        return
    graph, context = _entered.graph, _entered.context
    _entered.graph = _entered.context = None
    context.__exit__(None, None, None)
    try:
        yield
    finally:
        _entered.graph, _entered.context = graph, graph.as_default()
        _entered.context.__enter__()


@contextmanager
def graph_mode(graph: Any = None, *, v1_shapes: bool = False) -> Iterator[Any]:
    """Enter a graph for a ``with`` block: see ``enter_graph``."""
    entered = enter_graph(graph, v1_shapes=v1_shapes)
    try:
        yield entered
    finally:
        leave_graph()
