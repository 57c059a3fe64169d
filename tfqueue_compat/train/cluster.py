# SPDX-License-Identifier: Apache-2.0
"""Trainers over several processes, on one machine or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..engine.hooks import CallbackFactory
from ..graph_builder.distributed import no_parameter_servers
from ..input_source.input_source_base import InputSource
from ..tfutils.tower import TrainTowerContext
from ..utils import logger
from ..utils.errors import NotSupported, say
from .base import inside_graph
from .collectives import HorovodCollectives, find_collectives
from .tower import SingleCostTrainer

__all__ = ["BytePSTrainer", "DistributedTrainerBase", "DistributedTrainerParameterServer",
           "DistributedTrainerReplicated", "HorovodTrainer"]

v1 = tf.compat.v1


class HorovodTrainer(SingleCostTrainer):
    """Trains in several processes that sum their gradients in each step.

    Each process runs the whole script, on data of its own, and has one tower. With ``TF_CONFIG``
    in the environment, they are the workers it names, and TensorFlow's own collectives are used;
    otherwise Horovod, where it is installed, with its ``horovodrun``.

    Args:
        average: whether gradients are averaged, or summed.
        compression: a member of ``hvd.Compression``; Horovod's.

    Attributes:
        is_chief: whether this is process 0: callbacks that are ``chief_only`` run there, and it
            alone loads a model.
        BROADCAST_EVERY_EPOCH: whether process 0's variables are copied to the others' at the end
            of each epoch. It evens out what gradients don't move: statistics.

    Raises:
        NotSupported: where there is neither ``TF_CONFIG`` nor Horovod.
    """

    BROADCAST_EVERY_EPOCH = True

    def __init__(self, average: bool = True, compression: Any = None) -> None:
        super().__init__()
        self._collectives = find_collectives(type(self).__name__, compression)
        if isinstance(self._collectives, HorovodCollectives):
            self.hvd = self._collectives.hvd
        self._average = average
        self._rank = self._collectives.rank
        self.is_chief = self._rank == 0
        self._broadcast_op: Any = None
        logger.info("[%s] process %d of %d", type(self).__name__, self._rank,
                    self._collectives.size)

    def mpi_enabled(self) -> bool:
        """Return whether Horovod talks through MPI."""
        hvd = getattr(self, "hvd", None)
        return bool(hvd is not None and hvd.mpi_enabled())

    def allreduce(self, grads: Any) -> list[tuple[Any, Any]]:
        """Return (gradient, variable) pairs with gradients of all processes.

        Args:
            grads: those of this process.
        """
        if self._collectives.size == 1:
            return list(grads)
        with tf.name_scope("AllReduce"):
            return [(self._collectives.allreduce(g, self._average), v) for g, v in grads]

    def _setup_graph(self, input: InputSource, get_cost_fn: Callable[..., Any],
                     get_opt_fn: Callable[[], Any]) -> list[Any]:
        with TrainTowerContext(""):
            grads = self._make_get_grad_fn(input, get_cost_fn, get_opt_fn)()
            grads = self.allreduce(grads)
            self.train_op = get_opt_fn().apply_gradients(grads, name="train_op")
        if self._collectives.size == 1:
            logger.warning("%s: there is only one process.", type(self).__name__)
            return []
        broadcast = CallbackFactory(
            before_train=self.broadcast,
            trigger=self.broadcast if self.BROADCAST_EVERY_EPOCH else None)
        return [broadcast.set_chief_only(False)]

    def broadcast(self, _: Any) -> None:
        """Set this process' variables to those of process 0; all processes must call it.

        Args:
            _: nothing that matters.
        """
        self.sess.run(self._broadcast_op)

    @inside_graph
    def initialize(self, session_creator: Any, session_init: Any) -> None:
        """Make a session that knows the other processes."""
        if self._collectives.size > 1:
            with tf.name_scope("broadcast"):
                self._broadcast_op = self._collectives.broadcast(v1.global_variables())
        super().initialize(self._collectives.session_creator(session_creator), session_init)


class BytePSTrainer(HorovodTrainer):
    """BytePS's trainer, which cannot be had.

    Args:
        average: of old.

    Raises:
        NotSupported: always.
    """

    def __init__(self, average: bool = True) -> None:
        raise NotSupported(say("BytePSTrainer", expected="the package byteps", received="one that "
                               "does not exist for TensorFlow 2.16 and later",
                               do="Use HorovodTrainer(), which works with TF_CONFIG alone."))


class DistributedTrainerBase(SingleCostTrainer):
    """Trainers with parameter servers, which are not supported.

    Args:
        gpus: of old.
        server: of old.

    Raises:
        NotSupported: always.
    """

    devices: list[int] = []

    def __init__(self, gpus: Any, server: Any) -> None:
        no_parameter_servers(type(self).__name__)

    def join(self) -> None:
        """Wait as a parameter server."""
        no_parameter_servers(type(self).__name__)


class DistributedTrainerParameterServer(DistributedTrainerBase):
    """Variables on parameter servers: not supported.

    Args:
        gpus, server, caching_device: of old.

    Raises:
        NotSupported: always.
    """

    def __init__(self, gpus: Any, server: Any, caching_device: str = "cpu") -> None:
        no_parameter_servers(type(self).__name__)


class DistributedTrainerReplicated(DistributedTrainerBase):
    """Variables on parameter servers and copies in workers: not supported.

    Args:
        gpus, server: of old.

    Raises:
        NotSupported: always.
    """
