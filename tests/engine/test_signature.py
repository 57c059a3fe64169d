# SPDX-License-Identifier: Apache-2.0
"""Structures: how a datapoint nests, is checked, taken apart and put together."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from tfqueue_compat.engine import Signature, SignatureMismatch

Pair = namedtuple("Pair", "image label")

leaves = st.integers(0, 9).map(np.int32)
structures = st.recursive(
    leaves, lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3)),
    max_leaves=8)


@given(structures)
def test_any_nesting_is_taken_apart_and_put_together_as_tensorflow_does_it(value: Any) -> None:
    signature = Signature.infer(value)
    flat = list(signature.flatten(value))
    assert flat == tf.nest.flatten(value)
    assert signature.pack(flat) == value
    tf.nest.assert_same_structure(signature.element_spec, value)


def test_a_list_is_components_on_top_and_an_array_below() -> None:
    spec = Signature.infer([[1, 2, 3], (4, 5)]).element_spec
    assert spec == (tf.TensorSpec((3,), tf.int32),
                    (tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.int32)))


def test_named_tuples_and_mappings() -> None:
    signature = Signature.infer(Pair(1, {"b": 2, "a": 3}))
    assert isinstance(signature.element_spec, Pair)
    assert signature.flatten((1, OrderedDict(a=3, b=2))) == [1, 3, 2]
    assert signature.flatten([1, MappingProxyType({"b": 2, "a": 3})]) == [1, 3, 2]
    assert signature.pack([7, 8, 9]) == Pair(7, {"a": 8, "b": 9})


@pytest.mark.parametrize("datapoint", [[], (), {}, [()], {"a": {}}])
def test_a_datapoint_without_components_is_refused(datapoint: Any) -> None:
    with pytest.raises(SignatureMismatch, match="at least one component"):
        Signature.infer(datapoint)


def test_keys_that_do_not_sort_are_refused() -> None:
    with pytest.raises(SignatureMismatch, match="keys sort.*Received keys"):
        Signature.infer({"a": 1, 2: 3})


@pytest.mark.parametrize("good, bad, text", [
    ([1, 2], [1], "datapoint: Expected 2 components. Received list of 1 element"),
    ([1, 2], 1, "Expected 2 components. Received int 1"),
    ([1, 2], {"a": 1, "b": 2}, "Expected 2 components. Received dict"),
    ([1, (2, 3)], [1, 2], r"datapoint\[1\]: Expected 2 components. Received int 2"),
    ({"a": 1}, [1], r"Expected a dict with the keys \['a'\]. Received list"),
    ({"image": 1}, {"imge": 1}, r"missing \['image'\], extra \['imge'\].*Did you mean 'imge'"),
    ({"a": 1}, {"a": 1, "b": 2}, r"missing \[\], extra \['b'\]"),
    ({"a": {"b": 1}}, {"a": {"c": 1}}, r"datapoint\['a'\]: Expected the keys \['b'\]"),
])
def test_another_structure_is_refused_where_it_differs(good: Any, bad: Any, text: str) -> None:
    with pytest.raises(SignatureMismatch, match=text):
        Signature.infer(good).flatten(bad)


def test_an_error_about_a_million_keys_is_short() -> None:
    many = {f"key{i}": i for i in range(10 ** 6)}
    with pytest.raises(SignatureMismatch) as e:
        Signature.infer({"key": 1, "other": 2}).flatten(many)
    assert len(str(e.value)) < 2000
    named = Signature.from_specs([tf.TensorSpec((), tf.int32, "key")])
    with pytest.raises(SignatureMismatch) as e:
        named.flatten(many)
    assert len(str(e.value)) < 2000


def test_a_datapoint_of_very_many_components() -> None:
    many = {f"{i:06}": np.int32(i) for i in range(100_000)}
    signature = Signature.infer(many)
    assert signature.pack(signature.flatten(many)) == many


def test_components_are_named_by_their_place() -> None:
    paths = [c.path for c in Signature.infer([1, {"a": 2, "b": (3, 4)}]).components]
    assert paths == ["component 0", "component 1['a']", "component 1['b'][0]",
                     "component 1['b'][1]"]
    assert Signature.infer(np.zeros(3)).components[0].path == "the datapoint"


@pytest.mark.parametrize("datapoint, opened", [
    ([np.zeros((4, 2)), np.zeros(4)], [(None, 2), (None,)]),
    ([np.zeros((4, 2)), np.zeros(3)], [(4, 2), (3,)]),
    ([np.zeros((4, 2)), 1], [(4, 2), ()]),
    ([np.zeros((0, 2)), np.zeros(0)], [(None, 2), (None,)]),
])
def test_the_batch_dimension_is_opened_where_all_share_one(datapoint: Any, opened: Any) -> None:
    assert [c.shape for c in Signature.infer(datapoint).opened().components] == opened


def test_batched_unbatched_cast() -> None:
    signature = Signature.infer([np.zeros((2, 3), "float32"), np.zeros(2, "uint8")])
    assert [c.shape for c in signature.batched(5).components] == [(5, 2, 3), (5, 2)]
    assert [c.shape for c in signature.unbatched().components] == [(3,), ()]
    cast = signature.cast([tf.float64, tf.int32])
    assert [c.tf_dtype for c in cast.components] == [tf.float64, tf.int32]
    with pytest.raises(SignatureMismatch, match="Expected 2, one a component. Received 3"):
        signature.cast([tf.float32] * 3)


def test_arrays_of_exactly_the_signatures_dtypes() -> None:
    signature = Signature.from_specs((tf.TensorSpec((2,), tf.float32), tf.TensorSpec((), tf.int64)))
    a, b = signature.arrays([[1, 2], 3])
    assert (a.dtype, b.dtype, a.tolist(), int(b)) == (np.float32, np.int64, [1, 2], 3)


# ---- from specs

def test_specs_tensors_and_placeholders_say_the_same() -> None:
    with tf.Graph().as_default():
        holders = [tf.compat.v1.placeholder(tf.float32, (None, 3), "image"),
                   tf.compat.v1.placeholder(tf.int32, (), "label")]
        from_holders = Signature.from_specs(holders)
    specs = [tf.TensorSpec((None, 3), tf.float32, "image"), tf.TensorSpec((), tf.int32, "label")]
    from_specs = Signature.from_specs(specs)
    assert from_holders == from_specs
    assert from_holders.names == from_specs.names == ("image", "label")
    assert from_specs.components[0].path == "component 0 ('image')"
    assert Signature.from_specs(tf.zeros((2, 2))).element_spec == tf.TensorSpec((2, 2), tf.float32)


def test_a_flat_dict_is_read_by_the_names_of_the_specs() -> None:
    signature = Signature.from_specs([tf.TensorSpec((), tf.int32, n) for n in ("image", "label")])
    assert signature.flatten({"label": 2, "other": 3, "image": 1}) == [1, 2]
    with pytest.raises(SignatureMismatch, match="Did you mean 'lable'"):
        signature.flatten({"image": 1, "lable": 2})


@pytest.mark.parametrize("specs", [[3], [tf.TensorSpec((), tf.int32), "label"], None, {"a": None}])
def test_what_is_no_spec_is_refused(specs: Any) -> None:
    with pytest.raises(SignatureMismatch, match="Expected a tf.TensorSpec"):
        Signature.from_specs(specs)


def test_equality() -> None:
    assert Signature.infer([1, 2.0]) == Signature.infer((5, 6.0))
    assert Signature.infer([1, 2.0]) != Signature.infer([1, 2])
    assert Signature.infer([1]) != [1]
    with pytest.raises(TypeError):
        hash(Signature.infer([1]))
