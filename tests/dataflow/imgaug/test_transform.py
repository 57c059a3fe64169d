# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfqueue_compat.dataflow.imgaug import transform as T

COORDS = np.array([[1.0, 2.0], [3.0, 4.5]])


def marked(h: int, w: int, y: int, x: int) -> np.ndarray:
    img = np.zeros((h, w), np.uint8)
    img[y, x] = 255
    return img


TRANSFORMS = {
    "crop": lambda h, w: T.CropTransform(1, 2, h - 1, w - 2),
    "flip": lambda h, w: T.FlipTransform(h, w),
    "upside_down": lambda h, w: T.FlipTransform(h, w, horiz=False),
    "transpose": lambda h, w: T.TransposeTransform(),
    "double": lambda h, w: T.ResizeTransform(h, w, 2 * h, 3 * w, cv2.INTER_NEAREST),
    "noop": lambda h, w: T.NoOpTransform(),
    "photometric": lambda h, w: T.PhotometricTransform(lambda x: x),
    "list": lambda h, w: T.TransformList([T.FlipTransform(h, w), T.CropTransform(1, 1, 2, 2),
                                          T.TransposeTransform()]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
@settings(max_examples=40, deadline=None)
@given(h=st.integers(3, 12), w=st.integers(3, 12), data=st.data())
def test_coordinates_follow_the_pixel(name: str, h: int, w: int, data: st.DataObject) -> None:
    y, x = data.draw(st.integers(0, h - 1)), data.draw(st.integers(0, w - 1))
    t = TRANSFORMS[name](h, w)
    out = t.apply_image(marked(h, w, y, x))
    [[new_x, new_y]] = t.apply_coords(np.array([[x + 0.5, y + 0.5]]))
    lit = np.argwhere(out == 255)
    if len(lit) == 0:  # cropped away: the coordinates must be outside, too
        assert not (0 <= new_x < out.shape[1] and 0 <= new_y < out.shape[0])
    else:
        (top, left), (bottom, right) = lit.min(axis=0), lit.max(axis=0) + 1
        assert left <= new_x <= right and top <= new_y <= bottom


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_coordinates_by_hand_keep_type_and_input(dtype: str) -> None:
    given_, before = COORDS.astype(dtype), COORDS.astype(dtype)
    for t, want in [(T.CropTransform(1, 2, 5, 6), [[-1, 1], [1, 3.5]]),
                    (T.FlipTransform(10, 20), [[19, 2], [17, 4.5]]),
                    (T.FlipTransform(10, 20, False), [[1, 8], [3, 5.5]]),
                    (T.TransposeTransform(), [[2, 1], [4.5, 3]]),
                    (T.ResizeTransform(10, 20, 20, 10, 1), [[0.5, 4], [1.5, 9]])]:
        out = t.apply_coords(given_)
        assert out.dtype == given_.dtype
        if dtype == "int64":
            want = np.trunc(t.apply_coords(np.floor(COORDS)))
        np.testing.assert_array_equal(out, want)
        np.testing.assert_array_equal(given_, before)


def test_warp_moves_pixels_and_coordinates_by_its_matrix() -> None:
    t = T.WarpAffineTransform(np.array([[1., 0, 2], [0, 1, 1]]), (6, 5))
    out = t.apply_image(marked(5, 6, 1, 2))
    assert np.argwhere(out).tolist() == [[2, 4]]
    assert t.apply_image(marked(5, 6, 1, 2)[:, :, None]).shape == (5, 6, 1)
    np.testing.assert_array_equal(t.apply_coords(np.float32(COORDS)), [[3, 3], [5, 5.5]])


def test_resize_refuses_another_size() -> None:
    with pytest.raises(ValueError, match=r"\(4, 5\).*Received shape \(5, 4, 3\)"):
        T.ResizeTransform(4, 5, 2, 2, 1).apply_image(np.zeros((5, 4, 3), np.uint8))


def test_undefined_methods_say_what_is_missing() -> None:
    t = T.PhotometricTransform(lambda x: x, "mine")
    with pytest.raises(NotImplementedError, match=r"PhotometricTransform\(mine\).*apply_segm"):
        t.apply_segm(3)
    with pytest.raises(NotImplementedError, match="apply_image"):
        T.Transform().apply_image(np.zeros((2, 2)))
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        t.colour
    assert T.NoOpTransform().apply_segm(3) == 3


def test_factory_takes_any_method_and_no_other_word() -> None:
    t = T.TransformFactory("f", apply_image=lambda x: x + 1, apply_segm=lambda x: x * 2)
    assert t.apply_image(1) == 2 and t.apply_segm(3) == 6
    assert repr(t) == "imgaug.TransformFactory(f)"
    with pytest.raises(KeyError, match="apply_coords"):
        T.TransformFactory(coords=len)


def test_list_applies_in_order_and_any_method() -> None:
    add = T.TransformFactory(apply_image=lambda x: x + 1, apply_segm=lambda x: x + [1])
    double = T.TransformFactory(apply_image=lambda x: x * 2, apply_segm=lambda x: x * 2)
    t = T.TransformList([add, double])
    assert t.apply_image(np.array(3)) == 8
    assert t.apply_segm([0]) == [0, 1, 0, 1]
    with pytest.raises(TypeError, match="Received 3"):
        T.TransformList([3])


def test_lazy_is_chosen_once_by_the_first_image() -> None:
    seen = []

    def choose(img: np.ndarray) -> T.Transform:
        seen.append(img.shape)
        return T.CropTransform(0, 0, 1, len(seen))

    t = T.LazyTransform(choose)
    with pytest.raises(RuntimeError, match="apply_image"):
        t.apply_coords(COORDS)
    assert t.apply_image(np.zeros((4, 5))).shape == (1, 1)
    assert t.apply_image(np.zeros((6, 7))).shape == (1, 1)
    assert seen == [(4, 5)]
    np.testing.assert_array_equal(t.apply_coords(COORDS), COORDS)


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(T.FlipTransform(3, 4)) == "imgaug.FlipTransform(h=3, w=4)"
    assert repr(T.FlipTransform(3, 4, False)) == "imgaug.FlipTransform(h=3, w=4, horiz=False)"
