# SPDX-License-Identifier: Apache-2.0
"""Deterministic transforms: what an augmentor decided to do, ready to apply to any data.

A transform has methods ``apply_image``, ``apply_coords`` and, where somebody wrote one, any other
``apply_xxx``. Coordinates are arrays of shape (n, 2), each row (x, y) in pixels, where (0, 0) is
the upper left corner of the upper left pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...utils.errors import near, say
from ._help import check_image, describe, hold, image_hw, keep_channel, name_error, opencv

__all__ = ["Transform", "ResizeTransform", "CropTransform", "FlipTransform", "TransformList",
           "TransformFactory"]


def __getattr__(name: str) -> Any:
    # tensorpack 0.9's path of the base class; base imports this file, hence late
    if name in ("TransformAugmentorBase", "ImageAugmentor"):
        from .base import ImageAugmentor
        return ImageAugmentor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class BaseTransform:
    """What all transforms share: keeping their arguments and showing them."""

    def _init(self, params: dict[str, Any] | None = None) -> None:
        hold(self, params)

    def __repr__(self) -> str:
        return describe(self)


class Transform(BaseTransform):
    """A deterministic transform of an image and of what belongs to it.

    A subclass defines ``apply_image`` and, where it makes sense, ``apply_coords`` or any other
    ``apply_xxx``; those it does not define raise NotImplementedError. Either may work in place.

    Example:
        >>> class Invert(Transform):
        ...     def apply_image(self, img):
        ...         return 255 - img
        >>> Invert().apply_image(np.uint8([[0, 250]]))
        array([[255,   5]], dtype=uint8)
    """

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return the transformed image, (h, w) or (h, w, c), uint8 or floating point."""
        return self._missing("apply_image")(img)

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return the transformed coordinates, (n, 2), each row (x, y) in pixels."""
        return self._missing("apply_coords")(coords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("apply_"):
            return self._missing(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _missing(self, name: str) -> Callable[[Any], Any]:
        def not_implemented(*_: Any, **__: Any) -> Any:
            raise NotImplementedError(say(
                f"{self!r}", expected=f"a transform with {name}()", received="one without",
                do=f"Leave this augmentor out, or define {name} on its transform."))
        return not_implemented


class ResizeTransform(Transform):
    """Resize an image of (h, w) to (new_h, new_w).

    Args:
        h, w: size of the image that comes, in pixels.
        new_h, new_w: size of the image that goes, in pixels.
        interp: OpenCV's interpolation, e.g. ``cv2.INTER_LINEAR``.
    """

    def __init__(self, h: int, w: int, new_h: int, new_w: int, interp: int) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return ``img`` resized.

        Raises:
            ValueError: ``img`` is not (h, w).
        """
        if image_hw(img, self) != (self.h, self.w):
            raise ValueError(say(repr(self), expected=f"an image of {(self.h, self.w)}",
                                 received=f"shape {img.shape}",
                                 do="Make a new transform for images of another size."))
        out = opencv("ResizeTransform").resize(
            img, (self.new_w, self.new_h), interpolation=self.interp)
        return keep_channel(out, img)

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` scaled."""
        out = coords.copy()
        out[:, 0] = coords[:, 0] * (self.new_w / self.w)
        out[:, 1] = coords[:, 1] * (self.new_h / self.h)
        return out


class CropTransform(Transform):
    """Cut the rectangle of (h, w) pixels whose upper left pixel is (x0, y0)."""

    def __init__(self, y0: int, x0: int, h: int, w: int) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return a view of ``img``."""
        return img[self.y0:self.y0 + self.h, self.x0:self.x0 + self.w]

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` relative to the rectangle; those outside stay outside."""
        out = coords.copy()
        out[:, 0] -= self.x0
        out[:, 1] -= self.y0
        return out


class WarpAffineTransform(Transform):
    """OpenCV's ``warpAffine``.

    Args:
        mat: matrix of shape (2, 3), which maps (x, y, 1) of the source to the destination.
        dsize: (width, height) of the result.
        interp: OpenCV's interpolation.
        borderMode: OpenCV's border, e.g. ``cv2.BORDER_CONSTANT``.
        borderValue: a number, or one for each channel.
    """

    def __init__(self, mat: Any, dsize: tuple[int, int], interp: int = 1, borderMode: int = 0,
                 borderValue: Any = 0) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return ``img`` warped."""
        out = opencv("WarpAffineTransform").warpAffine(
            img, self.mat, self.dsize, flags=self.interp, borderMode=self.borderMode,
            borderValue=self.borderValue)
        return keep_channel(out, img)

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` mapped by the matrix, as float64 (float32 for a float32 matrix)."""
        coords = np.asarray(coords, dtype="f4" if coords.dtype == np.float32 else "f8")
        ones = np.ones((len(coords), 1), dtype=coords.dtype)
        return np.concatenate([coords, ones], axis=1) @ np.asarray(self.mat).T


class FlipTransform(Transform):
    """Mirror an image of (h, w).

    Args:
        h, w: the image's size in pixels.
        horiz: left to right; otherwise upside down.
    """

    def __init__(self, h: int, w: int, horiz: bool = True) -> None:
        self._init(locals())

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return a mirrored view of ``img``."""
        return img[:, ::-1] if self.horiz else img[::-1]

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` mirrored: x becomes w - x, or y becomes h - y."""
        out = coords.copy()
        axis, size = (0, self.w) if self.horiz else (1, self.h)
        out[:, axis] = size - coords[:, axis]
        return out


class TransposeTransform(Transform):
    """Swap rows and columns."""

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return ``img`` transposed, contiguous in memory."""
        return np.ascontiguousarray(img.swapaxes(0, 1))

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` with x and y swapped."""
        return coords[:, ::-1]


class NoOpTransform(Transform):
    """Leave everything as it is, whatever ``apply_xxx`` is asked."""

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return ``img`` itself."""
        return img

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` themselves."""
        return coords

    def _missing(self, name: str) -> Callable[[Any], Any]:
        return lambda x: x


class PhotometricTransform(Transform):
    """Change pixels by a function; coordinates stay where they are.

    Args:
        func: takes an image, returns one.
        name: shown by repr.
    """

    def __init__(self, func: Callable[[np.ndarray], np.ndarray], name: Any = None) -> None:
        self._func = func
        self._name = name

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return ``func(img)``."""
        return self._func(img)

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` themselves."""
        return coords

    def __repr__(self) -> str:
        return f"imgaug.{type(self).__name__}({'' if self._name is None else self._name})"


class TransformFactory(Transform):
    """A transform made of functions.

    Args:
        name: shown by repr.
        **kwargs: ``apply_image=``, ``apply_coords=`` or any other ``apply_xxx=``.

    Raises:
        KeyError: a keyword that does not begin with ``apply_``.

    Example:
        >>> TransformFactory(apply_image=lambda img: img + 1).apply_image(np.zeros(1))
        array([1.])
    """

    def __init__(self, name: Any = None, **kwargs: Callable[[Any], Any]) -> None:
        for key, func in kwargs.items():
            if not key.startswith("apply_"):
                raise KeyError(say("TransformFactory", expected="keywords named apply_xxx",
                                   received=repr(key),
                                   do="Pass apply_image=, apply_coords=, ..."
                                      + near(key, ["apply_image", "apply_coords"])))
            setattr(self, key, func)
        self._name = name

    def __repr__(self) -> str:
        return f"imgaug.{type(self).__name__}({'' if self._name is None else self._name})"


class TransformList(BaseTransform):
    """Apply transforms one after another.

    Args:
        tfms: a list of transforms.

    Raises:
        TypeError: one of them is none.
    """

    def __init__(self, tfms: Sequence[Any]) -> None:
        for t in tfms:
            if not (isinstance(t, BaseTransform) or hasattr(t, "apply_image")):
                raise TypeError(say("TransformList", expected="a list of Transform",
                                    received=repr(t), do="Pass transforms, not augmentors."))
        self.tfms = tfms

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Return the image that the last transform gives."""
        for t in self.tfms:
            try:
                img = t.apply_image(img)
            except Exception as e:
                name_error(e, t, img)
                raise
        return img

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return the coordinates that the last transform gives."""
        return self._apply(coords, "apply_coords")

    def _apply(self, x: Any, meth: str) -> Any:
        for t in self.tfms:
            x = getattr(t, meth)(x)
        return x

    def __getattr__(self, name: str) -> Any:
        if name.startswith("apply_"):
            return lambda x: self._apply(x, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return "imgaug.TransformList([\n" + ",\n".join(f"  {t!r}" for t in self.tfms) + "])"


class LazyTransform(BaseTransform):
    """A transform that is chosen by the first image it meets, then stays the same.

    A list of augmentors needs it: the second augmentor must see what the first one made.

    Args:
        get_transform: takes an image, returns the transform for it.
    """

    _transform: Any = None

    def __init__(self, get_transform: Callable[[np.ndarray], Any]) -> None:
        self.get_transform = get_transform

    def apply_image(self, img: np.ndarray) -> np.ndarray:
        """Choose the transform if none is chosen yet, and return the transformed image."""
        try:
            if self._transform is None:
                check_image(img, self._augmentor, ranks=())
                self._transform = self.get_transform(img)
            return self._transform.apply_image(img)
        except Exception as e:
            name_error(e, self._augmentor, img)
            raise

    def apply_coords(self, coords: np.ndarray) -> np.ndarray:
        """Return ``coords`` as the chosen transform maps them.

        Raises:
            RuntimeError: no image was transformed yet.
        """
        return self._apply(coords, "apply_coords")

    @property
    def _augmentor(self) -> Any:
        return getattr(self.get_transform, "__self__", self.get_transform)

    def _apply(self, x: Any, meth: str) -> Any:
        if self._transform is None:
            raise RuntimeError(say(
                f"{self._augmentor!r}.{meth}", expected="apply_image to have been called before",
                received="no image yet",
                do="Call apply_image first: the transform is chosen by the image."))
        return getattr(self._transform, meth)(x)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("apply_"):
            return lambda x: self._apply(x, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        if self._transform is not None:
            return repr(self._transform)
        return f"imgaug.LazyTransform(get_transform={self.get_transform!r})"
