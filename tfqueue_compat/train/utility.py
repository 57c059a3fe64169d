# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of what trainers are made of."""

from ..graph_builder.utils import (LeastLoadedDeviceSetter, OverrideCachingDevice, allreduce_grads,
                                   override_to_local_variable)

__all__ = ["LeastLoadedDeviceSetter", "OverrideCachingDevice", "allreduce_grads",
           "override_to_local_variable"]
