# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.layers``, on ``tf.nn`` and ``get_variable``."""

from .layers_base import Layer
from .layers_conv import Conv1D, Conv2D, Conv3D, conv1d, conv2d, conv3d
from .layers_conv_transpose import (Conv2DTranspose, Conv3DTranspose, conv2d_transpose,
                                    conv3d_transpose)
from .layers_core import Dense, Dropout, Flatten, dense, dropout, flatten
from .layers_norm import BatchNormalization, batch_normalization
from .layers_pooling import (AveragePooling1D, AveragePooling2D, AveragePooling3D, MaxPooling1D,
                             MaxPooling2D, MaxPooling3D, average_pooling1d, average_pooling2d,
                             average_pooling3d, max_pooling1d, max_pooling2d, max_pooling3d)
from .layers_separable import SeparableConv1D, SeparableConv2D, separable_conv1d, separable_conv2d
from .layers_spec import InputSpec

__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Conv1D",
    "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout", "Flatten",
    "InputSpec", "Layer", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "SeparableConv1D",
    "SeparableConv2D", "average_pooling1d", "average_pooling2d", "average_pooling3d",
    "batch_normalization", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose",
    "dense", "dropout", "flatten", "max_pooling1d", "max_pooling2d", "max_pooling3d",
    "separable_conv1d", "separable_conv2d",
]
