# SPDX-License-Identifier: Apache-2.0
"""Inferencers and their runners, against values computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tfqueue_compat.callbacks import (BinaryClassificationStats, ClassificationError,
                                      DataParallelInferenceRunner, Inferencer, InferenceRunner,
                                      ScalarStats)
from tfqueue_compat.dataflow import DataFlow, DataFromList
from tfqueue_compat.input_source import FeedInput, QueueInput, TensorInput

v1 = tf.compat.v1
# EVAL's labels are 1 1 0, 0 1 1, 1; w is 2 after the first epoch, 4 after the second
MEAN_OF_BATCHES = (2 / 3 + 2 / 3 + 1) / 3
SHARE = 5 / 7


def infs() -> list[Inferencer]:
    return [ScalarStats(["cost"]), ScalarStats("cost:0", "val"), ScalarStats("cost", ""),
            ClassificationError("wrong", "error"), BinaryClassificationStats("pred", "label")]


def expected(w: float) -> dict[str, float]:
    cost = w + MEAN_OF_BATCHES
    return {"validation_cost": cost, "val_cost": cost, "cost": cost, "error": SHARE,
            "val_precision": 1.0, "val_recall": 1.0}


@pytest.mark.parametrize("make", [
    lambda data: InferenceRunner(data, infs()),
    lambda data: InferenceRunner(FeedInput(data, infinite=False), infs()),
    lambda data: InferenceRunner(QueueInput(data), infs()),
    lambda data: DataParallelInferenceRunner(data, infs(), 1),
    lambda data: DataParallelInferenceRunner(data, infs(), 2),
    lambda data: DataParallelInferenceRunner(QueueInput(data), infs(), [0, 1, 2]),
    lambda data: DataParallelInferenceRunner(data, infs(), 5),
], ids=["data", "feed", "queue", "one", "two", "three", "more than there is"])
def test_a_pass_over_the_data_after_each_epoch(make: Any, machine: Any, catch: Any,
                                               eval_data: Any) -> None:
    machine.train([make(eval_data)], monitors=[catch])
    for step in (2, 4):
        got = {name: value for at, name, value in catch.scalars if at == step}
        assert got == pytest.approx(expected(step))


def test_a_runner_leaves_the_training_summaries_alone(machine: Any, eval_data: Any) -> None:
    class Count(Inferencer):
        def _setup_graph(self) -> None:
            self.summaries = len(v1.get_collection(v1.GraphKeys.SUMMARIES))

        def _get_fetches(self) -> list[str]:
            return ["cost"]

        def _on_fetches(self, results: Any) -> None:
            pass

    count = Count()
    machine.train([InferenceRunner(eval_data, count)])
    assert count.summaries == 2


def test_an_inferencer_of_ones_own(machine: Any, catch: Any, eval_data: Any,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    class Labels(Inferencer):
        def _before_inference(self) -> None:
            self.seen: list[Any] = []

        def _get_fetches(self) -> list[str]:
            return ["label", "cost"]

        def _on_fetches(self, results: Any) -> None:
            self.seen.append((results[0].tolist(), float(results[1])))

        def _after_inference(self) -> dict[str, Any]:
            return {"batches": len(self.seen), "text": "no number"}

    labels = Labels()
    machine.train([InferenceRunner(eval_data, [labels])], epochs=1, monitors=[catch])
    assert [label for label, _ in labels.seen] == [[1, 1, 0], [0, 1, 1], [1]]
    assert [cost for _, cost in labels.seen] == pytest.approx([2 + 2 / 3, 2 + 2 / 3, 3])
    assert catch.scalars == [(2, "batches", 3.0)]
    assert "Labels returned str for 'text'" in capsys.readouterr().out


def test_hooks_take_part(machine: Any, eval_data: Any) -> None:
    class Hook(v1.train.SessionRunHook):  # type: ignore[misc]
        seen = 0

        def before_run(self, run_context: Any) -> Any:
            return v1.train.SessionRunArgs(fetches="w:0", feed_dict=None)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.seen += 1

    hook = Hook()
    runner = InferenceRunner(eval_data, ScalarStats("cost"))
    runner.register_hook(hook)
    # w is a resource; its handle can be fetched by its name like any tensor
    machine.train([runner], epochs=1)
    assert hook.seen == 3


class Short(DataFlow):
    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Any:
        yield [np.array([1], "int32")]


def test_a_dataflow_that_ends_before_its_length_is_an_error(machine: Any) -> None:
    with pytest.raises(RuntimeError, match="InferenceRunner, FeedInput of Short: Expected 3 "
                                           "datapoints.* Received 1, and then the end"):
        machine.train([InferenceRunner(Short(), ScalarStats("cost"))])


@pytest.mark.parametrize("make", [
    lambda: InferenceRunner(QueueInput(Short()), ScalarStats("cost")),
    lambda: DataParallelInferenceRunner(Short(), ScalarStats("cost"), 2),
], ids=["queue", "towers"])
def test_a_queue_does_not_begin_again_within_a_pass(make: Any, machine: Any) -> None:
    with pytest.raises(RuntimeError, match="InferenceRunner, Short: Expected 3 datapoints.* "
                                           "Received 1, and then the end"):
        machine.train([make()])


def test_a_dataflow_without_a_length_runs_to_its_end(machine: Any, catch: Any) -> None:
    class Unknown(DataFlow):
        def __iter__(self) -> Any:
            yield from ([np.array([k], "int32")] for k in range(5))

    machine.train([InferenceRunner(Unknown(), ScalarStats("cost"))], monitors=[catch])
    assert catch.of("validation_cost") == [(2, 4.0), (4, 6.0)]


def test_what_a_dataflow_raises_comes_out(machine: Any) -> None:
    class Bad(DataFlow):
        def __len__(self) -> int:
            return 3

        def __iter__(self) -> Any:
            yield [np.array([1], "int32")]
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        machine.train([InferenceRunner(Bad(), ScalarStats("cost"))])


def test_a_vector_is_no_scalar_and_a_scalar_no_vector(machine: Any, eval_data: Any) -> None:
    with pytest.raises(ValueError, match="'wrong'.*Expected a scalar"):
        machine.train([InferenceRunner(eval_data, ScalarStats("wrong"))])


def test_an_error_needs_a_number_for_each_sample(machine: Any, eval_data: Any) -> None:
    with pytest.raises(ValueError, match="'cost'.*Expected a vector"):
        machine.train([InferenceRunner(eval_data, ClassificationError("cost"))])


def test_a_wrong_name_is_named_with_near_ones(machine: Any, eval_data: Any) -> None:
    with pytest.raises(KeyError, match="kost.*Did you mean.*cost"):
        machine.train([InferenceRunner(eval_data, ScalarStats("kost"))])


@pytest.mark.parametrize("make, error", [
    (lambda: InferenceRunner(TensorInput(lambda: []), []), ValueError),
    (lambda: InferenceRunner(DataFromList([[1]]), [ScalarStats]), TypeError),
    (lambda: DataParallelInferenceRunner(DataFromList([[1]]), [], 0), ValueError),
    (lambda: DataParallelInferenceRunner(QueueInput(iter([])), [], 1), ValueError),
])
def test_what_can_not_work_is_refused_at_once(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Expected"):
        make()
