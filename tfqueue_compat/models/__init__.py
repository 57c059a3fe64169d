# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the layers: ``tensorpack.models``."""

from __future__ import annotations

from . import registry, shape_utils, tflayer, utils
from .batch_norm import BatchNorm, BatchRenorm
from .common import (VariableHolder, disable_layer_logging, layer_register,
                     rename_tflayer_get_variable)
from .conv2d import Conv2D, Conv2DTranspose, Deconv2D
from .fc import FullyConnected
from .layer_norm import InstanceNorm, LayerNorm
from .linearwrap import LinearWrap
from .nonlin import BNReLU, LeakyReLU, Maxout, PReLU
from .pool import AvgPooling, FixedUnPooling, GlobalAvgPooling, MaxPooling
from .regularize import (Dropout, l1_regularizer, l2_regularizer, regularize_cost,
                         regularize_cost_from_collection)
from .shapes import ConcatWith


__all__ = [
    "AvgPooling", "BNReLU", "BatchNorm", "BatchRenorm", "ConcatWith", "Conv2D",
    "Conv2DTranspose", "Deconv2D", "Dropout", "FixedUnPooling", "FullyConnected",
    "GlobalAvgPooling", "InstanceNorm", "LayerNorm", "LeakyReLU", "LinearWrap", "MaxPooling",
    "Maxout", "PReLU", "VariableHolder", "disable_layer_logging", "l1_regularizer",
    "l2_regularizer", "layer_register", "regularize_cost", "regularize_cost_from_collection",
    "registry", "rename_tflayer_get_variable", "shape_utils", "tflayer", "utils"]
