# SPDX-License-Identifier: Apache-2.0
"""Builds a model in several towers, and one training step of all of them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import tensorflow as tf

from ..tfutils.gradproc import ScaleGradient
from ..tfutils.tower import TrainTowerContext
from ..utils import logger
from ..utils.errors import near, say
from .devices import LeastLoadedDeviceSetter, override_to_local_variable, tower_device
from .allreduce import (Pairs, aggregate_grads_colocate, allreduce_grads,
                        allreduce_grads_hierarchical, allreduce_grads_naive, merge_grad_list,
                        split_grad_list)
from .packer import GradientPacker

__all__ = ["AsyncMultiGPUBuilder", "DataParallelBuilder", "GraphBuilder",
           "SyncMultiGPUParameterServerBuilder", "SyncMultiGPUReplicatedBuilder", "logger"]

v1 = tf.compat.v1
MODES = ("cpu", "gpu", "hierarchical", "nccl", "collective")


class GraphBuilder(ABC):
    """Something that builds a graph."""

    @abstractmethod
    def build(self, *args: Any, **kwargs: Any) -> Any:
        """Build it."""


class DataParallelBuilder(GraphBuilder):
    """Builds the same model in several towers.

    Args:
        towers: GPU numbers, one for each tower.
    """

    def __init__(self, towers: Sequence[int]) -> None:
        self.towers = [int(t) for t in towers]
        if not self.towers:
            raise ValueError(say(type(self).__name__, expected="at least one tower",
                                 received="none", do="Pass GPU numbers, e.g. [0]."))

    @property
    def raw_devices(self) -> list[str]:
        """The device of each tower."""
        return [tower_device(k) for k in self.towers]

    @staticmethod
    def call_for_each_tower(towers: Sequence[int], func: Callable[[], Any],
                            devices: Sequence[Any] | None = None,
                            use_vs: Sequence[bool] | None = None) -> list[Any]:
        """Call a function once for each tower, in the tower's training context.

        Args:
            towers: GPU numbers.
            func: takes nothing; e.g. builds the model and returns its gradients.
            devices: of each tower; by default GPUs by their numbers.
            use_vs: for each tower, whether it has variables of its own. By default all share the
                first one's.

        Returns:
            What the calls return.
        """
        where = [tower_device(k) for k in towers] if devices is None else list(devices)
        own = [False] * len(towers) if use_vs is None else list(use_vs)
        if not len(where) == len(own) == len(towers):
            raise ValueError(say("call_for_each_tower", expected=f"{len(towers)} devices and "
                                 "use_vs, one a tower", received=f"{len(where)} and {len(own)}",
                                 do="Pass as many."))
        out = []
        for index, (device, has_own) in enumerate(zip(where, own)):
            logger.info("Building graph for training tower %d on device %s ...", index, device)
            with _tower(index, len(towers), device, has_own):
                out.append(func())
        return out

    @staticmethod
    def build_on_towers(*args: Any, **kwargs: Any) -> list[Any]:
        """The older name of ``call_for_each_tower``."""
        return DataParallelBuilder.call_for_each_tower(*args, **kwargs)

    @staticmethod
    def _check_grad_list(grad_list: Sequence[Pairs]) -> None:
        """Raise ValueError unless every tower has a gradient of the same variables."""
        def names(tower: Pairs) -> set[str]:
            return {_bare(v) for _, v in tower}
        first = names(grad_list[0])
        for index, tower in enumerate(grad_list):
            differ = names(tower) ^ first
            if differ:
                raise ValueError(say(
                    f"tower {index}", expected="gradients of the same variables as tower 0",
                    received="a difference in " + ", ".join(sorted(differ)[:5]),
                    do="Build the same model in each tower."))


def _bare(variable: Any) -> str:
    """A variable's name without its tower."""
    name = str(variable.op.name)
    head, _, rest = name.partition("/")
    return rest if head.startswith("tower") and head[5:].isdigit() else name


def _tower(index: int, total: int, device: Any, has_own: bool) -> ExitStack:
    name = f"tower{index}"
    with ExitStack() as stack:
        stack.enter_context(v1.device(device))
        stack.enter_context(_reuse(index > 0 and not has_own))
        stack.enter_context(TrainTowerContext(
            name, vs_name=name if has_own else "", index=index, total=total))
        # not saved: they are copies of the first tower's
        stack.enter_context(override_to_local_variable(enable=has_own))
        return stack.pop_all()


def _reuse(enable: bool) -> Any:
    """Variables of an earlier tower, found again."""
    return v1.variable_scope(v1.get_variable_scope(), reuse=enable or None,
                             auxiliary_name_scope=False)


def _twin(optimizer: Any) -> Any:
    """The same optimizer with a state of its own: Adam's counts one step for each use."""
    twin = copy.copy(optimizer)
    for name, value in list(vars(twin).items()):
        if isinstance(value, v1.train.Optimizer):  # inside another one
            setattr(twin, name, _twin(value))
        elif name in ("_slots", "_non_slot_dict"):
            setattr(twin, name, {})
    return twin


@contextmanager
def _optimizer_variables(index: int) -> Iterator[None]:
    """Keep the state of another tower's optimizer local, and give it that tower's name."""
    def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        scope = f"tower{index}/"
        name = kwargs.get("name") or "Variable"
        kwargs["name"] = name if name.startswith(scope) else scope + name
        kwargs["collections"] = [v1.GraphKeys.LOCAL_VARIABLES]
        return next_creator(**kwargs)

    if index == 0:
        yield
        return
    with v1.variable_creator_scope(create), override_to_local_variable():
        yield


class SyncMultiGPUParameterServerBuilder(DataParallelBuilder):
    """Towers that share variables; their gradients are averaged where the variables are.

    Args:
        towers: GPU numbers.
        ps_device: ``"gpu"``: variables are spread over the GPUs; ``"cpu"``: they are on the CPU.
    """

    def __init__(self, towers: Sequence[int], ps_device: str) -> None:
        super().__init__(towers)
        if ps_device not in ("cpu", "gpu"):
            raise ValueError(say(type(self).__name__, expected="ps_device 'cpu' or 'gpu'",
                                 received=repr(ps_device), do="Choose one."))
        self.ps_device = ps_device

    def call_for_each_tower(  # type: ignore[override]
            self, tower_fn: Callable[[], Any]) -> list[Any]:
        """Call ``tower_fn`` in each tower; return what the calls return."""
        return DataParallelBuilder.build_on_towers(
            self.towers, tower_fn, _shared_devices(self.raw_devices, self.ps_device))

    def build(self, grad_list: Sequence[Pairs],  # type: ignore[override]
              get_opt_fn: Callable[[], Any]) -> Any:
        """Return the operation of one step.

        Args:
            grad_list: tower x variable, of (gradient, variable).
            get_opt_fn: returns the optimizer.
        """
        self._check_grad_list(grad_list)
        grads = aggregate_grads_colocate(grad_list)
        optimizer = get_opt_fn()
        with v1.device("/cpu:0" if self.ps_device == "cpu" else None):
            return optimizer.apply_gradients(grads, name="train_op")


def _shared_devices(devices: Sequence[str], ps_device: str) -> list[Any]:
    if ps_device == "gpu":
        return [LeastLoadedDeviceSetter(d, devices) for d in devices]
    return [v1.train.replica_device_setter(worker_device=d, ps_device="/cpu:0", ps_tasks=1)
            for d in devices]


class SyncMultiGPUReplicatedBuilder(DataParallelBuilder):
    """Towers with variables of their own, kept equal by applying the same gradients to each.

    Only the first tower's variables are saved. The others begin as their copies, by the second
    operation that ``build`` returns.

    Args:
        towers: GPU numbers.
        average: whether gradients are averaged, or summed.
        mode: how gradients are summed: ``"nccl"``, ``"collective"`` (between GPUs),
            ``"hierarchical"`` (8 GPUs), ``"cpu"`` or ``"gpu"`` (plain additions on the CPU, or
            on the GPUs in turn).
    """

    def __init__(self, towers: Sequence[int], average: bool, mode: str) -> None:
        super().__init__(towers)
        if mode not in MODES:
            raise ValueError(say(type(self).__name__, expected=f"a mode of {', '.join(MODES)}",
                                 received=repr(mode), do="Choose one." + near(mode, MODES)))
        if mode == "hierarchical" and len(self.towers) != 8:
            logger.warning("mode='hierarchical' is for 8 towers: mode='cpu' is used with %d.",
                           len(self.towers))
            mode = "cpu"
        self._average = average
        self._mode = mode

    def call_for_each_tower(  # type: ignore[override]
            self, tower_fn: Callable[[], Any]) -> list[Any]:
        """Call ``tower_fn`` in each tower; return what the calls return."""
        return DataParallelBuilder.build_on_towers(
            self.towers, tower_fn, self.raw_devices,
            use_vs=[False] + [True] * (len(self.towers) - 1))

    def build(self, grad_list: Sequence[Pairs],  # type: ignore[override]
              get_opt_fn: Callable[[], Any]) -> tuple[Any, Any]:
        """Return the operation of one step, and one to be run once after initialization.

        Args:
            grad_list: tower x variable, of (gradient, variable).
            get_opt_fn: returns the optimizer.
        """
        self._check_grad_list(grad_list)
        all_grads, all_vars = split_grad_list(grad_list)
        grads = merge_grad_list(self._reduced(all_grads), all_vars)
        optimizer = get_opt_fn()
        steps = []
        for index, (device, pairs) in enumerate(zip(self.raw_devices, grads)):
            with v1.device(device), _optimizer_variables(index):
                own = optimizer if index == 0 else _twin(optimizer)
                steps.append(own.apply_gradients(pairs, name=f"apply_grad_{index}"))
        train_op = tf.group(*steps, name="train_op")
        with v1.name_scope("sync_variables"):
            return train_op, self.get_post_init_ops()

    def _reduced(self, all_grads: list[list[Any]]) -> list[list[Any]]:
        devices = self.raw_devices
        if self._mode in ("nccl", "collective"):
            return allreduce_grads(all_grads, average=self._average, mode=self._mode)
        packer = GradientPacker(len(devices))
        packed = packer.compute_strategy(all_grads[0]) if len(devices) > 1 else False
        parts = packer.pack_all(all_grads, devices) if packed else all_grads
        if self._mode == "hierarchical":
            summed = allreduce_grads_hierarchical(parts, devices, average=self._average)
        else:
            where = ["/cpu:0"] if self._mode == "cpu" else devices
            summed = allreduce_grads_naive(parts, where, average=self._average)
        return packer.unpack_all(summed, devices) if packed else summed

    @staticmethod
    def get_post_init_ops() -> Any:
        """Return an operation that copies the first tower's variables to the others'."""
        variables = v1.global_variables() + v1.local_variables()
        by_name = {v.op.name: v for v in variables}
        copies = []
        for name, variable in by_name.items():
            source = by_name.get(_bare(variable))
            if source is None:
                logger.warning("Variable %r has no counterpart in the first tower: it keeps its "
                               "own initial value.", name)
            elif source is not variable:
                copies.append(variable.assign(source.read_value()))
        logger.info("%d variables of the first tower are copied to other towers.", len(copies))
        return tf.group(*copies, name="sync_variables_from_main_tower")


class AsyncMultiGPUBuilder(DataParallelBuilder):
    """Towers that share variables; each applies its own gradients, whenever they are ready.

    Args:
        towers: GPU numbers.
        scale_gradient: whether gradients are divided by the number of towers.
    """

    def __init__(self, towers: Sequence[int], scale_gradient: bool = True) -> None:
        super().__init__(towers)
        self._scale_gradient = scale_gradient

    def call_for_each_tower(  # type: ignore[override]
            self, tower_fn: Callable[[], Any]) -> list[Any]:
        """Call ``tower_fn`` in each tower; return what the calls return."""
        return DataParallelBuilder.build_on_towers(
            self.towers, tower_fn, _shared_devices(self.raw_devices, "cpu"))

    def build(self, grad_list: Sequence[Pairs],  # type: ignore[override]
              get_opt_fn: Callable[[], Any]) -> Any:
        """Return the operation of one step: one update by each tower, in any order.

        Args:
            grad_list: tower x variable, of (gradient, variable).
            get_opt_fn: returns the optimizer.
        """
        self._check_grad_list(grad_list)
        if self._scale_gradient and len(self.towers) > 1:
            scale = ScaleGradient((".*", 1.0 / len(self.towers)), verbose=False)
            grad_list = [scale.process(pairs) for pairs in grad_list]
        optimizer = get_opt_fn()
        updates = []
        with v1.name_scope("async_apply_gradients"):
            for index, pairs in enumerate(grad_list):
                updates.append(optimizer.apply_gradients(pairs, name=f"apply_grad_{index}"))
        return tf.group(*updates, name="train_op")
