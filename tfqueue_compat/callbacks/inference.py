# SPDX-License-Identifier: Apache-2.0
"""What to compute over a pass of inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..engine.hooks import Callback
from ..tfutils.common import get_op_tensor_name
from ..utils import logger
from ..utils.errors import say
from ..utils.stats import BinaryStatistics, RatioCounter

__all__ = ["BinaryClassificationStats", "ClassificationError", "Inferencer", "ScalarStats"]


class Inferencer(Callback):
    """Something that an ``InferenceRunner`` computes over its data.

    A subclass writes ``_get_fetches``, ``_on_fetches``, ``_before_inference`` and
    ``_after_inference``.

    Example:
        >>> class Largest(Inferencer):
        ...     def _before_inference(self):
        ...         self.value = -np.inf
        ...     def _get_fetches(self):
        ...         return ["cost"]
        ...     def _on_fetches(self, results):
        ...         self.value = max(self.value, results[0])
        ...     def _after_inference(self):
        ...         return {"largest_cost": self.value}
    """

    def _before_epoch(self) -> None:
        self._before_inference()

    def _before_inference(self) -> None:
        """Begin a pass."""

    def _trigger_epoch(self) -> None:
        for name, value in (self._after_inference() or {}).items():
            try:
                number = float(value)
            except (TypeError, ValueError):
                logger.warning("%s returned %s for %r, which is no number: it is not reported.",
                               type(self).__name__, type(value).__name__, name)
            else:
                self.trainer.monitors.put_scalar(name, number)

    def _after_inference(self) -> dict[str, Any] | None:
        """End a pass; return what to report, numbers by name."""
        return None

    def get_fetches(self) -> list[str]:
        """Return the names of the tensors it needs."""
        names = self._get_fetches()
        names = [names] if isinstance(names, str) else list(names)
        return [get_op_tensor_name(name)[1] for name in names]

    def _get_fetches(self) -> Sequence[str]:
        raise NotImplementedError(say(type(self).__name__, expected="a _get_fetches method",
                                      received="none", do="Write it in the subclass."))

    def on_fetches(self, results: Sequence[Any]) -> None:
        """Take the values for one datapoint, in the order of ``get_fetches``."""
        self._on_fetches(results)

    def _on_fetches(self, results: Sequence[Any]) -> None:
        raise NotImplementedError(say(type(self).__name__, expected="an _on_fetches method",
                                      received="none", do="Write it in the subclass."))


class ScalarStats(Inferencer):
    """Reports scalar tensors, averaged over all datapoints.

    Where batches differ in size, the average over them is not that over the samples: see
    ``ClassificationError``.

    Args:
        names: names of the tensors, or one.
        prefix: reported as ``<prefix>_<name>``, or under the bare name where it is empty.
    """

    def __init__(self, names: str | Sequence[str], prefix: str = "validation") -> None:
        self.names = [names] if isinstance(names, str) else list(names)
        self.prefix = prefix
        self.stats: list[Sequence[Any]] = []

    def _before_inference(self) -> None:
        self.stats = []

    def _get_fetches(self) -> list[str]:
        return self.names

    def _on_fetches(self, results: Sequence[Any]) -> None:
        for name, value in zip(self.names, results):
            if np.ndim(value) != 0:
                raise ValueError(say(f"ScalarStats, tensor {name!r}", expected="a scalar",
                                     received=f"the shape {np.shape(value)}",
                                     do="Take tf.reduce_mean of it, or use ClassificationError."))
        self.stats.append(results)

    def _after_inference(self) -> dict[str, Any]:
        means = np.mean(self.stats, axis=0) if self.stats else []
        names = [get_op_tensor_name(name)[0] for name in self.names]
        return {f"{self.prefix}_{name}" if self.prefix else name: mean
                for name, mean in zip(names, means)}


class ClassificationError(Inferencer):
    """Reports the share of samples that are wrong, over all samples of all batches.

    Args:
        wrong_tensor_name: name of a tensor with a 1 for each sample of the batch that is wrong,
            and a 0 for the others. With 1 for those that are right it reports the accuracy.
        summary_name: reported under this name.
    """

    def __init__(self, wrong_tensor_name: str = "incorrect_vector",
                 summary_name: str = "validation_error") -> None:
        self.wrong_tensor_name = wrong_tensor_name
        self.summary_name = summary_name
        self.err_stat = RatioCounter()

    def _before_inference(self) -> None:
        self.err_stat = RatioCounter()

    def _get_fetches(self) -> list[str]:
        return [self.wrong_tensor_name]

    def _on_fetches(self, results: Sequence[Any]) -> None:
        wrong = np.asarray(results[0])
        if wrong.ndim != 1:
            raise ValueError(say(f"ClassificationError, tensor {self.wrong_tensor_name!r}",
                                 expected="a vector, a number for each sample of the batch",
                                 received=f"the shape {wrong.shape}",
                                 do="Don't reduce it: pass e.g. 1 - tf.nn.in_top_k(...)."))
        self.err_stat.feed(np.sum(wrong), wrong.size)

    def _after_inference(self) -> dict[str, Any]:
        return {self.summary_name: self.err_stat.ratio}


class BinaryClassificationStats(Inferencer):
    """Reports precision and recall of predictions that are 0 or 1.

    Args:
        pred_tensor_name: name of the tensor of predictions.
        label_tensor_name: name of the tensor of labels, of the same shape.
        prefix: reported as ``<prefix>_precision`` and ``<prefix>_recall``.
    """

    def __init__(self, pred_tensor_name: str, label_tensor_name: str, prefix: str = "val") -> None:
        self.pred_tensor_name = pred_tensor_name
        self.label_tensor_name = label_tensor_name
        self.prefix = prefix
        self.stat = BinaryStatistics()

    def _before_inference(self) -> None:
        self.stat = BinaryStatistics()

    def _get_fetches(self) -> list[str]:
        return [self.pred_tensor_name, self.label_tensor_name]

    def _on_fetches(self, results: Sequence[Any]) -> None:
        self.stat.feed(*results)

    def _after_inference(self) -> dict[str, Any]:
        return {f"{self.prefix}_precision": self.stat.precision,
                f"{self.prefix}_recall": self.stat.recall}
