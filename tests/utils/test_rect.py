# SPDX-License-Identifier: Apache-2.0
"""Boxes, against NumPy's own slices of a small image."""

from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.utils.rect import FloatBox, IntBox

IMAGE = np.arange(35).reshape(5, 7)


def test_a_box_of_pixels_holds_its_last_one() -> None:
    box = IntBox(1, 2, 3, 4)
    part = box.roi(IMAGE)
    assert part.tolist() == [[15, 16, 17], [22, 23, 24], [29, 30, 31]]
    assert (box.h, box.w) == part.shape and box.area() == part.size
    assert IntBox(0, 0, 6, 4).roi(IMAGE).tolist() == IMAGE.tolist()
    assert np.shares_memory(part, IMAGE)


def test_a_box_around_the_same_pixels_has_the_same_size() -> None:
    box = IntBox(1, 2, 3, 4)
    around = FloatBox.from_intbox(box)
    assert (around.w, around.h, around.area()) == (3., 3., 9.)
    assert around.to_list() == [1., 2., 4., 5.]


def test_clipping_leaves_the_image_s_part() -> None:
    box = IntBox(-3, 3, 90, 90)
    assert not box.is_valid_box(IMAGE.shape)
    box.clip_by_shape(IMAGE.shape)
    assert box.is_valid_box(IMAGE.shape) and box.roi(IMAGE).tolist() == IMAGE[3:].tolist()
    around = FloatBox(-3., 3., 90., 90.)
    around.clip_by_shape(IMAGE.shape)
    assert around.to_list() == [0., 3., 7., 5.]


def test_a_copy_is_another_and_an_empty_one_is_no_box() -> None:
    box = IntBox(1, 1, 2, 2)
    other = box.copy()
    other.x2 = 0
    assert box.x2 == 2 and box.is_box() and not other.is_box()
    assert not FloatBox(1., 1., 1., 5.).is_box()


def test_wrong_corners_and_boxes_outside_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Expected corners that are ints\. Received 1\.5"):
        IntBox(0, 0, 1.5, 2)
    with pytest.raises(TypeError, match="floats"):
        FloatBox(0, 0., 1., 1.)
    with pytest.raises(ValueError, match=r"clip_by_shape"):
        IntBox(0, 0, 7, 2).roi(IMAGE)
    IntBox(np.int64(0), 0, 1, 1)  # NumPy's are ints too
