# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the words of graph mode: ``tensorpack.tfutils``."""

from __future__ import annotations

import importlib
from typing import Any

from . import gradproc, optimizer, sesscreate, sessinit, summary, tower, varreplace
# The function of this name replaces its module as an attribute, as in tensorpack.
from .argscope import (argscope, enable_argscope_for_function, enable_argscope_for_module,
                       get_arg_scope)
from .collect_env import collect_env_info
from .common import (get_default_sess_config, get_global_step_value, get_global_step_var,
                     get_tf_version_tuple)
from .sessinit import (ChainInit, DictRestore, JustCurrentSession, SaverRestore,
                       SaverRestoreRelaxed, SessionInit, SmartInit, get_model_loader)
from .tower import TowerContext, get_current_tower_context

__all__ = [
    "ChainInit", "DictRestore", "JustCurrentSession", "SaverRestore", "SaverRestoreRelaxed",
    "SessionInit", "SmartInit", "TowerContext", "argscope", "collect_env_info",
    "enable_argscope_for_function", "enable_argscope_for_module", "get_arg_scope",
    "get_current_tower_context", "get_default_sess_config", "get_global_step_value",
    "get_global_step_var", "get_model_loader", "get_tf_version_tuple", "gradproc", "optimizer",
    "sesscreate", "sessinit", "summary", "tower", "varreplace"]

_MODULES = frozenset({"collect_env", "collection", "common", "dependency", "distributed",
                      "export", "model_utils", "scope_utils", "symbolic_functions", "varmanip"})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
