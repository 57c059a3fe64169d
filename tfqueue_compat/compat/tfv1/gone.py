# SPDX-License-Identifier: Apache-2.0
"""Names of TF 1 that are nowhere today, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn

from ...utils.errors import NotSupported, near, say

__all__ = ["CONTRIB", "NAMES", "PARTS", "ContribGone", "NotThere", "advice", "contrib_gone",
           "missing_in"]


class NotThere(NotSupported, AttributeError):
    """A name that TF 1 had and that has no counterpart; ``hasattr`` sees it as missing."""


class ContribGone(NotSupported, ImportError):
    """A part of ``tf.contrib`` that is not offered; ``except ImportError`` catches it too."""


#: Names that were gone before TF 1.15, or are since, and their successors.
NAMES = {
    "all_variables": "tf.global_variables()",
    "batch_matmul": "tf.matmul",
    "complex_abs": "tf.abs",
    "concat_v2": "tf.concat",
    "estimator": "Keras (tf.keras.Model.fit); tf.estimator left TensorFlow in 2.16",
    "examples": "tfqueue_compat.dataflow.dataset (Mnist) for tensorflow.examples.tutorials.mnist",
    "histogram_summary": "tf.summary.histogram",
    "image_summary": "tf.summary.image",
    "inv": "tf.reciprocal",
    "merge_all_summaries": "tf.summary.merge_all",
    "merge_summary": "tf.summary.merge",
    "mul": "tf.multiply",
    "neg": "tf.negative",
    "pack": "tf.stack",
    "scalar_summary": "tf.summary.scalar",
    "select": "tf.where",
    "sub": "tf.subtract",
    "unpack": "tf.unstack",
}

#: Parts of tf.contrib, and what to use instead.
CONTRIB = {
    "batching": "tf.nondifferentiable_batch_function",
    "bayesflow": "the package tensorflow-probability",
    "cluster_resolver": "tf.distribute.cluster_resolver",
    "cmake": "a TensorFlow wheel",
    "compiler": "tf.function(jit_compile=True), or tf.config.optimizer.set_jit",
    "constrained_optimization": "the package tensorflow-constrained-optimization",
    "copy_graph": "tf.graph_util and tf.import_graph_def",
    "crf": "the package tensorflow-addons' sources (tfa.text.crf)",
    "cudnn_rnn": "tf.nn.rnn_cell with tf.nn.dynamic_rnn, or tf.keras.layers.LSTM",
    "data": "tf.data and tf.data.experimental",
    "deprecated": "tf.summary",
    "distribute": "tf.distribute",
    "eager": "tf.GradientTape and TensorFlow's eager mode",
    "estimator": "tf.keras.Model.fit",
    "feature_column": "tf.feature_column",
    "ffmpeg": "the package tensorflow-io",
    "gan": "the package tensorflow-gan, or tensorpack's GAN trainers",
    "graph_editor": "tf.import_graph_def with input_map",
    "grid_rnn": "tf.nn.rnn_cell",
    "hparams": "argparse, or a dataclass",
    "input_pipeline": "tf.data",
    "integrate": "scipy.integrate.odeint",
    "labeled_tensor": "named axes of your own",
    "learn": "tf.keras.Model.fit",
    "legacy_seq2seq": "tf.nn.dynamic_rnn, or tf.keras.layers.RNN",
    "linalg": "tf.linalg",
    "linear_optimizer": "the optimizers of tf.train",
    "lite": "tf.lite",
    "lookup": "tf.lookup",
    "losses": "tf.losses",
    "memory_stats": "tf.config.experimental.get_memory_info",
    "meta_graph_transform": "tf.graph_util",
    "metrics": "tf.metrics",
    "mixed_precision": "tf.keras.mixed_precision",
    "model_pruning": "the package tensorflow-model-optimization",
    "nccl": "tf.distribute.NcclAllReduce, or tf.raw_ops.CollectiveReduceV2",
    "nn": "tf.nn",
    "opt": "the optimizers of tf.train; AdamW is tf.keras.optimizers.AdamW",
    "optimizer_v2": "the optimizers of tf.train",
    "predictor": "tf.saved_model.load",
    "quantize": "tf.quantization",
    "receptive_field": "a computation by hand from kernel sizes and strides",
    "recurrent": "tf.while_loop",
    "resampler": "tf.gather_nd with bilinear weights",
    "saved_model": "tf.saved_model",
    "seq2seq": "tf.nn.dynamic_rnn or tf.raw_rnn; attention is tf.keras.layers.Attention",
    "session_bundle": "tf.saved_model",
    "solvers": "tf.linalg.experimental.conjugate_gradient",
    "sparsemax": "tf.nn.softmax",
    "specs": "tf.layers",
    "stat_summarizer": "tf.profiler",
    "stateless": "tf.random.stateless_*",
    "summary": "tf.compat.v2.summary",
    "tensorboard": "the package tensorboard",
    "tensorrt": "tf.experimental.tensorrt",
    "testing": "tf.test",
    "tfprof": "tf.profiler",
    "tpu": "tf.tpu",
    "training": "tf.train and tf.data",
    "util": "tf.make_tensor_proto, tf.make_ndarray",
}


#: Names in the living parts of tf.contrib that are not offered, and what to use instead.
PARTS = {
    "image.bipartite_match": "scipy.optimize.linear_sum_assignment in tf.numpy_function",
    "image.connected_components": "cv2.connectedComponents in the DataFlow",
    "image.dense_image_warp": "tf.gather_nd with bilinear weights",
    "image.sparse_image_warp": "cv2.remap in the DataFlow",
    "layers.optimize_loss": "an optimizer of tf.train and its minimize()",
    "rnn.AttentionCellWrapper": "tf.keras.layers.Attention",
    "rnn.LSTMBlockFusedCell": "tf.nn.rnn_cell.LSTMCell with tf.nn.dynamic_rnn",
    "slim.data": "tf.data, or a DataFlow",
    "slim.dataset": "tf.data, or a DataFlow",
    "slim.dataset_data_provider": "tf.data, or a DataFlow",
    "slim.evaluation": "tensorpack's InferenceRunner, or a loop of your own",
    "slim.learning": "tensorpack's trainers, or tf.train.MonitoredTrainingSession",
    "slim.losses": "tf.losses, whose arguments are labels first, then logits",
    "slim.nets": "the package tf-models, or tf.keras.applications",
    "slim.prefetch_queue": "QueueInput, or Dataset.prefetch",
    "slim.queues": "tf.data, or a DataFlow",
    "slim.tfexample_decoder": "tf.io.parse_example",
}


def advice(name: str, known: Iterable[str] = ()) -> str:
    """Return what to do about a missing name of the root."""
    if name in NAMES:
        return f"Use {NAMES[name]}."
    return f"Correct the name, or see the documentation of tf.compat.v1.{near(name, known)}"


def contrib_gone(name: str) -> ContribGone:
    """Return the error for ``tf.contrib.<name>``: what is missing and what to use instead."""
    if name in CONTRIB:
        do = f"Use {CONTRIB[name]}."
    else:
        do = f"See whether tf.layers, tf.nn or tf.keras has it.{near(name, CONTRIB)}"
    return ContribGone(say(
        f"tf.contrib.{name}", do=do, received=f"{name!r}, which left with TF 1",
        expected="a part that lives on (autograph, distributions, framework, image, keras, "
                 "layers, rnn, signal, slim)"))


def missing_in(part: str, known: Iterable[str]) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__``, which says what to use instead of a name it lacks.

    Args:
        part: the part of ``tf.contrib``, e.g. ``"layers"``.
        known: the names that it has.
    """
    names = list(known)

    def missing(name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(f"module tf.contrib.{part} has no attribute {name!r}")
        whole = f"{part}.{name}"
        do = (f"Use {PARTS[whole]}." if whole in PARTS else
              f"Write it with tf.nn and tf.get_variable.{near(name, names)}")
        raise ContribGone(say(f"tf.contrib.{whole}", received=repr(name), do=do,
                              expected=f"a name of tf.contrib.{part} that is offered here"))

    return missing
