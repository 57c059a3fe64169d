# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.contrib.image``: projective transforms of batches of images."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..gone import missing_in

__all__ = ["angles_to_projective_transforms", "compose_transforms", "rotate", "transform",
           "translate"]


def _batched(images: Any) -> tuple[Any, int]:
    images = tf.convert_to_tensor(images)
    rank = images.shape.rank
    if rank == 2:
        return images[tf.newaxis, :, :, tf.newaxis], rank
    return (images[tf.newaxis] if rank == 3 else images), rank


def transform(images: Any, transforms: Any, interpolation: str = "NEAREST",
              output_shape: Any = None, name: str | None = None) -> Any:
    """Sample images at projectively transformed points; outside is 0.

    Args:
        images: (batch, height, width, channel), (height, width, channel) or (height, width).
        transforms: (8,) or (batch, 8): [a0, a1, a2, b0, b1, b2, c0, c1]. The output at (x, y)
            comes from ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.
        interpolation: NEAREST or BILINEAR.
        output_shape: (height, width); by default the input's.
    """
    with tf.name_scope(name or "transform"):
        batch, rank = _batched(images)
        transforms = tf.convert_to_tensor(transforms, tf.float32)
        if transforms.shape.rank == 1:
            transforms = transforms[tf.newaxis]
        size = tf.shape(batch)[1:3] if output_shape is None else tf.cast(output_shape, tf.int32)
        out = tf.raw_ops.ImageProjectiveTransformV3(
            images=batch, transforms=transforms, output_shape=size, fill_value=0.0,
            interpolation=interpolation.upper(), fill_mode="CONSTANT")
        if output_shape is None:
            out.set_shape(batch.shape)
        return out if rank == 4 else out[0] if rank == 3 else out[0, :, :, 0]


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST",
           name: str | None = None) -> Any:
    """Rotate images counterclockwise about their centres.

    Args:
        images: as in ``transform``.
        angles: radians, one or one an image.
    """
    with tf.name_scope(name or "rotate"):
        shape = tf.cast(tf.shape(_batched(images)[0]), tf.float32)
        return transform(images, angles_to_projective_transforms(angles, shape[1], shape[2]),
                         interpolation)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST",
              name: str | None = None) -> Any:
    """Move images by ``translations``: pixels (dx, dy) to the right and down, one or one each."""
    with tf.name_scope(name or "translate"):
        moves = tf.convert_to_tensor(translations, tf.float32)
        moves = moves[tf.newaxis] if moves.shape.rank == 1 else moves
        one, zero = tf.ones_like(moves[:, 0]), tf.zeros_like(moves[:, 0])
        return transform(images, tf.stack(
            [one, zero, -moves[:, 0], zero, one, -moves[:, 1], zero, zero], axis=1),
            interpolation)


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any,
                                    name: str | None = None) -> Any:
    """Return (batch, 8) transforms that rotate by ``angles`` (radians) about the centre."""
    with tf.name_scope(name or "angles_to_projective_transforms"):
        angles = tf.reshape(tf.convert_to_tensor(angles, tf.float32), [-1])
        cos, sin, zero = tf.cos(angles), tf.sin(angles), tf.zeros_like(angles)
        w = tf.cast(image_width, tf.float32) - 1
        h = tf.cast(image_height, tf.float32) - 1
        x = (w - (cos * w - sin * h)) / 2
        y = (h - (sin * w + cos * h)) / 2
        return tf.stack([cos, -sin, x, sin, cos, y, zero, zero], axis=1)


def compose_transforms(*transforms: Any) -> Any:
    """Return the transform that applies the given ones from left to right."""
    def matrices(t: Any) -> Any:
        t = tf.convert_to_tensor(t, tf.float32)
        t = t[tf.newaxis] if t.shape.rank == 1 else t
        return tf.reshape(tf.concat([t, tf.ones_like(t[:, :1])], 1), [-1, 3, 3])

    whole = matrices(transforms[0])
    for t in transforms[1:]:
        whole = tf.matmul(whole, matrices(t))
    flat = tf.reshape(whole / whole[:, 2:, 2:], [-1, 9])
    return flat[:, :8]


__getattr__ = missing_in("image", __all__)
