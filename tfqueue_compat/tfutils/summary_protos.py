# SPDX-License-Identifier: Apache-2.0
"""Summaries made of numbers and pictures, without a graph: what monitors write."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from ..utils.errors import say
from .png import encode_png

__all__ = ["create_image_summary", "create_scalar_summary"]

v1 = tf.compat.v1


def create_scalar_summary(name: str, v: float) -> Any:
    """Return a ``tf.Summary`` with one number.

    Args:
        name: the tag.
        v: the number.

    Example:
        >>> create_scalar_summary("loss", 0.5).value[0].simple_value
        0.5
    """
    return v1.Summary(value=[v1.Summary.Value(tag=name, simple_value=float(v))])


def create_image_summary(name: str, val: np.ndarray) -> Any:
    """Return a ``tf.Summary`` with one or more images, as PNG.

    Args:
        name: the tag; several images get ``name/0``, ``name/1``, ...
        val: (height, width, channel) or (batch, height, width, channel), with 1, 3 (RGB) or 4
            channels, values in 0-255.

    Raises:
        ValueError: for another shape.

    Example:
        >>> create_image_summary("a", np.zeros([2, 8, 8, 3])).value[1].tag
        'a/1'
    """
    images = np.asarray(val)
    if images.ndim == 3:
        images = images[None]
    if images.ndim != 4 or images.shape[-1] not in (1, 3, 4):
        raise ValueError(say(f"image summary {name!r}",
                             expected="(batch, height, width, channel) with 1, 3 or 4 channels",
                             received=f"shape {np.asarray(val).shape}",
                             do="Transpose or reshape the array."))
    summary = v1.Summary()
    for k, image in enumerate(np.clip(images, 0, 255).astype(np.uint8)):
        height, width, channels = image.shape
        summary.value.add(
            tag=name if len(images) == 1 else f"{name}/{k}",
            image=v1.Summary.Image(height=height, width=width, colorspace=channels,
                                   encoded_image_string=encode_png(image)))
    return summary
