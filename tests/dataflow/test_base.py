# SPDX-License-Identifier: Apache-2.0
"""Old and new protocol, and the reset that was forgotten."""

from __future__ import annotations

import copy
import multiprocessing as mp
import pickle

import numpy as np
import pytest

from tfqueue_compat.dataflow import (BatchData, ConcatData, DataFlow, DataFromList, FakeData,
                                     JoinData, MapData, ProxyDataFlow, RNGDataFlow)
from tfqueue_compat.dataflow.base import (DataFlowReentrantGuard, NoLength, as_dataflow,
                                          ensure_reset, length, reset)


class New(DataFlow):
    def __iter__(self):
        yield [1]
        yield [2]

    def __len__(self):
        return 2


class Old(DataFlow):
    def get_data(self):
        yield [1]
        yield [2]

    def size(self):
        return 2


class OldOverOld(Old):
    def get_data(self):
        for dp in super().get_data():
            yield [dp[0] * 10]

    def size(self):
        return super().size()


class OldOverNew(New):
    def get_data(self):
        for dp in super().get_data():
            yield [dp[0] * 10]


class NewOverOld(Old):
    def __iter__(self):
        for dp in super().__iter__():
            yield [dp[0] * 10]

    def __len__(self):
        return super().size()


class OldOverNewOverOld(NewOverOld):
    def get_data(self):
        for dp in super().get_data():
            yield [dp[0] // 10]
        yield from super().__iter__()

    def size(self):
        return 2 * len(Old())


class OldProxy(ProxyDataFlow):
    def get_data(self):
        for dp in self.ds.get_data():
            yield [dp[0] * 10]


class OldMap(MapData):
    """As old code extends a stage: its own get_data around the parent's."""

    def get_data(self):
        for dp in super().get_data():
            yield [dp[0], "extra"]


class Mixin:
    def get_data(self):
        for dp in super().get_data():
            yield [-dp[0]]

    def size(self):
        return 7


class Mixed(Mixin, New):
    pass


@pytest.mark.parametrize("make, want, n", [
    (New, [[1], [2]], 2),
    (Old, [[1], [2]], 2),
    (OldOverOld, [[10], [20]], 2),
    (OldOverNew, [[10], [20]], 2),
    (NewOverOld, [[10], [20]], 2),
    (OldOverNewOverOld, [[1], [2], [10], [20]], 4),
    (lambda: OldProxy(New()), [[10], [20]], 2),
    (lambda: OldProxy(Old()), [[10], [20]], 2),
    (lambda: OldMap(Old(), lambda dp: [dp[0] + 1]), [[2, "extra"], [3, "extra"]], 2),
    (Mixed, [[-1], [-2]], 7),
])
def test_all_four_names_answer(make, want, n):
    ds = make()
    assert list(ds) == want
    assert list(ds.get_data()) == want
    assert len(ds) == n
    assert ds.size() == n
    assert list(BatchData(ds, 1, use_list=True)) == [[[c] for c in dp] for dp in want]


def test_a_class_with_neither_cannot_be_made():
    with pytest.raises(TypeError, match="__iter__"):
        DataFlow()


def test_without_a_length():
    class Endless(DataFlow):
        def __iter__(self):
            yield [1]

    ds = ProxyDataFlow(Endless())
    assert list(ds) == [[1]]
    with pytest.raises(NotImplementedError, match="Endless"):
        len(ds)
    with pytest.raises(NotImplementedError):
        ds.size()
    with pytest.raises(NoLength):
        Endless().size()
    assert length(ds) is None


def test_an_old_size_that_is_not_implemented_is_no_length():
    class NoSize(DataFlow):
        def get_data(self):
            yield [1]

        def size(self):
            raise NotImplementedError

    assert length(NoSize()) is None
    assert list(NoSize()) == [[1]]


@pytest.mark.parametrize("obj, n", [
    ([1, 2, 3], 3), (iter([1]), None), (range(4), 4), (object(), None), (FakeData([[1]], 9), 9)])
def test_length(obj, n):
    assert length(obj) == n


class Counting(DataFlow):
    def __init__(self):
        self.resets = 0

    def reset_state(self):
        self.resets += 1

    def __iter__(self):
        yield [self.resets]


def test_reset_is_made_up_for_once():
    ds = Counting()
    assert list(ds) == [[1]]
    assert list(ds) == [[1]]


def test_reset_by_the_user_counts():
    ds = Counting()
    ds.reset_state()
    assert list(ds) == [[1]]
    ds.reset_state()
    assert list(ds) == [[2]]


def test_a_forgotten_reset_goes_down_the_chain_once():
    source = Counting()
    ds = MapData(ProxyDataFlow(ConcatData([source, source])), lambda dp: dp)
    assert list(ds) == [[1], [1]]
    assert list(ds) == [[1], [1]]
    assert source.resets == 1


def test_a_child_is_reset_even_if_the_parent_forgets_it():
    class Forgetful(ProxyDataFlow):
        def reset_state(self):
            pass

    assert list(Forgetful(Counting())) == [[1]]


def test_reset_that_fails_is_tried_again():
    class Fails(Counting):
        def reset_state(self):
            super().reset_state()
            if self.resets == 1:
                raise OSError("not yet")

    ds = Fails()
    with pytest.raises(OSError, match="not yet"):
        list(ds)
    assert list(ds) == [[2]]


def test_reset_state_may_iterate_the_object_itself():
    class Cached(Counting):
        def reset_state(self):
            super().reset_state()
            self.first = list(self)

    ds = Cached()
    assert list(ds) == [[1]]
    assert ds.first == [[1]]


def test_reset_state_before_the_constructor_of_the_base():
    class Early(ProxyDataFlow):
        def __init__(self, ds):
            self.reset_state()
            super().__init__(ds)

    source = Counting()
    assert list(Early(source)) == [[1]]


def test_rng_set_before_the_constructor_of_the_base():
    class Mine(MapData, RNGDataFlow):
        def __init__(self, ds):
            self.rng = np.random.RandomState(5)
            super().__init__(ds, lambda dp: [dp[0] + self.rng.randint(100)])

    ds = Mine(New())
    assert ds.rng.randint(10**6) == np.random.RandomState(5).randint(10**6)
    assert len(list(ds)) == 2


def test_rng_is_there_without_reset():
    class Draws(RNGDataFlow):
        def __iter__(self):
            yield [self.rng.randint(10)]

    assert 0 <= Draws().rng.randint(10) < 10
    assert 0 <= list(Draws())[0][0] < 10
    assert sorted(list(DataFromList([[1], [2]], shuffle=True))) == [[1], [2]]


def _count_in_child(ds, queue):
    queue.put(list(ds))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 on
def test_each_process_resets_again():
    ds = Counting()
    list(ds)
    context = mp.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count_in_child, args=(ds, queue))
    child.start()
    assert queue.get(timeout=30) == [[2]]
    child.join()
    assert list(ds) == [[1]]


class Foreign:
    """An object of another library."""

    def __init__(self):
        self.resets = 0

    def reset_state(self):
        self.resets += 1

    def __iter__(self):
        yield [self.resets]

    def __len__(self):
        return 1


class ForeignOld:
    def get_data(self):
        yield [1]

    def size(self):
        return 1


@pytest.mark.parametrize("wrap", [
    ProxyDataFlow, lambda ds: MapData(ds, lambda dp: dp), lambda ds: JoinData([ds]),
    lambda ds: ConcatData([ds]), as_dataflow])
def test_foreign_dataflows_are_taken(wrap):
    foreign = Foreign()
    ds = wrap(foreign)
    assert list(ds) == [[1]] and list(ds) == [[1]]
    assert len(ds) == 1
    assert list(wrap(ForeignOld())) == [[1]]
    assert len(wrap(ForeignOld())) == 1


def test_ensure_reset_never_minds_what_it_gets():
    foreign = Foreign()
    ensure_reset(foreign)
    ensure_reset(foreign)
    assert foreign.resets == 1
    reset(foreign)
    assert foreign.resets == 2
    for other in ([1], "text", None, iter([])):
        ensure_reset(other)


def test_a_reset_that_real_tensorpack_has_done_is_not_repeated():
    class Runner(Foreign):
        _reset_done = True

    runner = Runner()
    ensure_reset(runner)
    reset(runner)
    assert runner.resets == 0


def test_as_dataflow():
    def generator():
        yield [1]

    for obj in (generator, [[1]], iter([[1]]), lambda: [[1]]):
        assert list(as_dataflow(obj)) == [[1]]
    ds = New()
    assert as_dataflow(ds) is ds


@pytest.mark.parametrize("obj, says", [
    (New, r"New\(\.\.\.\)"), ("text", "str"), (None, "NoneType"), (3, "int"), ({"a": 1}, "dict")])
def test_as_dataflow_refuses(obj, says):
    with pytest.raises(TypeError, match=says):
        as_dataflow(obj)
    with pytest.raises(TypeError, match="BatchData"):
        BatchData(obj, 1)


def test_a_function_that_returns_no_iterable():
    with pytest.raises(TypeError, match="int"):
        list(as_dataflow(lambda: 3))


def test_guard():
    guard = DataFlowReentrantGuard()
    with guard:
        with pytest.raises(RuntimeError, match="one iterator at a time"):
            with guard:
                pass
        with pickle.loads(pickle.dumps(guard)):  # a copy is open
            pass
    with guard:
        pass


def test_dataflows_can_be_copied_and_pickled():
    ds = MapData(DataFromList([[1], [2]], shuffle=False), abs_all)
    list(ds)
    for other in (copy.copy(ds), copy.deepcopy(ds), pickle.loads(pickle.dumps(ds))):
        assert list(other) == [[1], [2]]


def abs_all(dp):
    return [abs(c) for c in dp]


def test_beside_a_class_with_an_abstract_base():
    import collections.abc

    class Both(New, collections.abc.Iterable):
        pass

    assert list(Both()) == [[1], [2]]
