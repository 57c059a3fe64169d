# SPDX-License-Identifier: Apache-2.0
"""StagingInput: data that is on the device before the step that uses it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from .input_source_base import ProxyInputSource, SessionRunHook
from ..utils.errors import say

__all__ = ["StagingInput"]


class StagingInput(ProxyInputSource):
    """Moves another input's tensors to the device some steps ahead.

    The hook of ``get_callbacks()`` fills the stage when the session starts, and moves the next
    datapoint while a step computes. Without the hook each run moves its own datapoint.

    Args:
        input: an input source that needs no feeds.
        nr_stage: datapoints that are staged ahead.
        device: where to, e.g. ``/gpu:0``; by default where ``get_input_tensors`` is called.
    """

    class StagingCallback(SessionRunHook):
        """Fills the stage at the start and keeps it filled."""

        def __init__(self, input: StagingInput, nr_stage: int) -> None:
            self._input = input
            self.nr_stage = nr_stage

        def after_create_session(self, session: Any, coord: Any) -> None:
            """Fill the stage."""
            for _ in range(self.nr_stage):
                session.run(self._input.stage_ops())

    def __init__(self, input: Any, nr_stage: int = 1, device: str | None = None) -> None:
        super().__init__(input)
        if not isinstance(nr_stage, int) or nr_stage < 1:
            raise ValueError(say("StagingInput", expected="nr_stage: an int of at least 1",
                                 received=repr(nr_stage), do="Say how many to stage ahead."))
        self.nr_stage = nr_stage
        self._device = device
        self._areas = 0
        self._stage_ops: list[tf.Operation] = []

    def stage_ops(self) -> list[tf.Operation]:
        """The operations that move one more datapoint to each tower's device."""
        return self._stage_ops

    def _get_input_tensors(self) -> list[tf.Tensor]:
        tensors = self._input.get_input_tensors()
        with self.cached_name_scope(), tf.device(self._device):
            name = f"{type(self).__name__}_{id(self)}_{self._areas}"
            self._areas += 1
            stage = tf.raw_ops.Stage(values=[tf.identity(t) for t in tensors],
                                     shared_name=name)
            self._stage_ops.append(stage)
            # The next datapoint goes in whenever one comes out: the stage never runs empty.
            with tf.control_dependencies([stage]):
                staged = tf.raw_ops.Unstage(dtypes=[t.dtype for t in tensors], shared_name=name)
        for out, tensor in zip(staged, tensors):
            out.set_shape(tensor.shape)
        return list(staged)

    def _get_callbacks(self) -> Sequence[Any]:
        return [*self._input.get_callbacks(), self.StagingCallback(self, self.nr_stage)]
