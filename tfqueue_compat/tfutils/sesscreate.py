# SPDX-License-Identifier: Apache-2.0
"""Makes the session of a trainer or a predictor, its variables initialized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from .common import get_default_sess_config
from .dependency import operations_before

__all__ = ["NewSessionCreator", "ReuseSessionCreator", "SessionCreatorAdapter"]

v1 = tf.compat.v1
SessionCreator: Any = v1.train.SessionCreator


class NewSessionCreator(SessionCreator):
    """Makes a new session for the default graph and initializes variables and tables.

    Args:
        target: as of ``tf.compat.v1.Session``.
        config: a ConfigProto; by default ``get_default_sess_config()``.

    Example:
        >>> with tf.Graph().as_default():
        ...     v = v1.get_variable("v", initializer=3.)
        ...     with NewSessionCreator().create_session() as sess:
        ...         float(sess.run(v))
        3.0
    """

    def __init__(self, target: str = "", config: Any = None) -> None:
        self.target = target
        self.user_provided_config = config is not None
        self.config = get_default_sess_config() if config is None else config

    def create_session(self) -> Any:
        """Return the session."""
        sess = v1.Session(target=self.target, config=self.config)
        initializers = [v1.global_variables_initializer(), v1.local_variables_initializer(),
                        v1.tables_initializer()]
        _warn_of_waiting(initializers)
        for op in initializers:
            sess.run(op)
        logger.info("Global and local variables initialized.")
        return sess


def _warn_of_waiting(initializers: list[Any]) -> None:
    """An initial value taken from the input waits for a producer that starts later."""
    waiting = [op for op in operations_before(initializers)
               if op.type.startswith(("QueueDequeue", "Unstage", "IteratorGetNext"))]
    if waiting:
        logger.warning("A variable's initial value depends on the input, by %r: this may wait "
                       "for ever. Give the variable an initializer.", waiting[0].name)


class ReuseSessionCreator(SessionCreator):
    """Hands out a session that exists, as it is.

    Args:
        sess: the session.
    """

    def __init__(self, sess: Any) -> None:
        if sess is None:
            raise ValueError(say("ReuseSessionCreator", expected="a session", received="None",
                                 do="Pass a tf.compat.v1.Session."))
        self.sess = sess

    def create_session(self) -> Any:
        """Return the session."""
        return self.sess


class SessionCreatorAdapter(SessionCreator):
    """Passes another creator's session through a function.

    Args:
        session_creator: has ``create_session()``.
        func: maps a session to a session, e.g. to a debugger's wrapper of it.
    """

    def __init__(self, session_creator: Any, func: Callable[[Any], Any]) -> None:
        self._creator = session_creator
        self._func = func

    def create_session(self) -> Any:
        """Return the session that ``func`` returns."""
        return self._func(self._creator.create_session())
