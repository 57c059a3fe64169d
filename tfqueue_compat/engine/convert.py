# SPDX-License-Identifier: Apache-2.0
"""One component of a datapoint: from any array-like value to the dtype and shape it must have."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ..utils.errors import say
from .errors import SignatureMismatch

__all__ = ["Component", "as_array", "component_from", "describe"]

_INT32 = np.iinfo(np.int32)


@dataclass(frozen=True)
class Component:
    """Name, shape and dtype of one component.

    Attributes:
        path: how errors call it, e.g. ``component 1 ('label')``.
        shape: a tuple in which None is an open dimension; None where even the rank is open.
        dtype: NumPy's; ``object`` for strings.
        tf_dtype: TensorFlow's.
    """

    path: str
    shape: tuple[int | None, ...] | None
    dtype: np.dtype
    tf_dtype: tf.DType

    @classmethod
    def of(cls, path: str, shape: Any, dtype: Any) -> Component:
        """Make one from what a ``tf.TensorSpec`` holds."""
        tf_dtype = tf.as_dtype(dtype).base_dtype
        np_dtype = (np.dtype(object) if tf_dtype == tf.string
                    else np.dtype(tf_dtype.as_numpy_dtype))
        dims = tf.TensorShape(shape)
        return cls(path, None if dims.rank is None else tuple(dims.as_list()), np_dtype, tf_dtype)

    @property
    def spec(self) -> tf.TensorSpec:
        """As ``tf.TensorSpec``."""
        return tf.TensorSpec(self.shape, self.tf_dtype)

    @property
    def is_string(self) -> bool:
        """Whether its values are strings or bytes."""
        return bool(self.tf_dtype == tf.string)

    def opened(self) -> Component:
        """The same with the first dimension left open."""
        return self if not self.shape else self.unbatched().batched(None)

    def batched(self, size: int | None) -> Component:
        """A batch of these."""
        shape = None if self.shape is None else (size, *self.shape)
        return dataclasses.replace(self, shape=shape)

    def unbatched(self) -> Component:
        """One row of these.

        Raises:
            SignatureMismatch: for a scalar, which has no rows.
        """
        if self.shape == ():
            raise SignatureMismatch(say(
                self.path, expected="a batch, with at least one dimension", received="a scalar",
                do="Give the shapes of whole batches, e.g. tf.TensorSpec((None, 28, 28))."))
        return dataclasses.replace(self, shape=self.shape and self.shape[1:])

    def fits(self, shape: tuple[int, ...]) -> bool:
        """Whether a value of this shape is one of this component's."""
        if self.shape is None:
            return True
        return len(shape) == len(self.shape) and all(
            want is None or want == have for want, have in zip(self.shape, shape))


def describe(value: Any) -> str:
    """Say what a value is, in a few words: its type, and its shape and dtype or its length."""
    kind = type(value).__name__
    if isinstance(value, (np.ndarray, np.generic)):
        return f"{kind} of shape {value.shape}, dtype {value.dtype}"
    if isinstance(value, dict):
        return f"{kind} with the keys {list(value)[:8]}"
    if isinstance(value, (list, tuple)):
        return f"{kind} of {len(value)} elements"
    text = repr(value)
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"


def component_from(path: str, value: Any) -> Component:
    """Read a component off one of its values.

    Python's int and float become int32 and float32, as in ``tf.constant`` and in tensorpack's
    BatchData (int64 where the value needs it); arrays keep their dtype, in the machine's byte
    order.

    Raises:
        SignatureMismatch: for what no tensor can hold.
    """
    array = _array_of(path, value)
    if array.dtype == object:
        return Component(path, array.shape, array.dtype, tf.string)
    try:
        tf_dtype = tf.as_dtype(array.dtype)
    except TypeError:
        raise SignatureMismatch(say(
            path, expected="numbers, bools or strings", received=describe(value),
            do="Convert it in the dataflow, e.g. with MapDataComponent.")) from None
    return Component(path, array.shape, np.dtype(tf_dtype.as_numpy_dtype), tf_dtype)


def as_array(component: Component, value: Any) -> np.ndarray:
    """Return ``value`` as an array of the component's dtype, its shape checked.

    A cast is done where it changes no value beyond the rounding of floats: 3.0 fits an int32,
    3.5 does not.

    Raises:
        SignatureMismatch: naming the component, what was expected and what came.
    """
    array = _array_of(component.path, value)
    if array.dtype != component.dtype:
        empty_list = array.size == 0 and not hasattr(value, "dtype")  # of no dtype, then
        array = np.empty(array.shape, component.dtype) if empty_list else _cast(component, array)
    if not component.fits(array.shape):
        raise SignatureMismatch(say(
            component.path, expected=f"shape {component.shape}",
            received=f"shape {array.shape}, dtype {array.dtype}",
            do="Make all datapoints alike, or leave the dimension open (None) in the signature."))
    return array


def _array_of(path: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, (str, bytes)):
        return np.array(value, dtype=object)
    elif value is None:
        raise SignatureMismatch(say(path, expected="a value", received="None",
                                    do="Drop the datapoint, or put a number in its place."))
    else:
        array = _from_python(path, value)
    if array.dtype.kind in "US":
        array = array.astype(object)
    if array.dtype.kind == "O":
        _check_strings(path, value, array)
        if not isinstance(value, (list, tuple)):
            array = array.copy()  # it is kept until it crosses: it must not be the user's own
    return array


def _from_python(path: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
    except UnicodeDecodeError:  # str among bytes
        return np.array(value, dtype=object)
    except ValueError as e:
        raise SignatureMismatch(say(
            path, expected="elements of one shape", received=_shapes(value) or str(e),
            do="Pad or crop them to one shape.")) from e
    if isinstance(value, np.generic) or hasattr(value, "__array__"):
        return array
    if array.dtype.kind in "US":  # NumPy has cut zero bytes off, and turned numbers into strings
        return np.array(value, dtype=object)
    return _narrow(array, value)


def _narrow(array: np.ndarray, value: Any) -> np.ndarray:
    """Give Python's own numbers TensorFlow's default dtypes."""
    if isinstance(value, (list, tuple)) and _holds_arrays(value):
        return array
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and array.size and (
            array.max() <= _INT32.max and array.min() >= _INT32.min):
        return array.astype(np.int32)
    return array


def _holds_arrays(value: Any) -> bool:
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "dtype")


def _shapes(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return ""
    seen: list[Any] = []
    for v in value:
        try:
            shape: Any = np.shape(v)
        except ValueError:
            shape = "ragged"
        if shape not in seen:
            seen.append(shape)
    return f"{len(value)} elements of the shapes {', '.join(map(str, seen[:6]))}"


def _check_strings(path: str, value: Any, array: np.ndarray) -> None:
    if all(isinstance(v, (str, bytes)) for v in array.ravel()):
        return
    if any(isinstance(v, int) and not -2 ** 63 <= v < 2 ** 64 for v in array.ravel()):
        raise SignatureMismatch(say(
            path, expected="integers of at most 64 bits", received=describe(value),
            do="Convert it in the dataflow, e.g. to a float or a string."))
    shapes = _shapes(value if isinstance(value, (list, tuple)) else list(array.ravel()))
    raise SignatureMismatch(say(
        path, expected="an array of numbers or strings",
        received=f"{describe(value)}; {shapes}",
        do="Give all elements one shape and one dtype."))


def _cast(component: Component, array: np.ndarray) -> np.ndarray:
    want = component.dtype
    if component.is_string or not _castable(array.dtype, component.tf_dtype):
        raise _refused(component, array)
    try:
        # what is no integer makes one that differs
        with np.errstate(over="raise", invalid="ignore"):
            out = array.astype(want)
    except FloatingPointError:
        raise _refused(component, array, ", beyond what that holds") from None
    if want.kind == "V" and np.any(np.isinf(out) & ~np.isinf(array)):
        # bfloat16 and its kin: the last step up to infinity is told to nobody
        raise _refused(component, array, ", beyond what that holds")
    if want.kind in "iub" and array.size and not np.array_equal(out, array):
        raise _refused(component, array, _values_of(out, array))
    return out


def _values_of(out: np.ndarray, array: np.ndarray) -> str:
    """Name a value that was not kept, and what is around it."""
    lost = array[out != array].ravel()[0]
    return f" with values from {array.min()} to {array.max()}, among them {lost}"


_REAL = 2  # the rank of floats


def _castable(have: np.dtype, want: tf.DType) -> bool:
    """Whether numbers of one kind may be those of another; integers are checked one by one."""
    try:
        have_rank, want_rank = _rank(tf.as_dtype(have)), _rank(want)
    except TypeError:
        return False
    return 0 <= have_rank <= max(want_rank, _REAL) and want_rank >= 0


def _rank(dtype: tf.DType) -> int:
    kinds = (dtype.is_bool, dtype.is_integer, dtype.is_floating, dtype.is_complex)
    return kinds.index(True) if True in kinds else -1


def _refused(component: Component, array: np.ndarray, values: str = "") -> SignatureMismatch:
    want = "string" if component.is_string else str(component.dtype)
    return SignatureMismatch(say(
        component.path, expected=f"dtype {want}",
        received=f"dtype {'string' if array.dtype.kind == 'O' else array.dtype}, "
                 f"shape {array.shape}{values}",
        do=f"Convert it in the dataflow, e.g. x.astype({want!r}), or change the signature."))
