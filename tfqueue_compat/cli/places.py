# SPDX-License-Identifier: Apache-2.0
"""Where a legacy module lives today, and what else the rewriter knows by heart."""

from __future__ import annotations

from .inventory import inventory

__all__ = ["ABCS", "HOUSE", "IMP", "LEAKED", "NUMPY_BUILTINS", "NUMPY_RENAMED", "TFV1", "place"]

HOUSE = "tfqueue_compat"

#: TF 1's names on today's TensorFlow.
TFV1 = "tfqueue_compat.compat.tfv1"

#: The part of the removed module ``imp`` that scripts use.
IMP = "tfqueue_compat.cli.old_imp"

#: NumPy's aliases of Python's own types, gone since NumPy 1.24 (``np.bool`` came back in 2.0 as
#: another type).
NUMPY_BUILTINS: dict[str, str] = inventory().data["numpy"]["builtins"]

#: NumPy's second names, gone since NumPy 2.0, and the first names of the same objects.
NUMPY_RENAMED: dict[str, str] = inventory().data["numpy"]["renamed"]

#: Names that star imports of old tensorpack left behind, and the statement that binds each.
LEAKED = {
    "cv2": "import cv2", "np": "import numpy as np", "os": "import os",
    "tf": f"import {TFV1} as tf"}

#: Abstract classes that left ``collections`` for ``collections.abc`` (Python 3.10).
ABCS = frozenset(inventory().data["collections_abc"])


def place(module: str, name: str | None = None) -> tuple[str, str | None] | None:
    """Return what ``import module`` or ``from module import name`` means today.

    Args:
        module: dotted name as the script has it.
        name: what is imported from it; None for the module itself.

    Returns:
        A module, and the name in it or None for the module itself; None where nothing moves.

    Example:
        >>> place("tensorpack.dataflow")
        ('tfqueue_compat.dataflow', None)
        >>> place("tensorflow.contrib.layers", "l2_regularizer")
        ('tfqueue_compat.compat.tfv1.contrib.layers', 'l2_regularizer')
        >>> place("tensorflow.python.client", "device_lib") is None
        True
    """
    from ..compat.targets import tfv1_import, tfv1_target

    root, _, rest = module.partition(".")
    if root == "tensorpack":
        now = inventory().modules.get(module, {}).get("now", module)
        return HOUSE + now[len("tensorpack"):], name
    if module == "imp":
        return IMP, name
    if module == "collections" and name in ABCS:
        return "collections.abc", name
    if root == "tensorflow":
        new = (tfv1_target(module), None) if name is None else tfv1_import(module, name)
        return None if new == (module, name) else new
    return None
