# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.contrib.framework``: arg_scope, model variables, checkpoints, the global step."""

from tensorflow import argsort, is_tensor, nest, sort
from tensorflow.compat.v1.train import (assert_global_step, create_global_step, get_global_step,
                                        get_or_create_global_step, init_from_checkpoint,
                                        list_variables, load_checkpoint, load_variable)

from ..gone import missing_in
from .arg_scope_ import (add_arg_scope, arg_scope, arg_scoped_arguments, current_arg_scope,
                         has_arg_scope)
from .assigning import (assign_from_checkpoint, assign_from_checkpoint_fn, assign_from_values,
                        assign_from_values_fn)
from .variables import (add_model_variable, filter_variables, get_local_variables,
                        get_model_variables, get_trainable_variables, get_unique_variable,
                        get_variable_full_name, get_variables, get_variables_by_name,
                        get_variables_by_suffix, get_variables_to_restore, global_variable,
                        local_variable, model_variable, variable)

__all__ = [
    "add_arg_scope", "add_model_variable", "arg_scope", "arg_scoped_arguments", "argsort",
    "assert_global_step", "assign_from_checkpoint", "assign_from_checkpoint_fn",
    "assign_from_values", "assign_from_values_fn", "create_global_step", "current_arg_scope",
    "filter_variables", "get_global_step", "get_local_variables", "get_model_variables",
    "get_or_create_global_step", "get_trainable_variables", "get_unique_variable",
    "get_variable_full_name", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "global_variable", "has_arg_scope",
    "init_from_checkpoint", "is_tensor", "list_variables", "load_checkpoint", "load_variable",
    "local_variable", "model_variable", "nest", "sort", "variable",
]

__getattr__ = missing_in("framework", __all__)
