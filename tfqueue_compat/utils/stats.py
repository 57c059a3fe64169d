# SPDX-License-Identifier: Apache-2.0
"""Counters that are fed one value after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import say

__all__ = ["Accuracy", "BinaryStatistics", "OnlineMoments", "RatioCounter", "StatCounter"]


class StatCounter:
    """Keep values, and tell their sum, average, largest and smallest.

    Example:
        >>> counter = StatCounter()
        >>> for v in (1, 2, 6):
        ...     counter.feed(v)
        >>> float(counter.average), float(counter.max), counter.count
        (3.0, 6.0, 3)
    """

    def __init__(self) -> None:
        self.reset()

    def feed(self, v: Any) -> None:
        """Take a value: a number, or an array, always of one shape."""
        self._values.append(v)

    def reset(self) -> None:
        """Forget all values."""
        self._values: list[Any] = []

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self._values)

    def _fed(self) -> list[Any]:
        if not self._values:
            raise ValueError(say("StatCounter", expected="at least one value", received="none",
                                 do="Call feed() first."))
        return self._values

    @property
    def average(self) -> Any:
        """Mean over the values."""
        return np.mean(self._fed(), axis=0)

    @property
    def sum(self) -> Any:
        """Sum of the values."""
        return np.sum(self._fed(), axis=0)

    @property
    def max(self) -> Any:
        """Largest value."""
        return max(self._fed())

    @property
    def min(self) -> Any:
        """Smallest value."""
        return min(self._fed())

    def samples(self) -> list[Any]:
        """Return all values."""
        return self._values


class RatioCounter:
    """Count how often something happened, of how many times."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start from zero."""
        self._count: Any = 0
        self._total: Any = 0

    def feed(self, count: Any, total: Any = 1) -> None:
        """Add ``count`` events out of ``total``."""
        self._count += count
        self._total += total

    @property
    def ratio(self) -> Any:
        """Events of total; 0 before anything was fed."""
        return self._count * 1.0 / self._total if self._total else 0

    @property
    def total(self) -> Any:
        """The total."""
        return self._total

    @property
    def count(self) -> Any:
        """The events."""
        return self._count


class Accuracy(RatioCounter):
    """A :class:`RatioCounter` whose ratio is called ``accuracy``."""

    @property
    def accuracy(self) -> Any:
        """The ratio."""
        return self.ratio


class BinaryStatistics:
    """Precision and recall of yes-or-no predictions.

    Example:
        >>> s = BinaryStatistics()
        >>> s.feed(np.array([1, 1, 0]), np.array([1, 0, 0]))
        >>> float(s.precision), float(s.recall)
        (0.5, 1.0)
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start from zero."""
        self.nr_pos = self.nr_neg = 0  # labels
        self.nr_pred_pos = self.nr_pred_neg = 0
        self.corr_pos = self.corr_neg = 0  # right predictions

    def feed(self, pred: Any, label: Any) -> None:
        """Take predictions and labels.

        Args:
            pred: array of 0 and 1.
            label: the same, of the same shape.
        """
        pred, label = np.asarray(pred), np.asarray(label)
        if pred.shape != label.shape:
            raise ValueError(say("BinaryStatistics", expected=f"labels of shape {pred.shape}",
                                 received=str(label.shape), do="Feed arrays of one shape."))
        self.nr_pos += (label == 1).sum()
        self.nr_neg += (label == 0).sum()
        self.nr_pred_pos += (pred == 1).sum()
        self.nr_pred_neg += (pred == 0).sum()
        self.corr_pos += ((pred == 1) & (label == 1)).sum()
        self.corr_neg += ((pred == 0) & (label == 0)).sum()

    @property
    def precision(self) -> Any:
        """Of those predicted 1, how many are 1."""
        return self.corr_pos / self.nr_pred_pos if self.nr_pred_pos else 0

    @property
    def recall(self) -> Any:
        """Of those that are 1, how many were predicted 1."""
        return self.corr_pos / self.nr_pos if self.nr_pos else 0

    @property
    def false_positive(self) -> Any:
        """``1 - precision``, as tensorpack has it."""
        return 1 - self.precision if self.nr_pred_pos else 0

    @property
    def false_negative(self) -> Any:
        """``1 - recall``, as tensorpack has it."""
        return 1 - self.recall if self.nr_pos else 0


class OnlineMoments:
    """Mean and variance of values that are not kept (Welford's method)."""

    def __init__(self) -> None:
        self._n = 0
        self._mean: Any = 0
        self._squares: Any = 0

    def feed(self, x: Any) -> None:
        """Take a value: a number, or an array, always of one shape."""
        self._n += 1
        delta = x - self._mean
        self._mean = self._mean + delta / self._n
        self._squares = self._squares + delta * (x - self._mean)

    @property
    def mean(self) -> Any:
        """Mean of the values; 0 before the first."""
        return self._mean

    @property
    def variance(self) -> Any:
        """Their variance, with ``n - 1`` below; 0 for fewer than two."""
        return self._squares / (self._n - 1) if self._n > 1 else self._squares * 0.0

    @property
    def std(self) -> Any:
        """The square root of the variance."""
        return np.sqrt(self.variance)
