# SPDX-License-Identifier: Apache-2.0
"""Writes a trained model for programs that know nothing of tensorpack."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import tensorflow as tf

from ..utils import logger
from ..utils.errors import say
from .common import get_op_tensor_name, get_tensors_by_names
from .tower import PredictTowerContext

__all__ = ["ModelExporter"]

v1 = tf.compat.v1


class ModelExporter:
    """Builds a model for inference, loads its weights, and writes both.

    Args:
        config: a PredictConfig: the model, its weights, the names of what goes in and comes out.
    """

    def __init__(self, config: Any) -> None:
        for name in ("tower_func", "input_signature", "input_names", "output_names",
                     "session_init", "session_creator"):
            if not hasattr(config, name):
                raise TypeError(say("ModelExporter", expected="a PredictConfig",
                                    received=repr(config), do="Pass PredictConfig(...)."))
        self.config = config

    def _session(self, stack: ExitStack) -> Any:
        """Enter a graph with the model in it and return a session with its weights."""
        config = self.config
        stack.enter_context(config._maybe_create_graph())
        inputs = [v1.placeholder(spec.dtype, shape=spec.shape, name=spec.name)
                  for spec in config.input_signature]
        with PredictTowerContext(""):
            config.tower_func(*inputs)
        config.session_init._setup_graph()
        session = stack.enter_context(config.session_creator.create_session())
        config.session_init._run_init(session)
        return session

    def export_compact(self, filename: str, optimize: bool = True,
                       toco_compatible: bool = False) -> Any:
        """Write one file: a GraphDef with the weights as constants.

        Read it with ``tf.compat.v1.GraphDef.FromString`` and ``tf.import_graph_def``.

        Args:
            filename: of the file.
            optimize: whether nodes that only training needs are taken out.
            toco_compatible: whether every input becomes a plain placeholder of its own, as
                converters want; needs ``optimize``.

        Returns:
            The GraphDef.
        """
        if toco_compatible and not optimize:
            raise ValueError(say("export_compact", expected="optimize=True with toco_compatible",
                                 received="optimize=False", do="Leave optimize out."))
        with ExitStack() as stack:
            session = self._session(stack)
            names = [get_op_tensor_name(n)[0] for n in self.config.output_names]
            fed = get_tensors_by_names(self.config.input_names)
            get_tensors_by_names(self.config.output_names)  # says which name is wrong
            graph_def = session.graph.as_graph_def(add_shapes=True)
            frozen = _frozen(session, graph_def, names)
            if optimize:
                frozen = v1.graph_util.remove_training_nodes(
                    frozen, protected_nodes=[*names, *(t.op.name for t in fed)])
            if toco_compatible:
                frozen = _with_placeholders(frozen, fed, names)
        os.makedirs(os.path.dirname(os.path.abspath(filename)), exist_ok=True)
        with tf.io.gfile.GFile(filename, "wb") as f:
            f.write(frozen.SerializeToString())
        logger.info("Output graph written to %s.", filename)
        return frozen

    def export_serving(self, filename: str, tags: Sequence[str] | None = None,
                       signature_name: str = "prediction_pipeline") -> None:
        """Write a SavedModel, for TensorFlow Serving or ``tf.saved_model.load``.

        Args:
            filename: of the folder; it must not exist.
            tags: of the graph in it; by default ``serve``.
            signature_name: of the one signature: from input names to output names.

        Raises:
            FileExistsError: where the folder is there already.
        """
        if tf.io.gfile.exists(filename):
            raise FileExistsError(say("export_serving", expected="a folder that does not exist",
                                      received=repr(filename), do="Remove it, or name another."))
        with ExitStack() as stack:
            session = self._session(stack)
            fed = dict(zip(self.config.input_names,
                           get_tensors_by_names(self.config.input_names)))
            got = dict(zip(self.config.output_names,
                           get_tensors_by_names(self.config.output_names)))
            signature = v1.saved_model.build_signature_def(
                {n: v1.saved_model.build_tensor_info(t) for n, t in fed.items()},
                {n: v1.saved_model.build_tensor_info(t) for n, t in got.items()},
                v1.saved_model.signature_constants.PREDICT_METHOD_NAME)
            builder = v1.saved_model.builder.SavedModelBuilder(filename)
            builder.add_meta_graph_and_variables(
                session, list(tags) if tags else [v1.saved_model.tag_constants.SERVING],
                signature_def_map={signature_name: signature})
            builder.save()
        logger.info("SavedModel written to %s.", filename)


def _frozen(session: Any, graph_def: Any, outputs: Sequence[str]) -> Any:
    frozen = v1.graph_util.convert_variables_to_constants(session, graph_def, list(outputs))
    for node in frozen.node:
        # Set when the graph was made; readers of the file can't resolve them.
        node.attr.pop("_class", None)
    return frozen


def _with_placeholders(graph_def: Any, fed: Sequence[Any], outputs: Sequence[str]) -> Any:
    """Replace what is fed by placeholders, and keep what the outputs need of them."""
    replaced = v1.GraphDef(versions=graph_def.versions, library=graph_def.library)
    by_name = {t.op.name: t for t in fed}
    for node in graph_def.node:
        tensor = by_name.get(node.name)
        if tensor is None:
            replaced.node.add().CopyFrom(node)
            continue
        new = replaced.node.add(name=node.name, op="Placeholder")
        new.attr["dtype"].type = tensor.dtype.as_datatype_enum
        new.attr["shape"].shape.CopyFrom(tensor.shape.as_proto())
    return v1.graph_util.extract_sub_graph(replaced, list(outputs))
