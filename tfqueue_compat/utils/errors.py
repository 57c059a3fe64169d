# SPDX-License-Identifier: Apache-2.0
"""What goes wrong, said so that the reader can act: Expected ... Received ... Do ..."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType
from typing import Any

__all__ = ["CompatError", "NotSupported", "near", "require", "say"]


class CompatError(Exception):
    """Base of the errors that this package defines itself."""


class NotSupported(CompatError, NotImplementedError):
    """A name of tensorpack or TF 1 that cannot work on today's TensorFlow.

    Its text always names what to use instead.
    """


def say(subject: str, *, expected: Any, received: Any, do: str) -> str:
    """Return an error text in the house form.

    Args:
        subject: what the error is about: a DataFlow, a component, a tensor.
        expected: what would have been right.
        received: what came instead.
        do: what the reader can do about it.

    Example:
        >>> say("BatchData", expected="batch_size >= 1", received="0", do="Pass a size.")
        'BatchData: Expected batch_size >= 1. Received 0. Do: Pass a size.'
    """
    return f"{subject}: Expected {expected}. Received {received}. Do: {do}"


def near(name: str, names: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the known names closest to ``name``, or ``""``.

    Example:
        >>> near("Conv2d", ["Conv2D", "MaxPooling"])
        " Did you mean 'Conv2D'?"
    """
    found = difflib.get_close_matches(str(name), [str(n) for n in names], n=3, cutoff=0.6)
    if not found:
        return ""
    return " Did you mean " + " or ".join(repr(n) for n in found) + "?"


def require(module: str, pip_name: str, wanted_by: str) -> ModuleType:
    """Import an optional package, or say which one to install.

    Args:
        module: name to import, e.g. ``"cv2"``.
        pip_name: name to install, e.g. ``"opencv-python-headless"``.
        wanted_by: the feature that needs it.

    Returns:
        The imported module.

    Raises:
        ImportError: where it is not installed; the text names the ``pip install``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as e:
        if e.name is not None and e.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise ImportError(
            say(wanted_by, expected=f"the package {module!r} to be installed",
                received="no such module", do=f"Run: pip install {pip_name}"),
            name=module) from e
