# SPDX-License-Identifier: Apache-2.0
"""Images on one canvas, boxes and text on images. Needs OpenCV."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .canvas import Canvas, as_patches, pad_patches
from .errors import require, say
from .fs import mkdir_p

__all__ = ["draw_boxes", "dump_dataflow_images", "gen_stack_patches", "intensity_to_rgb",
           "interactive_imshow", "stack_patches"]

OnClick = Callable[[Any, int, int], Any]


def _cv2(wanted_by: str) -> Any:
    return require("cv2", "opencv-python-headless", wanted_by)


def interactive_imshow(img: np.ndarray, lclick_cb: OnClick | None = None,
                       rclick_cb: OnClick | None = None, **kwargs: Callable[..., Any]) -> None:
    """Show an image in a window, and wait for a key.

    ``q`` closes the window, ``x`` ends the program, ``s`` writes ``out.png``.

    Args:
        img: BGR image.
        lclick_cb: ``(img, x, y)``, called at a left click.
        rclick_cb: ``(img, x, y)``, called at a right click.
        **kwargs: ``key_cb_a=func``: call ``func(img)`` when ``a`` is pressed.
    """
    cv2 = _cv2("interactive_imshow")
    name = "tfqueue_compat_viz_window"
    cv2.imshow(name, img)

    def on_mouse(event: int, x: int, y: int, *_: Any) -> None:
        if event == cv2.EVENT_LBUTTONUP and lclick_cb is not None:
            lclick_cb(img, x, y)
        elif event == cv2.EVENT_RBUTTONUP and rclick_cb is not None:
            rclick_cb(img, x, y)

    cv2.setMouseCallback(name, on_mouse)
    key = chr(cv2.waitKey(-1) & 0xFF)
    while f"key_cb_{key}" in kwargs:
        kwargs[f"key_cb_{key}"](img)
        key = chr(cv2.waitKey(-1) & 0xFF)
    if key == "q":
        cv2.destroyWindow(name)
    elif key == "x":
        sys.exit()
    elif key == "s":
        cv2.imwrite("out.png", img)


def stack_patches(patch_list: Any, nr_row: int, nr_col: int, border: int | None = None,
                  pad: bool = False, bgcolor: Any = 255, viz: bool = False,
                  lclick_cb: Callable[[Any, int], Any] | None = None) -> np.ndarray:
    """Return images in a grid.

    Args:
        patch_list: images, (n, height, width) or (n, height, width, channel), in [0, 255].
        nr_row: rows of the grid.
        nr_col: its columns; there must be room for all images.
        border: pixels between two images; by default a twentieth of an image's smaller side.
        pad: let images of a list have different shapes, centred on the largest.
        bgcolor: background, an int or a BGR tuple.
        viz: show the grid in a window.
        lclick_cb: ``(image, its number)``, called when one is clicked there.

    Returns:
        One uint8 image, (height, width, 1 or 3).

    Example:
        >>> stack_patches(np.zeros((4, 10, 10)), 2, 2, border=1).shape
        (21, 21, 1)
    """
    patches = as_patches(pad_patches(patch_list, bgcolor) if pad else patch_list)
    if len(patches) > nr_row * nr_col:
        raise ValueError(say("stack_patches", expected=f"at most {nr_row} x {nr_col} images",
                             received=str(len(patches)), do="Use gen_stack_patches, or more rows "
                             "or columns."))
    n, height, width, channel = patches.shape
    if channel == 1 and not isinstance(bgcolor, int):
        channel = 3
        patches = np.repeat(patches, 3, axis=3)
    canvas = Canvas(height, width, nr_row, nr_col, channel, border, bgcolor)
    canvas.draw_patches(list(patches))
    if viz:
        def on_click(img: Any, x: int, y: int) -> None:
            k = canvas.get_patchid_from_coord(x, y)
            if lclick_cb is not None and k < n:
                lclick_cb(patches[k], k)
        interactive_imshow(canvas.canvas, lclick_cb=on_click)
    return canvas.canvas


def gen_stack_patches(patch_list: Any, nr_row: int | None = None, nr_col: int | None = None,
                      border: int | None = None, max_width: int = 1000, max_height: int = 1000,
                      bgcolor: Any = 255, viz: bool = False,
                      lclick_cb: Callable[[Any, int], Any] | None = None
                      ) -> Iterator[np.ndarray]:
    """Yield grids of as many images as fit, until all are shown.

    Args:
        patch_list: as in :func:`stack_patches`.
        nr_row: rows of a grid; by default as many as fit into ``max_height``.
        nr_col: columns; by default as many as fit into ``max_width``.
        border: as in :func:`stack_patches`.
        max_width: pixels, where ``nr_col`` is not given.
        max_height: pixels, where ``nr_row`` is not given.
        bgcolor: as in :func:`stack_patches`.
        viz: as in :func:`stack_patches`.
        lclick_cb: as in :func:`stack_patches`, with the number in ``patch_list``.
    """
    patches = as_patches(patch_list)
    n, height, width = patches.shape[:3]
    gap = int(0.05 * min(height, width)) if border is None else border
    rows = nr_row or max(1, int(max_height / (height + gap)))
    cols = nr_col or max(1, int(max_width / (width + gap)))
    for start in range(0, n, rows * cols):
        part = patches[start:start + rows * cols]
        yield stack_patches(part, rows, cols, border=border, bgcolor=bgcolor, viz=viz,
                            lclick_cb=_shifted(lclick_cb, start))


def _shifted(click: Callable[[Any, int], Any] | None, start: int
             ) -> Callable[[Any, int], Any] | None:
    return None if click is None else lambda img, k: click(img, start + k)


def dump_dataflow_images(df: Any, index: int = 0, batched: bool = True, number: int = 1000,
                         output_dir: str | None = None, scale: float = 1,
                         resize: tuple[int, int] | None = None,
                         viz: tuple[int, int] | None = None, flipRGB: bool = False) -> None:
    """Write the images of a DataFlow to files, or show them.

    Args:
        df: the DataFlow.
        index: the component that is the image.
        batched: it is a batch of images.
        number: how many images to take.
        output_dir: where to write ``0.jpg`` ...; made if missing.
        scale: factor to [0, 255]: 1 or 255.
        resize: (height, width) to resize to.
        viz: (rows, columns) of grids to show.
        flipRGB: swap RGB and BGR.
    """
    cv2 = _cv2("dump_dataflow_images")
    if output_dir is not None:
        mkdir_p(output_dir)
    shown: list[np.ndarray] = []
    for count, img in enumerate(_images(df, index, batched, number)):
        img = np.asarray(img) * scale
        if resize is not None:
            img = cv2.resize(img, tuple(resize[::-1]))
        if flipRGB and img.ndim == 3:
            img = img[..., ::-1]
        if output_dir is not None:
            cv2.imwrite(os.path.join(output_dir, f"{count}.jpg"), img)
        shown.append(img)
        if viz is not None and len(shown) == viz[0] * viz[1]:
            stack_patches(shown, viz[0], viz[1], viz=True)
            shown = []
    if viz is not None and shown:
        stack_patches(shown, viz[0], viz[1], viz=True)


def _images(df: Any, index: int, batched: bool, number: int) -> Iterator[Any]:
    count = 0
    for dp in df:
        for img in dp[index] if batched else [dp[index]]:
            if count == number:
                return
            count += 1
            yield img


def intensity_to_rgb(intensity: np.ndarray, cmap: str = "cubehelix",
                     normalize: bool = False) -> np.ndarray:
    """Return a map of numbers as colours. Needs matplotlib.

    Args:
        intensity: (height, width), in [0, 1] unless normalised.
        cmap: name of a matplotlib colour map.
        normalize: divide by the largest number first.

    Returns:
        (height, width, 3) float32 in [0, 255], RGB.
    """
    matplotlib = require("matplotlib", "matplotlib", "intensity_to_rgb")
    values = np.asarray(intensity).astype("float32")
    if values.ndim != 2:
        raise ValueError(say("intensity_to_rgb", expected="an array of (height, width)",
                             received=f"the shape {values.shape}", do="Pass one map."))
    if normalize:
        values = values / values.max()
    colours = matplotlib.colormaps[cmap](values)[:, :, :3]
    rgb: np.ndarray = colours.astype("float32") * 255
    return rgb


def draw_text(img: np.ndarray, pos: Sequence[float], text: str, color: Sequence[int],
              font_scale: float = 0.4) -> np.ndarray:
    """Return a copy of an image with text on a filled box.

    Args:
        img: uint8 BGR image.
        pos: (x, y) of the text's lower left corner.
        text: the text.
        color: BGR colour of the box, in [0, 255].
        font_scale: OpenCV's size of the letters.
    """
    cv2 = _cv2("draw_text")
    out: np.ndarray = img.astype(np.uint8)
    x, y = int(pos[0]), int(pos[1])
    font = cv2.FONT_HERSHEY_SIMPLEX
    (width, height), _ = cv2.getTextSize(text, font, font_scale, 1)
    x = min(x, out.shape[1] - width)  # not out of the image
    y = max(y, int(1.15 * height))
    box = (x, y - int(1.3 * height)), (x + width, y)
    cv2.rectangle(out, *box, tuple(color), cv2.FILLED)
    cv2.putText(out, text, (x, y - int(0.25 * height)), font, font_scale, (222, 222, 222),
                lineType=cv2.LINE_AA)
    return out


def draw_boxes(im: np.ndarray, boxes: np.ndarray, labels: Sequence[str] | None = None,
               color: Sequence[int] | None = None) -> np.ndarray:
    """Return a copy of an image with boxes, and their labels, drawn on it.

    Args:
        im: BGR image in [0, 255].
        boxes: (n, 4), rows of x1, y1, x2, y2.
        labels: one text for each box.
        color: BGR colour in [0, 255]; by default green.
    """
    cv2 = _cv2("draw_boxes")
    corners = np.asarray(boxes, dtype="int32").reshape(-1, 4)
    if labels is not None and len(labels) != len(corners):
        raise ValueError(say("draw_boxes", expected=f"a label for each of {len(corners)} boxes",
                             received=str(len(labels)), do="Pass as many."))
    _check_inside(corners, im.shape)
    sizes = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])
    out: np.ndarray = np.array(im)
    if out.ndim == 2 or out.shape[2] == 1:
        out = cv2.cvtColor(out, cv2.COLOR_GRAY2BGR)
    paint = (15, 128, 15) if color is None else tuple(int(c) for c in color)
    for k in np.argsort(-sizes, kind="stable"):  # small boxes on top of large ones
        x1, y1, x2, y2 = (int(v) for v in corners[k])
        if labels is not None:
            out = draw_text(out, (x1, y1), labels[k], color=paint)
        cv2.rectangle(out, (x1, y1), (x2, y2), color=paint, thickness=1)
    return out


def _check_inside(boxes: np.ndarray, shape: tuple[int, ...]) -> None:
    if len(boxes) == 0:
        return
    inside = boxes.min() >= 0 and boxes[:, 2].max() <= shape[1] and boxes[:, 3].max() <= shape[0]
    ordered = (boxes[:, 0] <= boxes[:, 2]).all() and (boxes[:, 1] <= boxes[:, 3]).all()
    if not (inside and ordered):
        raise ValueError(say("draw_boxes", expected="boxes x1, y1, x2, y2 within the image of "
                             f"{shape[1]} x {shape[0]}", received=str(boxes.tolist())[:200],
                             do="Clip them."))
