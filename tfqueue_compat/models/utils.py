# SPDX-License-Identifier: Apache-2.0
"""What layers hand out beside their output: their variables."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["VariableHolder", "disable_autograph"]

#: tensorpack's name of TensorFlow's decorator: autograph leaves the function alone.
disable_autograph = tf.autograph.experimental.do_not_convert


class VariableHolder:
    """Variables as attributes: ``Conv2D(...).variables.W``.

    Args:
        **kwargs: name -> variable.

    Example:
        >>> holder = VariableHolder(W=1)
        >>> holder.b = 2
        >>> holder.W, sorted(holder.all())
        (1, [1, 2])
    """

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__["_vars"] = {}
        for name, variable in kwargs.items():
            setattr(self, name, variable)

    def __setattr__(self, name: str, variable: Any) -> None:
        self._vars[name] = variable

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle ask for these
            raise AttributeError(name)
        try:
            return self.__dict__["_vars"][name]
        except KeyError:
            raise AttributeError(f"no variable {name!r}; there are {list(self._vars)}") from None

    def all(self) -> list[Any]:
        """Return all of them."""
        return list(self._vars.values())
