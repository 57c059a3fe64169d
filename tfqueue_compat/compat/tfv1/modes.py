# SPDX-License-Identifier: Apache-2.0
"""TF 1's switches of mode, for this thread and not for the process."""

from __future__ import annotations

from typing import Any

from ..graph_mode_ import enter_graph, leave_graph, renew_graph

__all__ = ["disable_eager_execution", "disable_v2_behavior", "enable_eager_execution",
           "reset_default_graph"]


def disable_eager_execution() -> None:
    """Enter a graph for this thread: see ``tfqueue_compat.compat.enter_graph``."""
    enter_graph()


def disable_v2_behavior() -> None:
    """Enter a graph for this thread, with TF 1's shapes (``x.shape[0].value``)."""
    enter_graph(v1_shapes=True)


def enable_eager_execution(config: Any = None, device_policy: Any = None,
                           execution_mode: Any = None) -> None:
    """Be eager, as TensorFlow 2 is: leaves the graph that was entered, if one was."""
    leave_graph()


def reset_default_graph() -> None:
    """Start this thread's default graph anew."""
    renew_graph()
