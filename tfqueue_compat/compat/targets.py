# SPDX-License-Identifier: Apache-2.0
"""Where the modules of TF 1 are found today: data for whoever rewrites imports."""

from __future__ import annotations

__all__ = ["MOVED", "TFV1", "tfv1_import", "tfv1_target"]

#: TF 1's namespace.
TFV1 = "tfqueue_compat.compat.tfv1"

#: Private modules of TF 1 that scripts import, and what holds their names today.
MOVED = {
    "tensorflow.contrib.framework.python.ops": f"{TFV1}.contrib.framework",
    "tensorflow.contrib.framework.python.ops.arg_scope": f"{TFV1}.contrib.framework",
    "tensorflow.contrib.framework.python.ops.variables": f"{TFV1}.contrib.framework",
    "tensorflow.contrib.layers.python.layers": f"{TFV1}.contrib.layers",
    "tensorflow.contrib.layers.python.layers.initializers": f"{TFV1}.contrib.layers",
    "tensorflow.contrib.layers.python.layers.layers": f"{TFV1}.contrib.layers",
    "tensorflow.contrib.layers.python.layers.regularizers": f"{TFV1}.contrib.layers",
    "tensorflow.contrib.layers.python.layers.utils": f"{TFV1}.contrib.slim_utils",
    "tensorflow.contrib.rnn.python.ops.core_rnn_cell": f"{TFV1}.contrib.rnn",
    "tensorflow.contrib.rnn.python.ops.rnn_cell": f"{TFV1}.contrib.rnn",
    "tensorflow.python.framework.graph_util": f"{TFV1}.graph_util",
    "tensorflow.python.framework.graph_util_impl": f"{TFV1}.graph_util",
    "tensorflow.python.layers.layers": f"{TFV1}.layers",
    "tensorflow.python.layers.base": f"{TFV1}.layers",
    "tensorflow.python.layers.convolutional": f"{TFV1}.layers",
    "tensorflow.python.layers.core": f"{TFV1}.layers",
    "tensorflow.python.layers.normalization": f"{TFV1}.layers",
    "tensorflow.python.layers.pooling": f"{TFV1}.layers",
    "tensorflow.python.ops.rnn_cell": f"{TFV1}.rnn_cell",
    "tensorflow.python.ops.rnn_cell_impl": f"{TFV1}.rnn_cell",
    "tensorflow.python.platform.build_info": f"{TFV1}.build_info",
    "tensorflow.keras": f"{TFV1}.keras",
    "tensorflow.keras.backend": f"{TFV1}.keras_backend",
    "tensorflow.keras.layers": f"{TFV1}.keras_layers",
    "tensorflow.python.keras.backend": f"{TFV1}.keras_backend",
    "tensorflow.nn.rnn_cell": f"{TFV1}.rnn_cell",
}

_KEPT = ("_api", "compiler", "core", "dtensor", "include", "keras", "lite", "python", "tools",
         "tsl")


def tfv1_target(dotted: str) -> str:
    """Return the module to import in the place of a module of TF 1.

    Modules of TensorFlow's public namespace map to ``tfv1``, which also answers to the paths of
    what it forwards; TensorFlow's private ones stay, but for those in ``MOVED``.

    Args:
        dotted: ``tensorflow`` or a module below it.

    Example:
        >>> tfv1_target("tensorflow")
        'tfqueue_compat.compat.tfv1'
        >>> tfv1_target("tensorflow.contrib.slim")
        'tfqueue_compat.compat.tfv1.contrib.slim'
        >>> tfv1_target("tensorflow.compat.v1")
        'tfqueue_compat.compat.tfv1'
        >>> tfv1_target("tensorflow.python.ops.array_ops")
        'tensorflow.python.ops.array_ops'
    """
    if dotted == "tensorflow.compat.v1" or dotted.startswith("tensorflow.compat.v1."):
        dotted = "tensorflow" + dotted[len("tensorflow.compat.v1"):]
    if dotted in MOVED:
        return MOVED[dotted]
    root, _, rest = dotted.partition(".")
    if root != "tensorflow" or rest.partition(".")[0] in _KEPT or dotted == "tensorflow.compat.v2":
        return dotted
    return f"{TFV1}.{rest}" if rest else TFV1


def tfv1_import(module: str, name: str) -> tuple[str, str | None]:
    """Return what ``from module import name`` has to import: a module, and a name in it or None.

    None says that the module itself is what ``name`` meant.

    Example:
        >>> tfv1_import("tensorflow.python.framework", "graph_util")
        ('tfqueue_compat.compat.tfv1.graph_util', None)
        >>> tfv1_import("tensorflow.contrib.layers", "l2_regularizer")
        ('tfqueue_compat.compat.tfv1.contrib.layers', 'l2_regularizer')
    """
    whole = f"{module}.{name}"
    if whole in MOVED:
        return MOVED[whole], None
    return tfv1_target(module), name
