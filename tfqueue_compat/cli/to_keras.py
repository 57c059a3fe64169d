# SPDX-License-Identifier: Apache-2.0
"""The Keras form of the code that starts training, proposed where that is mechanical."""

from __future__ import annotations

import ast

from .names import find_uses
from .rewrite import Remark

__all__ = ["propose"]

_SINGLE = {"SimpleTrainer", "QueueInputTrainer"}
_MIRRORED = {"SyncMultiGPUTrainer", "SyncMultiGPUTrainerReplicated",
             "SyncMultiGPUTrainerParameterServer"}
_INPUTS = {"QueueInput", "FeedInput", "BatchQueueInput"}
_KNOWN = {"model", "dataflow", "data", "callbacks", "steps_per_epoch", "max_epoch",
          "starting_epoch", "session_init"}


def propose(text: str) -> list[Remark]:
    """Return, for each launch of training in a text, its form under Keras, or why there is none.

    Args:
        text: a file, before or after its migration.

    Example:
        >>> remark, = propose(
        ...     "from tensorpack import *\\n"
        ...     "config = TrainConfig(Model(), dataflow=df, max_epoch=3)\\n"
        ...     "launch_train_with_config(config, SimpleTrainer())\\n")
        >>> "fit(QueueInput(df), epochs=3" in remark.new
        False
    """
    tree = ast.parse(text)
    names = {id(u.node): u.fact.short for u in find_uses(tree) if u.kind == "name"}
    return [_Launch(tree, names, node).remark() for node in ast.walk(tree)
            if isinstance(node, ast.Call) and len(node.args) == 2
            and names.get(id(node.func)) == "launch_train_with_config"]


class _Launch:
    def __init__(self, tree: ast.Module, names: dict[int, str], call: ast.Call) -> None:
        self.tree, self.names, self.call = tree, names, call

    def remark(self) -> Remark:
        config = self._call_of(self.call.args[0], "TrainConfig")
        trainer = self._call_of(self.call.args[1], *_SINGLE, *_MIRRORED)
        old = ast.unparse(self.call)
        if config is None or trainer is None:
            what = "TrainConfig" if config is None else "trainer"
            return self._no(f"its {what} is not made beside it by one that has a Keras form")
        given = {k.arg: k.value for k in config.keywords}
        if config.args or None in given:
            return self._no("TrainConfig is not called with plain keywords")
        data = given.get("dataflow") or given.get("data")
        if "model" not in given or data is None:
            return self._no("TrainConfig is not given both a model and its data")
        fit = [self._input(data), f"epochs={_text(given.get('max_epoch'), '99999')}"]
        if "steps_per_epoch" in given:
            fit.append(f"steps_per_epoch={_text(given['steps_per_epoch'])}")
        if "starting_epoch" in given:
            fit.append(f"initial_epoch={_text(given['starting_epoch'])} - 1")
        if "callbacks" in given:
            fit.append(f"callbacks={_text(given['callbacks'])}")
        notes = [f"# not translated: {k}={_text(v)}" for k, v in given.items()
                 if k not in _KNOWN]
        model = f"model = ModelDescModel({_text(given['model'])})"
        if self._name(trainer) in _MIRRORED:
            model = f"with tf.distribute.MirroredStrategy().scope():\n    {model}"
        lines = ["from tfqueue_compat.keras_bridge import ModelDescModel",
                 "# eager: leave tf.disable_eager_execution() out", *notes, model]
        if "session_init" in given:
            lines.append(f"model.load_weights({_text(given['session_init'])})")
        return Remark(self.call.lineno, old,
                      "\n".join([*lines, f"model.fit({', '.join(fit)})"]))

    def _no(self, why: str) -> Remark:
        return Remark(self.call.lineno, ast.unparse(self.call), why=f"Not mechanical: {why}.")

    def _name(self, call: ast.Call) -> str:
        return self.names.get(id(call.func), "")

    def _call_of(self, node: ast.expr, *wanted: str) -> ast.Call | None:
        """Return the call that makes a value: itself, or the one assignment to its name."""
        if isinstance(node, ast.Name):
            made = [n.value for n in ast.walk(self.tree) if isinstance(n, ast.Assign)
                    and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)]
            if len(made) != 1:
                return None
            node = made[0]
        return node if isinstance(node, ast.Call) and self._name(node) in wanted else None

    def _input(self, data: ast.expr) -> str:
        if isinstance(data, ast.Call) and self._name(data) in _INPUTS and data.args:
            return f"QueueInput({_text(data.args[0])})"
        return f"QueueInput({_text(data)})"


def _text(node: ast.expr | None, default: str = "") -> str:
    return default if node is None else ast.unparse(node)
