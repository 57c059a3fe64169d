# SPDX-License-Identifier: Apache-2.0
"""Sums or averages the gradients of several towers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import near, say

__all__ = ["aggregate_grads_colocate", "allreduce_grads", "allreduce_grads_hierarchical",
           "allreduce_grads_naive", "merge_grad_list", "split_grad_list"]

v1 = tf.compat.v1
Pairs = list[tuple[Any, Any]]
_instances = 0


def split_grad_list(grad_list: Sequence[Pairs]) -> tuple[list[list[Any]], list[list[Any]]]:
    """Split (gradient, variable) pairs of each tower.

    Args:
        grad_list: tower x variable, of pairs.

    Returns:
        tower x variable of gradients, and of variables.
    """
    return ([[g for g, _ in tower] for tower in grad_list],
            [[v for _, v in tower] for tower in grad_list])


def merge_grad_list(all_grads: Sequence[Sequence[Any]],
                    all_vars: Sequence[Sequence[Any]]) -> list[Pairs]:
    """Undo ``split_grad_list``."""
    return [list(zip(grads, variables)) for grads, variables in zip(all_grads, all_vars)]


def allreduce_grads(all_grads: Sequence[Sequence[Any]], average: bool,
                    mode: str = "nccl") -> list[list[Any]]:
    """Sum gradients over towers, between their GPUs.

    Args:
        all_grads: tower x variable.
        average: whether to divide by the number of towers.
        mode: ``"nccl"`` or ``"collective"``. Without a GPU for each tower both become plain sums.

    Returns:
        tower x variable.
    """
    if mode not in ("nccl", "collective"):
        raise ValueError(say("allreduce_grads", expected="mode 'nccl' or 'collective'",
                             received=repr(mode),
                             do="Choose one." + near(mode, ["nccl", "collective"])))
    towers = len(all_grads)
    if towers == 1:
        return [list(all_grads[0])]
    if not _on_own_gpus(all_grads):
        logger.info("allreduce_grads(mode=%r): not every tower has a GPU of its own, so gradients "
                    "are summed by plain additions.", mode)
        return allreduce_grads_naive(all_grads, average=average)
    reduce_one = _collective if mode == "collective" else _nccl
    by_variable = []
    with v1.name_scope("AllReduceGrads"):
        for grads in zip(*all_grads):
            summed = reduce_one(grads)
            by_variable.append([_over(g, towers if average else 1) for g in summed])
    return [list(tower) for tower in zip(*by_variable)]


def _on_own_gpus(all_grads: Sequence[Sequence[Any]]) -> bool:
    devices = {grads[0].device for grads in all_grads}
    gpus = tf.config.list_logical_devices("GPU")
    return len(devices) == len(all_grads) <= len(gpus) and all("GPU" in d.upper() for d in devices)


def _over(gradient: Any, divisor: int) -> Any:
    if divisor == 1:
        return gradient
    with v1.device(gradient.device):
        return gradient * tf.cast(1.0 / divisor, gradient.dtype)


def _nccl(grads: Sequence[Any]) -> list[Any]:
    name = _instance("nccl")
    out = []
    for g in grads:
        with v1.device(g.device):
            out.append(tf.raw_ops.NcclAllReduce(input=g, reduction="sum", num_devices=len(grads),
                                                shared_name=name))
    return out


def _collective(grads: Sequence[Any]) -> list[Any]:
    key = int(_instance(""))
    out = []
    for g in grads:
        with v1.device(g.device):
            out.append(tf.raw_ops.CollectiveReduce(
                input=g, group_size=len(grads), group_key=len(grads), instance_key=key,
                merge_op="Add", final_op="Id", subdiv_offsets=[0]))
    return out


def _instance(prefix: str) -> str:
    global _instances
    _instances += 1
    return f"{prefix}{_instances}"


def allreduce_grads_naive(all_grads: Sequence[Sequence[Any]], devices: Sequence[Any] | None = None,
                          average: bool = True) -> list[list[Any]]:
    """Sum gradients over towers by plain additions.

    Args:
        all_grads: tower x variable.
        devices: where to add; variables take turns. By default where the current scope says.
        average: whether to divide by the number of towers.

    Returns:
        tower x variable; each tower has the same tensors.
    """
    towers = len(all_grads)
    if towers == 1:
        return [list(all_grads[0])]
    reduced = []
    with v1.name_scope("AllReduceNaive"):
        for i, grads in enumerate(zip(*all_grads)):
            with v1.device(devices[i % len(devices)] if devices else None):
                reduced.append(_sum(grads, average))
    return [list(reduced) for _ in range(towers)]


def _sum(grads: Sequence[Any], average: bool) -> Any:
    """One sum; of sparse gradients a sparse one, where all are."""
    if all(isinstance(g, tf.IndexedSlices) for g in grads):
        values = tf.concat([g.values for g in grads], axis=0)
        if average:
            values = values * tf.cast(1.0 / len(grads), values.dtype)
        return tf.IndexedSlices(values, tf.concat([g.indices for g in grads], axis=0),
                                grads[0].dense_shape)
    total = tf.add_n([tf.convert_to_tensor(g) for g in grads])
    return total * tf.cast(1.0 / len(grads), total.dtype) if average else total


def allreduce_grads_hierarchical(all_grads: Sequence[Sequence[Any]], devices: Sequence[Any],
                                 average: bool = False) -> list[list[Any]]:
    """Sum gradients over eight towers in two groups of four, then between the groups.

    It suits machines whose GPUs are wired as two groups (DGX-1).

    Args:
        all_grads: tower x variable, of 8 towers.
        devices: of the towers.
        average: whether to divide by the number of towers.

    Returns:
        tower x variable.

    Raises:
        ValueError: where there are not 8 towers.
    """
    if len(devices) != 8 or len(all_grads) != 8:
        raise ValueError(say("allreduce_grads_hierarchical", expected="8 towers on 8 devices",
                             received=f"{len(all_grads)} on {len(devices)}",
                             do="Use mode='nccl' or mode='cpu'."))
    by_variable = []
    with v1.name_scope("AllReduceHierarchical"):
        for i, grads in enumerate(zip(*all_grads)):
            by_variable.append(_two_groups(grads, devices, i % 4, average))
    return [list(tower) for tower in zip(*by_variable)]


def _two_groups(grads: Sequence[Any], devices: Sequence[Any], k: int, average: bool) -> list[Any]:
    sums = []
    for group in (0, 4):
        with v1.device(devices[group + k]):
            sums.append(tf.add_n(list(grads[group:group + 4])))
    with v1.device(devices[k]):
        total = tf.add_n(sums)
        if average:
            total = total * tf.cast(1.0 / 8, total.dtype)
    with v1.device(devices[4 + k]):
        other = tf.identity(total)
    out = []
    for i, device in enumerate(devices):
        with v1.device(device):
            out.append(tf.identity(total if i < 4 else other))
    return out


def aggregate_grads_colocate(all_grads: Sequence[Pairs], average: bool = True) -> Pairs:
    """Sum (gradient, variable) pairs of towers that share variables, each where its variable is.

    Args:
        all_grads: tower x variable, of pairs.
        average: whether to divide by the number of towers.

    Returns:
        One pair for each variable.
    """
    if len(all_grads) == 1:
        return list(all_grads[0])
    out: Pairs = []
    with v1.name_scope("AggregateGrads"):
        for pairs in zip(*all_grads):
            variable = pairs[0][1]
            with v1.device(variable.device):
                out.append((_sum([g for g, _ in pairs], average), variable))
    return out
