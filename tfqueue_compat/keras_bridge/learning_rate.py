# SPDX-License-Identifier: Apache-2.0
"""What Keras' callbacks want of ``model.optimizer``: the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..utils.errors import near, say

__all__ = ["OptimizerFace"]

_NAME = "learning_rate"


class OptimizerFace:
    """Stands for a Keras optimizer where TF 1's optimizer trains.

    Its ``learning_rate`` is the variable of that name, as most of tensorpack's models have one:
    ``LearningRateScheduler`` and ``ReduceLROnPlateau`` read and set it.

    Args:
        variables: returns the variables by their names.
        read: from a variable to its value.
        write: sets a variable to a value.
    """

    built = False  # Keras looks for the variables of one that is: these are the model's own

    def __init__(self, variables: Callable[[], dict[str, Any]], read: Callable[[Any], Any],
                 write: Callable[[Any, Any], None]) -> None:
        self._variables = variables
        self._read = read
        self._write = write

    @property
    def learning_rate(self) -> Any:
        """The learning rate.

        Raises:
            AttributeError: where the model has no such variable.
        """
        return self._read(self._variable())

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self._write(self._variable(), value)

    def _variable(self) -> Any:
        there = self._variables()
        if _NAME not in there:
            raise AttributeError(say(
                "model.optimizer.learning_rate", expected=f"a variable {_NAME!r} in the model",
                received="none", do=f"Make it in optimizer(): tf.get_variable({_NAME!r}, "
                "initializer=1e-3, trainable=False)." + near(_NAME, there)))
        return there[_NAME]
