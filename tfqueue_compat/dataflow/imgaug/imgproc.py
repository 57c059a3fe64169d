# SPDX-License-Identifier: Apache-2.0
"""Augmentors of brightness, contrast, colour, blur and range.

Unless said otherwise the result has the image's own type; with ``clip`` (and always for uint8) it
is clipped to [0, 255] first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...utils.errors import say
from ._help import keep_channel, opencv
from .base import PhotometricAugmentor

__all__ = ["Hue", "Brightness", "BrightnessScale", "Contrast", "MeanVarianceNormalize",
           "GaussianBlur", "Gamma", "Clip", "Saturation", "Lighting", "MinMaxNormalize"]


def _back(out: np.ndarray, like: np.ndarray, clip: bool) -> np.ndarray:
    """Clip a float result of our own in place and convert it to the image's type."""
    if clip or like.dtype == np.uint8:
        np.clip(out, 0, 255, out=out)
    return out.astype(like.dtype, copy=False)


def _pointwise(img: np.ndarray, func: Callable[[np.ndarray], np.ndarray],
               clip: bool, keep64: bool = False) -> np.ndarray:
    """Apply ``func`` to each value, as float32 (where ``keep64``, float64 stays).

    Args:
        func: elementwise; it may treat the last axis as channels.
        clip: see this file's first lines.
    """
    if img.dtype != np.uint8 or img.size == 0:
        wide = img if keep64 and img.dtype == np.float64 else img.astype("float32")
        return _back(func(wide), img, clip)
    # 256 values instead of millions, and the same arithmetic for each
    table = func(np.arange(256, dtype="float32")[:, np.newaxis])
    return _look_up(img, _back(table, img, clip))


def _look_up(img: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return ``table[img]``, or for a table of (256, c) each channel by its column."""
    try:
        cv2 = opencv("LUT")
    except ImportError:
        channel = np.arange(table.shape[1]) if table.shape[1] > 1 else 0
        return table[img, channel]
    out = cv2.LUT(img, np.ascontiguousarray(table[np.newaxis]))
    return keep_channel(out, img)


def _channel_means(img: np.ndarray) -> np.ndarray:
    """Return the mean of each channel, (c,)."""
    if img.dtype == np.uint8 and img.ndim == 3 and img.shape[2] <= 4:
        try:  # sums of bytes are exact, so this is NumPy's mean, only quicker
            total = opencv("mean").sumElems(img)
        except ImportError:
            pass
        else:
            return np.array(total[:img.shape[2]]) / (img.shape[0] * img.shape[1])
    return np.mean(img, axis=(0, 1)).reshape(-1)


def _gray(img: np.ndarray, rgb: bool | None, wanted_by: Any) -> np.ndarray:
    """Return (h, w); ``rgb=False`` means BGR."""
    cv2 = opencv(type(wanted_by).__name__)
    return cv2.cvtColor(img, cv2.COLOR_RGB2GRAY if rgb else cv2.COLOR_BGR2GRAY)


def _check_colour(img: np.ndarray, augmentor: Any, channels: tuple[int, ...] = (3, 4)) -> None:
    if img.ndim != 3 or img.shape[2] not in channels:
        raise ValueError(say(repr(augmentor), expected="a colour image of shape (h, w, 3)",
                             received=f"shape {img.shape}, dtype {img.dtype}",
                             do="Leave it out for gray images, or convert them first."))


class Hue(PhotometricAugmentor):
    """Turn the hue.

    Args:
        range: (low, high) of the turn in units of 2 degrees; [-90, 90] is the whole circle, for
            uint8 and for float32 images alike.
        rgb: the image is RGB; otherwise BGR.
    """

    def __init__(self, range: Sequence[float] = (0, 180), rgb: bool | None = True) -> None:
        super().__init__()
        rgb = bool(rgb)
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return self._rand_range(*self.range)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        _check_colour(img, self)
        cv2 = opencv("Hue")
        there, back = ((cv2.COLOR_RGB2HSV, cv2.COLOR_HSV2RGB) if self.rgb
                       else (cv2.COLOR_BGR2HSV, cv2.COLOR_HSV2BGR))
        hsv = cv2.cvtColor(img, there)
        if hsv.dtype.itemsize == 1:  # OpenCV keeps hue in [0, 180) for bytes, else in [0, 360)
            hsv[..., 0] = (hsv[..., 0] + params) % 180
        else:
            hsv[..., 0] = (hsv[..., 0] + 2 * params) % 360
        return cv2.cvtColor(hsv, back)


class Brightness(PhotometricAugmentor):
    """Add a random number.

    Args:
        delta: its largest size, to either side.
        clip: see this file's first lines.
    """

    def __init__(self, delta: float, clip: bool = True) -> None:
        if not delta > 0:
            raise ValueError(say("Brightness(delta=)", expected="a positive number",
                                 received=repr(delta), do="Pass the largest change, e.g. 63."))
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return self._rand_range(-self.delta, self.delta)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        return _pointwise(img, lambda x: x + params, self.clip)


class BrightnessScale(PhotometricAugmentor):
    """Multiply by a random number.

    Args:
        range: (low, high) of it.
        clip: see this file's first lines.
    """

    def __init__(self, range: tuple[float, float], clip: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return self._rand_range(*self.range)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        return _pointwise(img, lambda x: x * params, self.clip)


class Contrast(PhotometricAugmentor):
    """Scale the distance to the mean: ``(x - mean) * factor + mean``.

    Args:
        factor_range: (low, high) of the factor.
        rgb: None takes each channel's mean; otherwise the mean of the gray image, from RGB (True)
            or BGR (False).
        clip: see this file's first lines.
    """

    def __init__(self, factor_range: Sequence[float], rgb: bool | None = None,
                 clip: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return self._rand_range(*self.factor_range)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        if self.rgb is not None and img.ndim == 3 and img.shape[2] != 1:
            mean = np.mean(_gray(img.astype("float32"), self.rgb, self))
        else:
            mean = _channel_means(img)
        return _pointwise(img, lambda x: x * params + mean * (1 - params), self.clip, keep64=True)


class MeanVarianceNormalize(PhotometricAugmentor):
    """Scale to mean 0 and deviation 1, as float32.

    The deviation counts as at least 1 / sqrt(number of values), so that a flat image stays finite.

    Args:
        all_channel: one mean and deviation for all channels; otherwise for each its own.
    """

    def __init__(self, all_channel: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        img = img.astype("float32")
        axis = None if self.all_channel else (0, 1)
        mean = np.mean(img, axis=axis, keepdims=True)
        std = np.std(img, axis=axis, keepdims=True)
        return (img - mean) / np.maximum(std, np.float32(1.0 / np.sqrt(img.size)))


class GaussianBlur(PhotometricAugmentor):
    """Blur with a Gaussian of random size.

    Args:
        size_range: the window is 2 * size + 1 pixels, with size drawn from [low, high).
        sigma_range: (low, high) of the deviation; 0 lets OpenCV choose it by the window.
        symmetric: equal size and deviation along x and y.
        max_size: older way to say ``size_range=(0, max_size)``.
    """

    def __init__(self, size_range: tuple[int, int] = (0, 3),
                 sigma_range: tuple[float, float] = (0, 0), symmetric: bool = True,
                 max_size: int | None = None) -> None:
        if isinstance(size_range, (int, np.integer)):  # tensorpack before 0.8: GaussianBlur(3)
            size_range = (0, int(size_range))
        if max_size is not None:
            size_range = (0, max_size)
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        size_xy = self.rng.randint(self.size_range[0], self.size_range[1], size=(2,)) * 2 + 1
        sigma_xy = self._rand_range(self.sigma_range[0], self.sigma_range[1], (2,))
        if self.symmetric:
            size_xy[1], sigma_xy[1] = size_xy[0], sigma_xy[0]
        return tuple(int(x) for x in size_xy), tuple(float(x) for x in sigma_xy)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        cv2 = opencv("GaussianBlur")
        size, (sigma_x, sigma_y) = params
        out = cv2.GaussianBlur(img, size, sigmaX=sigma_x, sigmaY=sigma_y,
                               borderType=cv2.BORDER_REPLICATE)
        return keep_channel(out, img)


class Gamma(PhotometricAugmentor):
    """Raise to the power 1 / (1 + gamma), by a table of 256 values.

    Floating point images are rounded to whole numbers on the way.

    Args:
        range: (low, high) of gamma; negative darkens.
    """

    def __init__(self, range: Sequence[float] = (-0.5, 0.5)) -> None:
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return self._rand_range(*self.range)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        table = (np.arange(256, dtype="float32") / 255) ** (1. / (1. + params)) * 255
        whole = np.clip(img, 0, 255).astype("uint8", copy=False)
        out = _look_up(whole, table.astype("uint8")[:, np.newaxis])
        return out.astype(img.dtype, copy=False)


class Clip(PhotometricAugmentor):
    """Clip to [min, max].

    Args:
        min, max: the range.
    """

    def __init__(self, min: float = 0, max: float = 255) -> None:
        super().__init__()
        self._init(locals())

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        return np.clip(img, self.min, self.max)


class Saturation(PhotometricAugmentor):
    """Mix with the gray image: ``x * v + gray * (1 - v)`` (as fb.resnet.torch does).

    Args:
        alpha: v is drawn from [1 - alpha, 1 + alpha]; below 1.
        rgb: the image is RGB; otherwise BGR.
        clip: see this file's first lines.
    """

    def __init__(self, alpha: float = 0.4, rgb: bool | None = True, clip: bool = True) -> None:
        if not alpha < 1:
            raise ValueError(say("Saturation(alpha=)", expected="a number below 1",
                                 received=repr(alpha), do="Pass e.g. 0.4."))
        super().__init__()
        rgb = bool(rgb)
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        return 1 + self._rand_range(-self.alpha, self.alpha)

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        _check_colour(img, self)
        gray = _gray(img, self.rgb, self)
        out = img.astype("float32")
        out *= params
        out += (gray * (1 - params))[:, :, np.newaxis]
        return _back(out, img, self.clip)


class Lighting(PhotometricAugmentor):
    """Add noise along the colours' principal axes (Krizhevsky et al., 2012, section 4.1).

    Args:
        std: deviation of the three random weights.
        eigval: shape (3,), the eigenvalues.
        eigvec: shape (3, 3), each column an eigenvector.
        clip: see this file's first lines.
    """

    def __init__(self, std: float, eigval: Any, eigvec: Any, clip: bool = True) -> None:
        eigval = np.asarray(eigval, dtype="float32")
        eigvec = np.asarray(eigvec, dtype="float32")
        if eigval.shape != (3,) or eigvec.shape != (3, 3):
            raise ValueError(say("Lighting", expected="eigval of shape (3,), eigvec of (3, 3)",
                                 received=f"{eigval.shape} and {eigvec.shape}",
                                 do="Pass eigenvectors as columns."))
        super().__init__()
        self._init(locals())

    def _get_augment_params(self, img: Any) -> Any:
        _check_colour(img, self, (3,))
        return (self.rng.randn(3) * self.std).astype("float32")

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        shift = self.eigvec @ (params * self.eigval)
        return _pointwise(img, lambda x: x + shift, self.clip, keep64=True)


class MinMaxNormalize(PhotometricAugmentor):
    """Scale to [min, max], as float32. A flat image becomes ``min``.

    Args:
        min, max: the new range.
        all_channel: one range for all channels; otherwise for each its own.
    """

    def __init__(self, min: float = 0, max: float = 255, all_channel: bool = True) -> None:
        super().__init__()
        self._init(locals())

    def _augment(self, img: np.ndarray, params: Any) -> np.ndarray:
        img = img.astype("float32")
        axis = None if self.all_channel else (0, 1)
        low = np.min(img, axis=axis, keepdims=True)
        high = np.max(img, axis=axis, keepdims=True)
        span = np.where(high > low, high - low, np.float32(1))
        return (self.max - self.min) * (img - low) / span + self.min
