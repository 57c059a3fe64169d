# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.contrib.layers``, the used part."""

from ..gone import missing_in
from .initializers import (variance_scaling_initializer, xavier_initializer,
                           xavier_initializer_conv2d)
from .layers_conv import (avg_pool2d, convolution, convolution1d, convolution2d,
                          convolution2d_transpose, convolution3d, max_pool2d,
                          separable_convolution2d)
from .layers_dense import (bias_add, dropout, flatten, fully_connected, linear,
                           one_hot_encoding, relu, relu6, repeat, softmax, stack, unit_norm)
from .layers_norm import batch_norm, group_norm, instance_norm, layer_norm
from .regularizers import (apply_regularization, l1_l2_regularizer, l1_regularizer,
                           l2_regularizer, sum_regularizer)
from .summaries import (summarize_activation, summarize_activations, summarize_biases,
                        summarize_collection, summarize_tensor, summarize_tensors,
                        summarize_variables, summarize_weights)

__all__ = [
    "apply_regularization", "avg_pool2d", "batch_norm", "bias_add", "conv1d", "conv2d",
    "conv2d_transpose", "conv3d", "convolution", "convolution1d", "convolution2d",
    "convolution2d_transpose", "convolution3d", "dropout", "flatten", "fully_connected",
    "group_norm", "instance_norm", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer",
    "layer_norm", "linear", "max_pool2d", "one_hot_encoding", "relu", "relu6", "repeat",
    "separable_conv2d", "separable_convolution2d", "softmax", "stack", "sum_regularizer",
    "summarize_activation", "summarize_activations", "summarize_biases",
    "summarize_collection", "summarize_tensor", "summarize_tensors", "summarize_variables",
    "summarize_weights", "unit_norm", "variance_scaling_initializer", "xavier_initializer",
    "xavier_initializer_conv2d",
]

conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_transpose = convolution2d_transpose
separable_conv2d = separable_convolution2d

__getattr__ = missing_in("layers", __all__)
