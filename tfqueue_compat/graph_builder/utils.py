# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of what the builders are made of."""

from __future__ import annotations

from ..utils import logger
from .allreduce import (aggregate_grads_colocate, allreduce_grads, allreduce_grads_hierarchical,
                        allreduce_grads_naive, merge_grad_list, split_grad_list)
from .devices import LeastLoadedDeviceSetter, OverrideCachingDevice, override_to_local_variable
from .packer import GradientPacker

__all__ = ["GradientPacker", "LeastLoadedDeviceSetter", "OverrideCachingDevice",
           "aggregate_grads_colocate", "allreduce_grads", "allreduce_grads_hierarchical",
           "allreduce_grads_naive", "logger", "merge_grad_list", "override_to_local_variable",
           "split_grad_list"]
