# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from tfqueue_compat.dataflow import DataFromList
from tfqueue_compat.utils import viz
from tfqueue_compat.utils.canvas import Canvas

cv2 = pytest.importorskip("cv2")
PATCHES = np.arange(5 * 20 * 30 * 3, dtype="uint8").reshape(5, 20, 30, 3)


def test_stack_patches():
    got = viz.stack_patches(PATCHES, 2, 3, bgcolor=(1, 2, 3))
    assert got.shape == (41, 92, 3) and got.dtype == np.uint8  # a border of 5 % of 20
    np.testing.assert_array_equal(got[:20, :30], PATCHES[0])
    np.testing.assert_array_equal(got[21:, 31:61], PATCHES[4])
    assert got[20, 0].tolist() == got[30, 80].tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="2 x 2"):
        viz.stack_patches(PATCHES, 2, 2)
    with pytest.raises(ValueError, match="pad=True"):
        viz.stack_patches(PATCHES[..., :2], 3, 3)


def test_padding():
    small, large = np.full((2, 2, 3), 9, "uint8"), np.full((4, 6, 3), 7, "uint8")
    got = viz.stack_patches([small, large], 1, 2, border=0, pad=True, bgcolor=0)
    assert got.shape == (4, 12, 3)
    np.testing.assert_array_equal(got[1:3, 2:4], small)
    assert got[:, :6].sum() == small.sum()


def test_gen_stack_patches():
    grids = list(viz.gen_stack_patches(PATCHES, max_width=60, max_height=45))
    assert [g.shape for g in grids] == [(41, 30, 3)] * 3
    np.testing.assert_array_equal(grids[0][:20], PATCHES[0])
    np.testing.assert_array_equal(grids[2][:20], PATCHES[4])


def test_canvas_coordinates():
    canvas = Canvas(20, 30, 2, 3, 3, border=2, bgcolor=0)
    assert canvas.get_patchid_from_coord(0, 0) == 0
    assert canvas.get_patchid_from_coord(65, 25) == 5


def test_boxes_and_text():
    image = np.zeros((60, 80, 3), "uint8")
    got = viz.draw_boxes(image, [[10, 10, 40, 50]], color=(1, 2, 3))
    assert image.sum() == 0 and got[30, 10].tolist() == [1, 2, 3] and got[30, 30].sum() == 0
    assert viz.draw_boxes(image[..., 0], [[10, 10, 40, 50]], ["x"]).shape == (60, 80, 3)
    assert viz.draw_text(image, (75, 3), "text", (9, 9, 9)).max() > 9
    with pytest.raises(ValueError, match="80 x 60"):
        viz.draw_boxes(image, [[10, 10, 90, 50]])
    with pytest.raises(ValueError, match="label"):
        viz.draw_boxes(image, [[10, 10, 40, 50]], ["a", "b"])


def test_dump_images(tmp_path):
    ds = DataFromList([[PATCHES], [PATCHES]], shuffle=False)
    viz.dump_dataflow_images(ds, number=7, output_dir=str(tmp_path), resize=(10, 15))
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{k}.jpg" for k in range(7)]
    assert cv2.imread(str(tmp_path / "0.jpg")).shape == (10, 15, 3)


def test_intensity():
    pytest.importorskip("matplotlib")
    got = viz.intensity_to_rgb(np.array([[0, 2], [1, 0.5]]), cmap="gray", normalize=True)
    assert got.shape == (2, 2, 3) and got.dtype == np.float32
    np.testing.assert_allclose(got[:, :, 0], [[0, 255], [127.5, 63.75]], atol=1)
    with pytest.raises(ValueError, match="height, width"):
        viz.intensity_to_rgb(np.zeros(3))
