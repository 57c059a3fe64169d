# SPDX-License-Identifier: Apache-2.0
"""Processes that sum tensors with each other: through Horovod, or TensorFlow's own collectives."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..tfutils.sesscreate import NewSessionCreator
from ..utils import logger
from ..utils.errors import NotSupported, say

__all__ = ["Collectives", "HorovodCollectives", "TFCollectives", "find_collectives"]

v1 = tf.compat.v1
_GROUP = 7001  # of the keys by which TensorFlow tells groups of devices apart
_servers: dict[str, Any] = {}


class Collectives(ABC):
    """What a trainer over several processes needs.

    Attributes:
        rank: number of this process, from 0.
        size: how many processes there are.
    """

    rank: int
    size: int

    @abstractmethod
    def allreduce(self, tensor: Any, average: bool) -> Any:
        """Return the sum, or the mean, of all processes' tensors."""

    @abstractmethod
    def broadcast(self, variables: Sequence[Any]) -> Any:
        """Return an operation that sets variables to the values they have in process 0."""

    @abstractmethod
    def session_creator(self, creator: Any) -> Any:
        """Return a session creator whose sessions can talk to the other processes'."""


class HorovodCollectives(Collectives):
    """Horovod.

    Args:
        hvd: the module ``horovod.tensorflow``.
        compression: a member of ``hvd.Compression``, or None.
    """

    def __init__(self, hvd: Any, compression: Any = None) -> None:
        hvd.init()
        self.hvd = hvd
        self.rank, self.size = int(hvd.rank()), int(hvd.size())
        self._compression = {} if compression is None else {"compression": compression}

    def allreduce(self, tensor: Any, average: bool) -> Any:
        """Return the sum, or the mean, of all processes' tensors."""
        op = self.hvd.Average if average else self.hvd.Sum
        return self.hvd.allreduce(tensor, op=op, **self._compression)

    def broadcast(self, variables: Sequence[Any]) -> Any:
        """Return an operation that sets variables to the values they have in process 0."""
        return tf.group(*[v.assign(self.hvd.broadcast(v.read_value(), 0)) for v in variables])

    def session_creator(self, creator: Any) -> Any:
        """Let the process use its own GPU."""
        if isinstance(creator, NewSessionCreator):
            creator.config.gpu_options.visible_device_list = str(self.hvd.local_rank())
        return creator


class TFCollectives(Collectives):
    """TensorFlow's collectives, between the processes that ``TF_CONFIG`` names.

    Args:
        workers: their addresses, ``host:port``.
        index: of this process.
    """

    def __init__(self, workers: Sequence[str], index: int) -> None:
        self.rank, self.size = index, len(workers)
        self._key = _GROUP
        self._device = f"/job:worker/task:{index}"
        self._server = _server(list(workers), index)

    def allreduce(self, tensor: Any, average: bool) -> Any:
        """Return the sum, or the mean, of all processes' tensors."""
        tensor = tf.convert_to_tensor(tensor)
        total = tf.raw_ops.CollectiveReduce(
            input=tensor, merge_op="Add", final_op="Id", subdiv_offsets=[0], **self._keys())
        return total * tf.cast(1.0 / self.size, total.dtype) if average else total

    def broadcast(self, variables: Sequence[Any]) -> Any:
        """Return an operation that sets variables to the values they have in process 0."""
        updates = []
        for v in variables:
            shape = v.shape.as_list()
            if self.rank == 0:
                updates.append(tf.raw_ops.CollectiveBcastSend(
                    input=v.read_value(), shape=shape, **self._keys()))
            else:
                updates.append(v.assign(tf.raw_ops.CollectiveBcastRecv(
                    T=v.dtype.base_dtype, shape=shape, **self._keys())))
        return tf.group(*updates)

    def _keys(self) -> dict[str, int]:
        """The processes build the same graph in the same order, and so agree on the keys."""
        self._key += 1
        return {"group_size": self.size, "group_key": _GROUP, "instance_key": self._key}

    def session_creator(self, creator: Any) -> Any:
        """Let the session be one of this process' server, which knows the others."""
        config = v1.ConfigProto()
        if isinstance(creator, NewSessionCreator):
            config.CopyFrom(creator.config)
        config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        del config.device_filters[:]
        config.device_filters.append(self._device)
        return NewSessionCreator(target=self._server.target, config=config)


def _server(workers: list[str], index: int) -> Any:
    """This process' server: a port can be taken once, so it stays for later trainings."""
    name = json.dumps([workers, index])
    if name not in _servers:
        config = v1.ConfigProto(allow_soft_placement=True)
        config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        _servers[name] = tf.distribute.Server({"worker": workers}, job_name="worker",
                                              task_index=index, config=config)
    return _servers[name]


def find_collectives(who: str, compression: Any = None) -> Collectives:
    """Return Horovod's collectives, where it is installed, or TensorFlow's, by ``TF_CONFIG``.

    Args:
        who: asks, for messages.
        compression: Horovod's.

    Raises:
        NotSupported: where there is neither.
    """
    if os.environ.get("TF_CONFIG"):
        if compression is not None:
            logger.warning("%s: compression is Horovod's; TensorFlow's collectives go without.",
                           who)
        return _from_environment(who, os.environ["TF_CONFIG"])
    try:
        import horovod.tensorflow as hvd
    except ImportError as e:
        raise NotSupported(say(
            who, expected="Horovod, or TF_CONFIG in the environment", received="neither",
            do="Start one process for each worker with TF_CONFIG='{\"cluster\": {\"worker\": "
               "[\"host1:2222\", \"host2:2222\"]}, \"task\": {\"type\": \"worker\", \"index\": "
               "0}}': TensorFlow's own collectives are used then.")) from e
    return HorovodCollectives(hvd, compression)


def _from_environment(who: str, text: str) -> TFCollectives:
    try:
        config = json.loads(text)
        cluster, task = config["cluster"], config["task"]
        kind, index = task["type"], int(task["index"])
        workers = [*cluster.get("chief", []), *cluster.get("worker", [])]
        index += len(cluster.get("chief", [])) if kind == "worker" else 0
        valid = kind in ("chief", "worker") and 0 <= index < len(workers)
    except (ValueError, KeyError, TypeError):
        valid = False
    if not valid:
        raise ValueError(say(f"{who}: TF_CONFIG", expected="a cluster of workers, and the task "
                             "of this process", received=text,
                             do='Write {"cluster": {"worker": ["host:port", ...]}, '
                                '"task": {"type": "worker", "index": 0}}.'))
    return TFCollectives(workers, index)
