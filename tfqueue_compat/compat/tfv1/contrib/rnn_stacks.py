# SPDX-License-Identifier: Apache-2.0
"""contrib.rnn's stacks of bidirectional networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ....utils.errors import say

__all__ = ["stack_bidirectional_dynamic_rnn"]

v1 = tf.compat.v1


def stack_bidirectional_dynamic_rnn(
        cells_fw: Sequence[Any], cells_bw: Sequence[Any], inputs: Any,
        initial_states_fw: Sequence[Any] | None = None,
        initial_states_bw: Sequence[Any] | None = None, dtype: Any = None,
        sequence_length: Any = None, parallel_iterations: int | None = None,
        time_major: bool = False, scope: Any = None) -> tuple[Any, Any, Any]:
    """Run bidirectional layers on top of each other; each gets both directions of the last.

    Args:
        cells_fw: one cell a layer, forwards.
        cells_bw: one cell a layer, backwards.
        inputs: (batch, time, input), or (time, batch, input) with ``time_major``.

    Returns:
        (outputs, forward states, backward states): outputs (batch, time, 2 * unit) of the last
        layer, and a tuple of one state a layer for each direction.

    Raises:
        ValueError: where the lists are empty or differ in length.
    """
    if not cells_fw or len(cells_fw) != len(cells_bw):
        raise ValueError(say("stack_bidirectional_dynamic_rnn", expected="as many cells each way",
                             received=f"{len(cells_fw)} and {len(cells_bw)}",
                             do="Pass two lists of cells of one length."))
    states_fw, states_bw = [], []
    with v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw)):
            with v1.variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = v1.nn.bidirectional_dynamic_rnn(
                    fw, bw, inputs, sequence_length=sequence_length, dtype=dtype,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    parallel_iterations=parallel_iterations, time_major=time_major)
                inputs = tf.concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)
