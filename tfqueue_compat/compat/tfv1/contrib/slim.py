# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.contrib.slim``: layers, arg_scope, variables and metrics; no nets, no learning."""

from tensorflow.compat.v1 import metrics

from ..gone import missing_in
from . import framework, layers
from . import slim_utils as utils
from .arg_scope_ import (add_arg_scope, arg_scope, arg_scoped_arguments, current_arg_scope,
                         has_arg_scope)
from .assigning import (assign_from_checkpoint, assign_from_checkpoint_fn, assign_from_values,
                        assign_from_values_fn)
from .framework import (create_global_step, get_global_step, get_or_create_global_step)
from .layers import (apply_regularization, avg_pool2d, batch_norm, bias_add, conv1d, conv2d,
                     conv2d_transpose, conv3d, convolution, convolution1d, convolution2d,
                     convolution2d_transpose, convolution3d, dropout, flatten, fully_connected,
                     group_norm, instance_norm, l1_l2_regularizer, l1_regularizer,
                     l2_regularizer, layer_norm, linear, max_pool2d, one_hot_encoding, relu,
                     relu6, repeat, separable_conv2d, separable_convolution2d, softmax, stack,
                     sum_regularizer, unit_norm, variance_scaling_initializer,
                     xavier_initializer, xavier_initializer_conv2d)
from .variables import (add_model_variable, filter_variables, get_local_variables,
                        get_model_variables, get_trainable_variables, get_unique_variable,
                        get_variable_full_name, get_variables, get_variables_by_name,
                        get_variables_by_suffix, get_variables_to_restore, global_variable,
                        local_variable, model_variable, variable)

__all__ = [
    "add_arg_scope", "add_model_variable", "apply_regularization", "arg_scope",
    "arg_scoped_arguments", "assign_from_checkpoint", "assign_from_checkpoint_fn",
    "assign_from_values", "assign_from_values_fn", "avg_pool2d", "batch_norm", "bias_add",
    "conv1d", "conv2d", "conv2d_transpose", "conv3d", "convolution", "convolution1d",
    "convolution2d", "convolution2d_transpose", "convolution3d", "create_global_step",
    "current_arg_scope", "dropout", "filter_variables", "flatten", "framework",
    "fully_connected", "get_global_step", "get_local_variables", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_unique_variable",
    "get_variable_full_name", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "group_norm",
    "has_arg_scope", "instance_norm", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer",
    "layer_norm", "layers", "linear", "local_variable", "max_pool2d", "metrics",
    "model_variable", "one_hot_encoding", "relu", "relu6", "repeat", "separable_conv2d",
    "separable_convolution2d", "softmax", "stack", "sum_regularizer", "unit_norm", "utils",
    "variable", "variance_scaling_initializer", "xavier_initializer",
    "xavier_initializer_conv2d",
]

__getattr__ = missing_in("slim", __all__)
