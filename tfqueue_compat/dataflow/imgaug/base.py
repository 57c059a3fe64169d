# SPDX-License-Identifier: Apache-2.0
"""Augmentors: the random policies that choose a transform for an image."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...utils.errors import say
from ...utils.utils import get_rng
from ._help import check_image, describe, hold, name_error
from .transform import (
    LazyTransform, PhotometricTransform, Transform, TransformFactory, TransformList)

__all__ = ["Augmentor", "ImageAugmentor", "AugmentorList", "PhotometricAugmentor"]


class ImagePlaceholder(NamedTuple):
    """Stands for an image of which only the shape is known, where that is enough."""

    shape: tuple[int, ...]


class _From:
    """Names a transform after its augmentor; the text is made only when somebody asks."""

    def __init__(self, prefix: str, augmentor: Any) -> None:
        self.prefix, self.augmentor = prefix, augmentor

    def __str__(self) -> str:
        return f"{self.prefix}{self.augmentor!r}"


class ImageAugmentor:
    """Base of all augmentors.

    A subclass defines ``get_transform(img)``, takes its random decisions there with ``self.rng``,
    and returns a deterministic :class:`Transform`. Images are (h, w) or (h, w, c), uint8 in
    [0, 255] or floating point in [0, 1] or [0, 255].

    The protocol of tensorpack before 0.10 works as well: ``_get_augment_params(img)`` decides,
    ``_augment(img, params)`` applies, ``_augment_coords(coords, params)`` applies to coordinates
    (which otherwise stay as they are). Where the params are a Transform, they are applied.

    Attributes:
        rng: a ``numpy.random.RandomState``, the augmentor's own; a new one after
            ``reset_state()`` and in a forked process.

    Example:
        >>> class CropCorner(ImageAugmentor):
        ...     def __init__(self, size):
        ...         super().__init__()
        ...         self._init(locals())
        ...     def get_transform(self, img):
        ...         from tfqueue_compat.dataflow.imgaug import CropTransform
        ...         return CropTransform(0, 0, self.size, self.size)
        >>> CropCorner(2).augment(np.zeros((5, 5))).shape
        (2, 2)
    """

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            """What ``_init(locals())`` sets."""

    def __init__(self) -> None:
        self.reset_state()

    def _init(self, params: dict[str, Any] | None = None) -> None:
        """Keep the constructor's ``locals()`` as attributes."""
        hold(self, params)

    @property
    def rng(self) -> Any:
        state = self.__dict__
        if state.get("_rng") is None or state.get("_rng_pid", os.getpid()) != os.getpid():
            self._new_rng()
        return state["_rng"]

    @rng.setter
    def rng(self, value: Any) -> None:
        self.__dict__["_rng"] = value
        self.__dict__.pop("_rng_pid", None)  # the user's own generator survives a fork

    def _new_rng(self) -> None:
        self.__dict__["_rng"] = get_rng(self)
        self.__dict__["_rng_pid"] = os.getpid()

    def reset_state(self) -> None:
        """Take a new random generator. Needed by nobody, harmless at any time."""
        self._new_rng()

    def _rand_range(self, low: float = 1.0, high: float | None = None,
                    size: Any = None) -> Any:
        """Draw uniformly from [low, high), or [0, low) without ``high``, as float32."""
        if high is None:
            low, high = 0, low
        return self.rng.uniform(low, high, [] if size is None else size).astype("float32")

    def get_transform(self, img: np.ndarray) -> Any:
        """Decide what to do with ``img``.

        Args:
            img: (h, w) or (h, w, c); it is not changed.

        Returns:
            A transform, for this image and whatever belongs to it.

        Raises:
            NotImplementedError: the subclass defines neither protocol.
        """
        cls = type(self)
        params = self._get_augment_params(img)
        own_image = cls._augment is not ImageAugmentor._augment
        own_coords = (cls._augment_coords is not ImageAugmentor._augment_coords
                      or hasattr(cls, "_fprop_coord"))
        is_transform = hasattr(params, "apply_image")
        if is_transform and not (own_image or own_coords):
            return params
        if not own_image and not is_transform:
            raise NotImplementedError(say(
                cls.__name__, expected="an augmentor with get_transform(img)",
                received="one without it, and without the older _augment(img, params)",
                do="Define get_transform(img) and return a Transform from it."))
        return TransformFactory(
            name=_From("LegacyConversion -- ", self),
            apply_image=lambda img: self._augment(img, params),
            apply_coords=lambda coords: self._augment_coords(coords, params))

    def _get_augment_params(self, img: np.ndarray) -> Any:
        """Older protocol: decide. Nothing to decide unless a subclass says so."""
        return None

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        """Older protocol: apply the decision to an image."""
        return params.apply_image(img)

    def _augment_coords(self, coords: np.ndarray, params: Any) -> np.ndarray:
        """Older protocol: apply the decision to coordinates."""
        older = getattr(self, "_fprop_coord", None)
        if older is not None:
            return older(coords, params)
        return params.apply_coords(coords) if hasattr(params, "apply_image") else coords

    def augment(self, img: np.ndarray) -> np.ndarray:
        """Return ``img`` augmented.

        Args:
            img: (h, w) or (h, w, c). The built-in augmentors do not change it, but may return a
                view of it.

        Raises:
            TypeError: ``img`` is not a NumPy array of real numbers.
        """
        return self.augment_return_params(img)[0]

    def augment_return_params(self, d: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return ``d`` augmented, and the transform that did it."""
        check_image(d, self, ranks=())
        try:
            transform = self.get_transform(d)
            return transform.apply_image(d), transform
        except Exception as e:
            name_error(e, self, d)
            raise

    def augment_with_params(self, d: np.ndarray, param: Any) -> np.ndarray:
        """Return ``d`` transformed as ``param`` of :meth:`augment_return_params` says."""
        return param.apply_image(d) if hasattr(param, "apply_image") else self._augment(d, param)

    def augment_coords(self, coords: np.ndarray, param: Any) -> np.ndarray:
        """Return ``coords`` transformed as ``param`` of :meth:`augment_return_params` says."""
        return (param.apply_coords(coords) if hasattr(param, "apply_coords")
                else self._augment_coords(coords, param))

    def __repr__(self) -> str:
        return describe(self)


Augmentor = ImageAugmentor


class AugmentorList(ImageAugmentor):
    """Apply augmentors one after another.

    Args:
        augmentors: a list of :class:`ImageAugmentor`.

    Raises:
        TypeError: not a list of augmentors.

    Example:
        >>> from tfqueue_compat.dataflow import imgaug
        >>> augs = AugmentorList([imgaug.Flip(horiz=True), imgaug.CenterCrop(2)])
        >>> augs.augment(np.zeros((4, 4, 3), np.uint8)).shape
        (2, 2, 3)
    """

    def __init__(self, augmentors: Sequence[ImageAugmentor]) -> None:
        self.augmentors = check_augmentors(augmentors, "AugmentorList")
        super().__init__()

    def reset_state(self) -> None:
        """Give the list and each of its augmentors a new random generator."""
        super().reset_state()
        for a in getattr(self, "augmentors", ()):  # a subclass may reset before it has them
            a.reset_state()

    def get_transform(self, img: np.ndarray) -> TransformList:
        """Return a list of transforms; each but the first is chosen when the image reaches it.

        Raises:
            TypeError, ValueError: ``img`` is no image.
        """
        check_image(img, self)
        tfms: list[Any] = []
        for a in self.augmentors:
            if tfms:
                tfms.append(LazyTransform(a.get_transform))
                continue
            try:
                tfms.append(a.get_transform(img))
            except Exception as e:
                name_error(e, a, img)
                raise
        return TransformList(tfms)

    def __repr__(self) -> str:
        return "imgaug.AugmentorList([\n" + ",\n".join(f"  {a!r}" for a in self.augmentors) + "])"


class PhotometricAugmentor(ImageAugmentor):
    """Base of augmentors that change pixels and leave coordinates alone.

    A subclass defines ``_augment(img, params)`` and, if it is random,
    ``_get_augment_params(img)``.
    """

    def get_transform(self, img: np.ndarray) -> Transform:
        """Draw the parameters and return the transform that uses them."""
        params = self._get_augment_params(img)
        return PhotometricTransform(
            func=lambda img: self._augment(img, params), name=_From("from ", self))

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        raise NotImplementedError(say(
            type(self).__name__, expected="a subclass that defines _augment(img, params)",
            received="one without", do="Define it and return the new image."))


def check_augmentors(augmentors: Any, subject: str) -> Sequence[Any]:
    """Return ``augmentors`` if it is a list of things with ``get_transform``.

    Raises:
        TypeError: it is not; the text names the first that does not fit.
    """
    if not isinstance(augmentors, (list, tuple)):
        raise TypeError(say(subject, expected="a list of ImageAugmentor",
                            received=repr(augmentors), do="Put the augmentors into a list."))
    for i, a in enumerate(augmentors):
        if isinstance(a, type) or not hasattr(a, "get_transform"):
            raise TypeError(say(
                f"{subject}, number {i}", expected="an ImageAugmentor", received=repr(a),
                do="Pass an instance, e.g. imgaug.Flip(horiz=True); wrap functions in MapImage."))
    return augmentors
