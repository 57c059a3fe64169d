# SPDX-License-Identifier: Apache-2.0
"""What every augmentor needs: image checks, OpenCV on demand, readable reprs, named errors."""

from __future__ import annotations

import inspect
import pprint
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...utils.errors import require, say

__all__ = ["check_image", "describe", "hold", "hw_pair", "image_hw", "keep_channel",
           "name_error", "opencv"]

_NOTE = "While augmenting with "
_REAL_KINDS = "buif"


def opencv(wanted_by: Any) -> ModuleType:
    """Return ``cv2``, or say which package to install for the feature that needs it."""
    return require("cv2", "opencv-python-headless", f"imgaug.{wanted_by}")


def hold(obj: Any, params: dict[str, Any] | None) -> None:
    """Set a constructor's ``locals()`` as attributes, without ``self`` and private names."""
    for name, value in (params or {}).items():
        if name != "self" and not name.startswith("_"):
            setattr(obj, name, value)


def describe(obj: Any) -> str:
    """Return ``imgaug.Name(arg=value, ...)`` with the arguments that differ from their default.

    Falls back to Python's own repr where an argument was not kept as an attribute.
    """
    parts = []
    for param in inspect.signature(type(obj)).parameters.values():
        if param.kind in (param.VAR_POSITIONAL, param.VAR_KEYWORD) or not hasattr(obj, param.name):
            return object.__repr__(obj)
        value = getattr(obj, param.name)
        if not _is_default(value, param.default):
            parts.append(f"{param.name}={pprint.pformat(value)}")
    return f"imgaug.{type(obj).__name__}({', '.join(parts)})"


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return value is default
    return value is default or bool(value == default)


def check_image(img: Any, subject: Any, *, ranks: Sequence[int] = (2, 3)) -> None:
    """Refuse what is no image, naming the augmentor.

    Raises:
        TypeError: not a NumPy array, or not of a real number type.
        ValueError: not of shape (h, w) or (h, w, c).
    """
    if not isinstance(img, np.ndarray):
        raise TypeError(say(repr(subject), expected="an image as a numpy array",
                            received=type(img).__name__, do="Convert it with np.asarray."))
    if img.dtype.kind not in _REAL_KINDS:
        raise TypeError(say(repr(subject), expected="an image of uint8 or floating point",
                            received=f"dtype {img.dtype}, shape {img.shape}",
                            do="Convert it with img.astype('uint8') or 'float32'."))
    if ranks and img.ndim not in ranks:
        raise ValueError(say(repr(subject), expected="an image of shape (h, w) or (h, w, c)",
                             received=f"shape {img.shape}, dtype {img.dtype}",
                             do="Pass one image at a time, channels last."))


def image_hw(img: Any, subject: Any) -> tuple[int, int]:
    """Return an image's (height, width); anything with a ``shape`` of rank 2 or 3 will do.

    Raises:
        TypeError: it has no shape.
        ValueError: its rank is neither 2 nor 3.
    """
    shape = getattr(img, "shape", None)
    if shape is None or len(shape) not in (2, 3):
        check_image(img, subject)
        raise ValueError(say(repr(subject), expected="a shape (h, w) or (h, w, c)",
                             received=f"{shape}", do="Pass an image."))
    return int(shape[0]), int(shape[1])


def hw_pair(shape: Any, what: str) -> tuple[int, int]:
    """Return (h, w) from one int (a square) or a sequence of two.

    Raises:
        ValueError: neither of them, or not positive.

    Example:
        >>> hw_pair(3, "Resize(shape=)")
        (3, 3)
    """
    try:
        pair = (shape, shape) if np.ndim(shape) == 0 else tuple(shape)
        whole = tuple(int(x) for x in pair)
    except (TypeError, ValueError):
        whole = pair = ()
    if len(whole) != 2 or any(a != b for a, b in zip(whole, pair)) or min(whole) < 1:
        raise ValueError(say(what, expected="a positive int or (h, w) of them",
                             received=repr(shape), do="Pass e.g. 224 or (224, 320)."))
    return whole[0], whole[1]


def keep_channel(out: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Give back the last axis that OpenCV drops from images of shape (h, w, 1)."""
    return out[:, :, np.newaxis] if like.ndim == 3 and out.ndim == 2 else out


def name_error(error: BaseException, subject: Any, img: Any) -> None:
    """Write on an exception, keeping its type, in which augmentor it arose and on what image."""
    what = (f"shape {img.shape}, dtype {img.dtype}" if isinstance(img, np.ndarray)
            else type(img).__name__)
    note = f"{_NOTE}{subject!r} an image of {what}."
    said = [str(x) for x in (*getattr(error, "__notes__", ()), *error.args[:1])]
    if any(_NOTE in x for x in said):
        return
    if hasattr(error, "add_note"):
        error.add_note(note)
    elif error.args and isinstance(error.args[0], str):  # Python 3.10
        error.args = (f"{error.args[0]}\n{note}", *error.args[1:])
