# SPDX-License-Identifier: Apache-2.0
"""What to predict, with which model and which weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import tensorflow as tf

from ..graph_builder.model_desc import ModelDescBase
from ..tfutils.sesscreate import NewSessionCreator
from ..tfutils.sessinit import JustCurrentSession, SmartInit
from ..tfutils.tower import TowerFunc
from ..utils import logger
from ..utils.errors import near, say

__all__ = ["PredictConfig", "logger"]

_OLD = {"input_var_names": "input_names", "output_var_names": "output_names",
        "inputs_desc": "input_signature"}


class PredictConfig:
    """Describes a predictor.

    Args:
        model: a ModelDesc; or else
        tower_func: a TowerFunc, or a function of tensors with
        input_signature: ``tf.TensorSpec`` of its inputs.
        input_names: of what is fed, in order: inputs, or any tensors of the model. By default all
            inputs.
        output_names: of what is returned, in order.
        session_creator: by default a NewSessionCreator.
        session_init: how variables get their values: a SessionInit, or what SmartInit takes.
        return_input: whether predictions come with what was fed.
        create_graph: whether the predictor has a graph of its own, or builds in the current one.
        **old: ``input_var_names``, ``output_var_names``, ``inputs_desc``: names of before 0.5.

    Example:
        >>> config = PredictConfig(
        ...     tower_func=lambda x: tf.identity(2 * x, name="twice"),
        ...     input_signature=[tf.TensorSpec([], tf.float32, "x")], output_names=["twice"])
        >>> config.input_names
        ['x']
    """

    def __init__(self, model: Any = None, tower_func: Any = None,
                 input_signature: Sequence[Any] | None = None,
                 input_names: Sequence[str] | None = None,
                 output_names: Sequence[str] | None = None, session_creator: Any = None,
                 session_init: Any = None, return_input: bool = False,
                 create_graph: bool = True, **old: Any) -> None:
        renamed = _renamed(old)
        input_names = input_names if input_names is not None else renamed.get("input_names")
        output_names = output_names if output_names is not None else renamed.get("output_names")
        if input_signature is None:
            input_signature = renamed.get("input_signature")
        self.tower_func, self.input_signature = _tower(model, tower_func, input_signature)
        self.input_names = _names("input_names", [s.name for s in self.input_signature]
                                  if input_names is None else input_names)
        self.output_names = _names("output_names", output_names)
        self.session_init = _session_init(session_init)
        self.session_creator = session_creator or NewSessionCreator()
        self.return_input = bool(return_input)
        self.create_graph = bool(create_graph)

    def _maybe_create_graph(self) -> AbstractContextManager[Any]:
        """A block in a new graph, or in the current one."""
        if self.create_graph or tf.executing_eagerly():
            graph: AbstractContextManager[Any] = tf.Graph().as_default()
            return graph
        return nullcontext()


def _renamed(old: dict[str, Any]) -> dict[str, Any]:
    for name in old:
        if name not in _OLD:
            known = [*_OLD, "model", "tower_func", "input_signature", "input_names",
                     "output_names", "session_creator", "session_init", "return_input",
                     "create_graph"]
            raise TypeError(say("PredictConfig", expected="arguments that it has",
                                received=f"{name}=", do="Check its name." + near(name, known)))
    return {_OLD[name]: value for name, value in old.items()}


def _tower(model: Any, tower_func: Callable[..., Any] | None,
           signature: Sequence[Any] | None) -> tuple[TowerFunc, list[Any]]:
    if model is not None:
        if not isinstance(model, ModelDescBase):
            what = f"the class {model.__name__}" if isinstance(model, type) else repr(model)
            raise TypeError(say("PredictConfig(model=...)", expected="a ModelDesc", received=what,
                                do="Pass an instance of your subclass of ModelDesc."))
        specs = model.get_input_signature()
        return TowerFunc(model.build_graph, specs), specs
    if isinstance(tower_func, TowerFunc):
        return tower_func, tower_func.input_signature
    if tower_func is None or signature is None:
        raise ValueError(say("PredictConfig", expected="a model, or a tower_func with its "
                             "input_signature", received="neither", do="Pass model=Model()."))
    function = TowerFunc(tower_func, signature)
    return function, function.input_signature


def _names(which: str, names: Any) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names or ())
    if not listed:
        raise ValueError(say("PredictConfig", expected=f"{which}: at least one name",
                             received=repr(names), do="Name the tensors."))
    return listed


def _session_init(given: Any) -> Any:
    if given is None:
        return JustCurrentSession()
    return given if hasattr(given, "_run_init") else SmartInit(given)
