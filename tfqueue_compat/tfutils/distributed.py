# SPDX-License-Identifier: Apache-2.0
"""Sessions of several machines: the chief initializes, the others wait for it."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..utils.errors import say

__all__ = ["get_distributed_session_creator"]

v1 = tf.compat.v1
SessionCreator: Any = v1.train.SessionCreator


class _DistributedSessionCreator(SessionCreator):

    def __init__(self, server: Any) -> None:
        self._server = server
        self.is_chief = server.server_def.task_index == 0

    def create_session(self) -> Any:
        """Return a session on the server, once its variables are initialized."""
        init = v1.group(v1.global_variables_initializer(), v1.local_variables_initializer(),
                        v1.tables_initializer())
        manager = v1.train.SessionManager(
            ready_op=v1.report_uninitialized_variables(), graph=v1.get_default_graph(),
            recovery_wait_secs=1)
        if self.is_chief:
            return manager.prepare_session(master=self._server.target, init_op=init)
        return manager.wait_for_session(master=self._server.target)


def get_distributed_session_creator(server: Any) -> Any:
    """Return a SessionCreator for one machine of a cluster.

    Args:
        server: a ``tf.distribute.Server``; its task 0 is the chief.

    Raises:
        TypeError: for anything else.
    """
    if not isinstance(server, tf.distribute.Server):
        raise TypeError(say("get_distributed_session_creator", expected="a tf.distribute.Server",
                            received=repr(server), do="Pass e.g. tf.distribute.Server(cluster)."))
    return _DistributedSessionCreator(server)
