# SPDX-License-Identifier: Apache-2.0
"""One component: what any value becomes, and what is refused."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import tensorflow as tf
from hypothesis import example, given
from hypothesis import strategies as st

from tfqueue_compat.engine.convert import Component, as_array, component_from, describe
from tfqueue_compat.engine.errors import SignatureMismatch

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]
BFLOAT16 = tf.bfloat16.as_numpy_dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (0, 4), (2, 1, 3)])
def test_an_array_keeps_its_dtype_and_crosses_as_it_is(dtype: str, shape: Any) -> None:
    value = np.ones(shape, dtype)
    component = component_from("x", value)
    assert (component.shape, component.tf_dtype) == (shape, tf.as_dtype(dtype))
    assert as_array(component, value) is value


@pytest.mark.parametrize("value, dtype, shape", [
    (3, "int32", ()), (-1, "int32", ()), (2 ** 31 - 1, "int32", ()), (2 ** 31, "int64", ()),
    (-2 ** 31, "int32", ()), (-2 ** 31 - 1, "int64", ()), (2 ** 63, "uint64", ()),
    (1.5, "float32", ()), (True, "bool", ()), (1j, "complex128", ()),
    ([1, 2], "int32", (2,)), ([1, 2 ** 40], "int64", (2,)), ([1, 2.5], "float32", (2,)),
    ([[1.0], [2.0]], "float32", (2, 1)), ((True, False), "bool", (2,)), ([], "float32", (0,)),
    (np.float64(1), "float64", ()), (np.int64(1), "int64", ()), (np.float16(1), "float16", ()),
    ([np.zeros(2), np.zeros(2)], "float64", (2, 2)), ([np.int64(1)], "int64", (1,)),
    (range(4), "int32", (4,)),
])
def test_pythons_numbers_become_tensorflows_default_dtypes(
        value: Any, dtype: str, shape: Any) -> None:
    component = component_from("x", value)
    assert (component.dtype, component.shape) == (np.dtype(dtype), shape)
    array = as_array(component, value)
    assert array.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(array, np.asarray(value))


def test_bfloat16() -> None:
    value = np.array([1, 2.5], BFLOAT16)
    component = component_from("x", value)
    assert component.tf_dtype == tf.bfloat16
    assert as_array(component, value) is value
    assert as_array(component, np.array([0.5, 3], "float32")).dtype == BFLOAT16


def test_tensors_are_values_too() -> None:
    component = component_from("x", tf.constant([1.5]))
    assert component.dtype == np.float32
    assert as_array(component, tf.constant([2.5])).tolist() == [2.5]


@pytest.mark.parametrize("dtype", [">f4", ">i8", ">u2", ">c8"])
def test_a_foreign_byte_order_is_turned(dtype: str) -> None:
    value = np.array([1, 2, 3], dtype)
    component = component_from("x", value)
    assert component.dtype.isnative
    array = as_array(component, value)
    assert array.dtype.isnative and array.tolist() == [1, 2, 3]


# ---- strings

@pytest.mark.parametrize("value, shape, out", [
    ("ä", (), "ä"), (b"\xff\0", (), b"\xff\0"), (np.str_("a"), (), "a"),
    (np.bytes_(b"a"), (), b"a"),
    (["a", "bc"], (2,), ["a", "bc"]), ([["a"], ["b"]], (2, 1), [["a"], ["b"]]),
    (np.array(["a", "bc"]), (2,), ["a", "bc"]), (np.array([b"a"]), (1,), [b"a"]),
    (np.array(["a", b"b"], object), (2,), ["a", b"b"]),
    (np.array([], object), (0,), []),
    ([b"a\0\0", b"b"], (2,), [b"a\0\0", b"b"]), (["a\0", "b"], (2,), ["a\0", "b"]),
    ([b"\xff", "a"], (2,), [b"\xff", "a"]), ([b"a", "b"], (2,), [b"a", "b"]),
])
def test_strings_keep_every_byte(value: Any, shape: Any, out: Any) -> None:
    component = component_from("x", value)
    assert component.is_string and component.shape == shape
    assert as_array(component, value).tolist() == out


def test_an_array_of_strings_is_not_kept_by_reference() -> None:
    value = np.array(["a", "b"], object)
    kept = as_array(component_from("x", value), value)
    value[:] = "c"
    assert kept.tolist() == ["a", "b"]


@pytest.mark.parametrize("value", [
    np.array([1, None], object), np.array([1, "a"], object), [1, "a"], ["a", 1], [["a"], 2],
    [[b"a"], [b"b", b"c"]], [None], {1, 2}, object(), 2 ** 64, -2 ** 63 - 1,
    np.zeros(2, [("a", "i4")]), np.zeros(2, "M8[s]"), np.zeros(2, "m8[s]"), np.zeros(2, "g"),
], ids=repr)
def test_what_no_tensor_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(SignatureMismatch, match="^x: Expected .* Received .* Do: "):
        component_from("x", value)


@pytest.mark.parametrize("value, large", [
    (2 ** 64, True), ([1, -2 ** 63 - 1], True), (np.array([1, 2], object), False)])
def test_only_integers_beyond_64_bits_are_called_so(value: Any, large: bool) -> None:
    with pytest.raises(SignatureMismatch) as e:
        component_from("x", value)
    assert ("64 bits" in str(e.value)) == large


@pytest.mark.parametrize("value, seen", [
    ([[1, 2], [3]], r"2 elements of the shapes \(2,\), \(1,\)"),
    ([np.zeros((2, 3)), np.zeros((2, 4))], r"\(2, 3\), \(2, 4\)"),
    ([[1, [2, 3]], [1, 2]], "ragged"),
    (np.array([np.zeros(2), np.zeros(3)], object), r"\(2,\), \(3,\)"),
])
def test_ragged_values_are_refused_with_their_shapes(value: Any, seen: str) -> None:
    with pytest.raises(SignatureMismatch, match=seen):
        component_from("x", value)


def test_none_is_refused_by_name() -> None:
    with pytest.raises(SignatureMismatch, match="label: Expected a value. Received None"):
        component_from("label", None)


# ---- casts


@pytest.mark.parametrize("want", DTYPES)
@pytest.mark.parametrize("have", DTYPES)
def test_a_cast_is_done_where_it_keeps_the_values(have: str, want: str) -> None:
    value = np.array([0, 1], have)
    component = Component.of("x", (2,), want)
    real = np.dtype(have).kind != "c" or np.dtype(want).kind == "c"
    if real:
        array = as_array(component, value)
        assert array.dtype == np.dtype(want) and array.tolist() == [0, 1]
    else:
        with pytest.raises(SignatureMismatch, match=f"Expected dtype {want}"):
            as_array(component, value)


@pytest.mark.parametrize("value, want", [
    ([0.0, 1.5], "int32"), ([0.0, np.nan], "int32"), ([0.0, 3e9], "int32"), ([-1.0], "uint8"),
    ([0.5], "bool"), ([2], "bool"),
])
def test_a_number_that_the_dtype_has_not_is_named(value: Any, want: str) -> None:
    with pytest.raises(SignatureMismatch, match=f"dtype {want}.*among them {value[-1]}"):
        as_array(Component.of("x", (None,), want), np.array(value))


@given(st.integers(-2 ** 63, 2 ** 64 - 1), st.sampled_from(DTYPES[1:9]))
def test_an_integer_arrives_unchanged_or_not_at_all(number: int, want: str) -> None:
    component, limits = Component.of("x", (), want), np.iinfo(want)
    value = np.array(number, "uint64" if number >= 2 ** 63 else "int64")
    for v in (number, value):
        if limits.min <= number <= limits.max:
            assert int(as_array(component, v)) == number
        else:
            with pytest.raises(SignatureMismatch):
                as_array(component, v)


@example(np.array([3.396e38]), "bfloat16")  # a float32, but rounded up beyond a bfloat16
@given(hnp.arrays("float64", st.integers(0, 5), elements=st.floats(allow_nan=False)),
       st.sampled_from(["float16", "float32", "bfloat16"]))
def test_a_float_is_rounded_but_never_becomes_infinite(value: np.ndarray, want: str) -> None:
    component = Component.of("x", (None,), want)
    with np.errstate(over="ignore"):
        rounded = value.astype(component.dtype)
    if np.isinf(rounded.astype("float64"))[~np.isinf(value)].any():
        with pytest.raises(SignatureMismatch, match="beyond what that holds"):
            as_array(component, value)
    else:
        assert as_array(component, value).tobytes() == rounded.tobytes()


@pytest.mark.parametrize("dtype", ["string", "int64", "bool"])
def test_an_empty_list_has_no_dtype_of_its_own(dtype: str) -> None:
    array = as_array(Component.of("x", (None,), dtype), [])
    assert array.shape == (0,) and tf.as_dtype(array.dtype) == tf.as_dtype(dtype)


@pytest.mark.parametrize("value", [np.zeros(2, [("a", "i4")]), np.zeros(2, "M8[s]"), ["a"], "a"])
def test_what_is_no_number_is_refused_for_a_number(value: Any) -> None:
    with pytest.raises(SignatureMismatch, match="Expected dtype float32"):
        as_array(Component.of("x", None, "float32"), value)


def test_numbers_are_refused_for_a_string() -> None:
    with pytest.raises(SignatureMismatch, match="Expected dtype string. Received dtype int32"):
        as_array(Component.of("x", (), tf.string), 3)


# ---- shapes

@pytest.mark.parametrize("shape, value, fits", [
    (None, (), True), (None, (3, 4), True), ((), (), True), ((), (1,), False),
    ((None, 3), (5, 3), True), ((None, 3), (0, 3), True), ((None, 3), (5, 4), False),
    ((2, 3), (2, 3), True), ((2, 3), (2, 3, 1), False), ((None,), (), False),
])
def test_shapes(shape: Any, value: tuple[int, ...], fits: bool) -> None:
    component = Component.of("image", shape, "float32")
    if fits:
        assert as_array(component, np.zeros(value, "float32")).shape == value
    else:
        with pytest.raises(SignatureMismatch, match="image: Expected shape .* Received shape"):
            as_array(component, np.zeros(value, "float32"))


def test_batches_and_rows() -> None:
    component = Component.of("x", (4, 5), "int32")
    assert component.batched(3).shape == (3, 4, 5)
    assert component.batched(None).spec == tf.TensorSpec((None, 4, 5), tf.int32)
    assert component.unbatched().shape == (5,)
    assert component.opened().shape == (None, 5)
    assert Component.of("x", (), "int32").opened().shape == ()
    unknown = Component.of("x", None, "int32")
    assert unknown.batched(3).shape is None and unknown.unbatched().shape is None
    with pytest.raises(SignatureMismatch, match="Received a scalar"):
        Component.of("x", (), "int32").unbatched()


def test_values_are_described_in_few_words() -> None:
    assert describe(np.zeros((2, 3), "int8")) == "ndarray of shape (2, 3), dtype int8"
    assert describe({"a": 1, "b": 2}) == "dict with the keys ['a', 'b']"
    assert describe([1, 2, 3]) == "list of 3 elements"
    assert len(describe("x" * 10 ** 6)) < 80
    assert len(describe(dict.fromkeys(range(10 ** 6)))) < 80
