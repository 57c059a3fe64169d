# SPDX-License-Identifier: Apache-2.0
"""Builders for parameter servers, which tell what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..utils import logger
from ..utils.errors import NotSupported, say
from .training import DataParallelBuilder, GraphBuilder

__all__ = ["DistributedBuilderBase", "DistributedParameterServerBuilder",
           "DistributedReplicatedBuilder", "logger", "no_parameter_servers"]


def no_parameter_servers(who: str) -> NoReturn:
    """Raise NotSupported, which names the way out."""
    raise NotSupported(say(
        who, expected="training without parameter servers", received="a request for them",
        do="Use HorovodTrainer(): with TF_CONFIG in the environment its workers sum their "
           "gradients by TensorFlow's own collectives, and need no parameter server."))


class DistributedBuilderBase(GraphBuilder):
    """Builders with parameter servers, which are not supported.

    Args:
        server: of old.

    Raises:
        NotSupported: always.
    """

    def __init__(self, server: Any) -> None:
        no_parameter_servers(type(self).__name__)


class DistributedParameterServerBuilder(DataParallelBuilder, DistributedBuilderBase):
    """Variables on parameter servers: not supported.

    Args:
        towers, server, caching_device: of old.

    Raises:
        NotSupported: always.
    """

    def __init__(self, towers: Any, server: Any, caching_device: str) -> None:
        no_parameter_servers(type(self).__name__)

    def build(self, get_grad_fn: Callable[[], Any],  # type: ignore[override]
              get_opt_fn: Callable[[], Any]) -> Any:
        """Not supported."""
        no_parameter_servers(type(self).__name__)


class DistributedReplicatedBuilder(DataParallelBuilder, DistributedBuilderBase):
    """Variables on parameter servers and copies in workers: not supported.

    Args:
        towers, server: of old.

    Raises:
        NotSupported: always.
    """

    def __init__(self, towers: Any, server: Any) -> None:
        no_parameter_servers(type(self).__name__)

    def build(self, get_grad_fn: Callable[[], Any],  # type: ignore[override]
              get_opt_fn: Callable[[], Any]) -> Any:
        """Not supported."""
        no_parameter_servers(type(self).__name__)
