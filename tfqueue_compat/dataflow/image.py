# SPDX-License-Identifier: Apache-2.0
"""Images from files, and augmentors applied to datapoints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..utils import logger
from ..utils.errors import require, say
from .base import RNGDataFlow
from .imgaug._help import check_image, hw_pair
from .imgaug.base import AugmentorList, check_augmentors
from .mapping import MapData, MapDataComponent

__all__ = ["ImageFromFile", "AugmentImageComponent", "AugmentImageCoordinates",
           "AugmentImageComponents"]

Index = int | str


def check_dtype(img: Any) -> None:
    """Refuse what no augmentor takes.

    Raises:
        TypeError: ``img`` is not a NumPy array of real numbers.
        ValueError: its shape is neither (h, w) nor (h, w, c).
    """
    check_image(img, _Named("Augmentor"))


def validate_coords(coords: Any) -> None:
    """Refuse what is not an array of coordinates.

    Raises:
        TypeError: ``coords`` is not a NumPy array of floating point.
        ValueError: its shape is not (n, 2).
    """
    if not isinstance(coords, np.ndarray) or coords.dtype.kind != "f":
        raise TypeError(say(
            "Coordinates", expected="a floating point numpy array",
            received=getattr(coords, "dtype", type(coords).__name__),
            do="Convert them, e.g. np.asarray(coords, dtype='float32')."))
    if coords.ndim != 2 or coords.shape[1] != 2:
        raise ValueError(say("Coordinates", expected="shape (n, 2), each row (x, y)",
                             received=f"{coords.shape}", do="Reshape them."))


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class ExceptionHandler:
    """Lets exceptions through, or counts and logs them.

    Args:
        catch_exceptions: log the first nine and every hundredth, and go on.
    """

    def __init__(self, catch_exceptions: bool = False) -> None:
        self._nr_error = 0
        self.catch_exceptions = catch_exceptions

    @contextmanager
    def catch(self) -> Iterator[None]:
        """Return a context in which exceptions are handled so."""
        try:
            yield
        except Exception:
            self._nr_error += 1
            if not self.catch_exceptions:
                raise
            if self._nr_error < 10 or self._nr_error % 100 == 0:
                logger.exception("Got %d augmentation errors.", self._nr_error)


class ImageFromFile(RNGDataFlow):
    """Read images; each datapoint is [image], of shape (h, w, channel), uint8.

    Args:
        files: paths.
        channel: 3 for RGB, 1 for gray; the other kind is converted.
        resize: (h, w) in pixels, or one int for a square.
        shuffle: in a new order each time.

    Raises:
        ValueError: no files, or another ``channel``.
    """

    def __init__(self, files: Sequence[str | os.PathLike[str]], channel: int = 3,
                 resize: int | Sequence[int] | None = None, shuffle: bool = False) -> None:
        if isinstance(files, (str, os.PathLike)) or len(files) == 0:
            raise ValueError(say("ImageFromFile(files=)", expected="a list of paths",
                                 received=repr(files), do="Pass at least one path, in a list."))
        if channel not in (1, 3):
            raise ValueError(say("ImageFromFile(channel=)", expected="1 (gray) or 3 (RGB)",
                                 received=repr(channel), do="Pass one of them."))
        self.files: list[Any] = list(files)
        self.channel = int(channel)
        self.imread_mode = 0 if channel == 1 else 1  # cv2.IMREAD_GRAYSCALE, IMREAD_COLOR
        self.resize = None if resize is None else hw_pair(resize, "ImageFromFile(resize=)")
        self.shuffle = shuffle

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self.files)

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        """Yield each image.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a file is no image that OpenCV reads.
        """
        if self.shuffle:
            self.rng.shuffle(self.files)
        for path in list(self.files):
            yield [self._read(os.fspath(path))]

    def _read(self, path: str) -> np.ndarray:
        cv2 = require("cv2", "opencv-python-headless", "ImageFromFile")
        if not os.path.exists(path):
            raise FileNotFoundError(say("ImageFromFile", expected="a file", received=path,
                                        do="Check the path: nothing is there."))
        img = cv2.imread(path, self.imread_mode)
        if img is None:
            raise ValueError(say("ImageFromFile", expected="an image that OpenCV reads",
                                 received=path, do="Check the file, or leave it out."))
        if self.channel == 3:
            img = np.ascontiguousarray(img[:, :, ::-1])
        if self.resize is not None:
            img = cv2.resize(img, self.resize[::-1])
        return img[:, :, np.newaxis] if img.ndim == 2 else img


def _as_list(augmentors: Any, asked_by: str) -> Any:
    if type(augmentors).__name__ == "AugmentorList" or isinstance(augmentors, AugmentorList):
        return augmentors  # ours or real tensorpack's
    return AugmentorList(check_augmentors(augmentors, asked_by))


def _components(dp: Any) -> Any:
    """Return a datapoint of the same components that can be changed."""
    return dict(dp) if isinstance(dp, Mapping) else list(dp)


def _component(dp: Any, k: Any, asked_by: str) -> Any:
    try:
        return dp[k]
    except (IndexError, KeyError, TypeError) as e:
        has = list(dp) if isinstance(dp, Mapping) else f"{len(dp)} components"
        raise type(e)(say(asked_by, expected=f"a component {k!r}",
                          received=f"a datapoint with {has}", do="Pass another index.")) from e


class AugmentImageComponent(MapDataComponent):
    """Augment one image of each datapoint.

    Args:
        ds: the datapoints, lists, tuples or dicts.
        augmentors: an :class:`imgaug.AugmentorList`, or a list of augmentors.
        index: index or key of the image.
        copy: copy the image first, so that an augmentor that works in place does not change
            what ``ds`` holds. False saves time where that is known to be safe.
        catch_exceptions: drop a datapoint whose image makes an augmentor fail, and log the first
            nine and every hundredth of them.

    Example:
        >>> import numpy as np
        >>> from tfqueue_compat.dataflow import DataFromList, imgaug
        >>> ds = DataFromList([[np.arange(4).reshape(2, 2), 7]])
        >>> list(AugmentImageComponent(ds, [imgaug.Flip(horiz=True, prob=1)]))[0][0].tolist()
        [[1, 0], [3, 2]]
    """

    def __init__(self, ds: Any, augmentors: Any, index: Index = 0, copy: bool = True,
                 catch_exceptions: bool = False) -> None:
        self.augs = _as_list(augmentors, type(self).__name__)
        self._copy = copy
        self._exception_handler = ExceptionHandler(catch_exceptions)
        super().__init__(ds, self._aug_mapper, index)

    def reset_state(self) -> None:
        """Reset ``ds`` and give the augmentors new random generators."""
        super().reset_state()
        if "augs" in self.__dict__:
            self.augs.reset_state()

    def _aug_mapper(self, x: Any) -> Any:
        with self._exception_handler.catch():
            check_dtype(x)
            return self.augs.augment(x.copy() if self._copy else x)
        return None


class AugmentImageComponents(MapData):
    """Augment several images of each datapoint, and coordinates, in the same way.

    The augmentors decide by the first image; the others (masks, depth maps) should have its
    height and width.

    Args:
        ds: the datapoints, lists, tuples or dicts.
        augmentors: an :class:`imgaug.AugmentorList`, or a list of augmentors.
        index: indices or keys of the images.
        coords_index: indices or keys of coordinates, floating point of shape (n, 2), rows (x, y).
        copy, catch_exceptions: as in :class:`AugmentImageComponent`.

    Example:
        >>> import numpy as np
        >>> from tfqueue_compat.dataflow import DataFromList, imgaug
        >>> dp = [np.zeros((8, 8, 3), np.uint8), np.zeros((8, 8), np.uint8), np.array([[1., 2.]])]
        >>> ds = AugmentImageComponents(DataFromList([dp]), [imgaug.CenterCrop(4)],
        ...                             index=(0, 1), coords_index=(2,))
        >>> [x.shape for x in list(ds)[0]], list(ds)[0][2].tolist()
        ([(4, 4, 3), (4, 4), (1, 2)], [[-1.0, 0.0]])
    """

    def __init__(self, ds: Any, augmentors: Any, index: Sequence[Index] | Index = (0, 1),
                 coords_index: Sequence[Index] | Index = (), copy: bool = True,
                 catch_exceptions: bool = False) -> None:
        self.augs = _as_list(augmentors, type(self).__name__)
        self._copy = copy
        self._exception_handler = ExceptionHandler(catch_exceptions)
        self._index = index if isinstance(index, (list, tuple)) else (index,)
        self._coords_index = (coords_index if isinstance(coords_index, (list, tuple))
                              else (coords_index,))
        if not self._index:
            raise ValueError(say(type(self).__name__, expected="at least one image",
                                 received=f"index={index!r}", do="Pass its index or key."))
        super().__init__(ds, self._aug_mapper)

    def reset_state(self) -> None:
        """Reset ``ds`` and give the augmentors new random generators."""
        super().reset_state()
        if "augs" in self.__dict__:
            self.augs.reset_state()

    def _aug_mapper(self, dp: Any) -> Any:
        dp = _components(dp)
        with self._exception_handler.catch():
            transform = None
            for k in self._index:
                img = _component(dp, k, type(self).__name__)
                check_dtype(img)
                img = img.copy() if self._copy else img
                if transform is None:
                    dp[k], transform = self.augs.augment_return_params(img)
                else:
                    dp[k] = transform.apply_image(img)
            assert transform is not None
            for k in self._coords_index:
                coords = _component(dp, k, type(self).__name__)
                validate_coords(coords)
                dp[k] = transform.apply_coords(coords.copy() if self._copy else coords)
            return dp
        return None


class AugmentImageCoordinates(AugmentImageComponents):
    """Augment one image of each datapoint and its coordinates in the same way.

    Args:
        ds: the datapoints, lists, tuples or dicts.
        augmentors: an :class:`imgaug.AugmentorList`, or a list of augmentors.
        img_index: index or key of the image.
        coords_index: index or key of the coordinates, floating point of shape (n, 2), rows
            (x, y).
        copy, catch_exceptions: as in :class:`AugmentImageComponent`.
    """

    def __init__(self, ds: Any, augmentors: Any, img_index: Index = 0, coords_index: Index = 1,
                 copy: bool = True, catch_exceptions: bool = False) -> None:
        super().__init__(ds, augmentors, (img_index,), (coords_index,), copy, catch_exceptions)
        self._img_index = img_index
