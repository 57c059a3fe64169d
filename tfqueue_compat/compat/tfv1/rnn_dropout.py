# SPDX-License-Identifier: Apache-2.0
"""Dropout around TF 1's recurrent cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ...utils.errors import say
from .rnn_base import LSTMStateTuple
from .rnn_wrappers import CellWrapper

__all__ = ["DropoutWrapper"]

v1 = tf.compat.v1


class DropoutWrapper(CellWrapper):
    """Dropout on a cell's inputs, outputs and states.

    Args:
        cell: the cell.
        input_keep_prob: share of the inputs kept, a number or a scalar tensor.
        output_keep_prob: share of the outputs kept.
        state_keep_prob: share of the states kept; by default an LSTM's ``c`` is spared.
        variational_recurrent: use one mask for all time steps (Gal & Ghahramani 2015,
            arXiv:1512.05287); needs ``dtype``, and ``input_size`` where inputs are dropped.
        seed: seed of the masks.
        dropout_state_filter_visitor: maps a state to the structure of bools to drop.

    Raises:
        ValueError: for a number outside (0, 1], or a missing ``dtype`` or ``input_size``.
    """

    def __init__(self, cell: Any, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0,
                 state_keep_prob: Any = 1.0, variational_recurrent: bool = False,
                 input_size: Any = None, dtype: Any = None, seed: int | None = None,
                 dropout_state_filter_visitor: Callable[[Any], Any] | None = None,
                 **kwargs: Any) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        self._keep = {"input": input_keep_prob, "state": state_keep_prob,
                      "output": output_keep_prob}
        for part, keep in self._keep.items():
            if not tf.is_tensor(keep) and not 0 < keep <= 1:
                raise ValueError(say(f"DropoutWrapper {part}_keep_prob", expected="0 < p <= 1",
                                     received=repr(keep), do="Pass the share to keep."))
        self._seed = seed
        self._filter = dropout_state_filter_visitor or _all_but_c
        self._noise: dict[str, Any] = {}
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _drops(self, part: str) -> bool:
        keep = self._keep[part]
        return tf.is_tensor(keep) or keep < 1

    def _seed_of(self, part: str) -> int | None:
        # Another mask for each part, the same one in each run.
        return None if self._seed is None else self._seed + sum(part.encode())

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None or (self._drops("input") and input_size is None):
            raise ValueError(say(
                "DropoutWrapper with variational_recurrent", expected="dtype and input_size",
                received=f"dtype={dtype}, input_size={input_size}", do="Pass both."))
        sizes = {"input": input_size, "state": self.state_size, "output": self.output_size}
        for part, size in sizes.items():
            if self._drops(part):
                self._noise[part] = _map_sizes(
                    lambda shape, part=part: tf.random.uniform(
                        [1, *shape], seed=self._seed_of(part), dtype=dtype), size)

    def _dropped(self, part: str, values: Any, which: Any = True) -> Any:
        def one(drop: Any, value: Any, noise: Any = None) -> Any:
            if not drop or isinstance(value, tf.TensorArray):
                return value
            keep = tf.cast(self._keep[part], value.dtype)
            if noise is None:
                return v1.nn.dropout(value, rate=1 - keep, seed=self._seed_of(part))
            kept = value / keep * tf.floor(keep + noise)
            kept.set_shape(value.shape)
            return kept

        flat = tf.nest.flatten(values)
        which = tf.nest.flatten(which) if tf.nest.is_nested(which) else [which] * len(flat)
        noise = tf.nest.flatten(self._noise[part]) if part in self._noise else [None] * len(flat)
        return tf.nest.pack_sequence_as(values, [one(*z) for z in zip(which, flat, noise)])

    def _step(self, inputs: Any, state: Any, run: Callable[..., Any]) -> tuple[Any, Any]:
        if self._drops("input"):
            inputs = self._dropped("input", inputs)
        output, state = run(inputs, state)
        if self._drops("state"):
            state = self._dropped("state", state, _spread(self._filter, state))
        if self._drops("output"):
            output = self._dropped("output", output)
        return output, state


def _all_but_c(state: Any) -> Any:
    return LSTMStateTuple(c=False, h=True) if isinstance(state, LSTMStateTuple) else True


def _spread(decide: Callable[[Any], Any], state: Any) -> Any:
    """Ask about a state, and about its parts where the answer for a plain tuple is just True."""
    answer = decide(state)
    if isinstance(state, (list, tuple)) and answer is True:
        return tuple(_spread(decide, part) for part in state)
    return answer


def _map_sizes(make: Callable[..., Any], size: Any) -> Any:
    def one(s: Any) -> Any:
        return make([int(s)] if hasattr(s, "__index__") else tf.TensorShape(s).as_list())

    return one(size) if isinstance(size, tf.TensorShape) else tf.nest.map_structure(one, size)
