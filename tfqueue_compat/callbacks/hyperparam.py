# SPDX-License-Identifier: Apache-2.0
"""What can be set while training runs: a variable of the graph, or an attribute of an object."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import tensorflow as tf

from ..tfutils.common import get_op_tensor_name
from ..utils.errors import say
from .graph import variable_named

__all__ = ["GraphVarParam", "HyperParam", "ObjAttrParam"]

v1 = tf.compat.v1


class HyperParam(metaclass=ABCMeta):
    """A value that can be read and set."""

    _readable_name: str = ""

    def setup_graph(self) -> None:
        """Find what it is in the graph, or add to it."""

    @abstractmethod
    def set_value(self, v: Any) -> None:
        """Set the value."""

    @abstractmethod
    def get_value(self) -> Any:
        """Return the value."""

    @property
    def readable_name(self) -> str:
        """Its name for people, in logs and in the file of ``HumanHyperParamSetter``."""
        return self._readable_name


class GraphVarParam(HyperParam):
    """A variable of the graph, e.g. the learning rate.

    Args:
        name: of the variable.
        shape: of the variable.
    """

    def __init__(self, name: str, shape: tuple[int, ...] = ()) -> None:
        self.name = name
        self.shape = tuple(shape)
        self._readable_name, self.var_name = get_op_tensor_name(name)
        self._var: Any = None
        self._value: Any = None
        self._assign: Any = None

    def setup_graph(self) -> None:
        """Find the variable.

        Raises:
            ValueError: where there is none, or it has another shape; near names are suggested.
        """
        self._var = variable_named("GraphVarParam", self.name)
        if not self._var.shape.is_compatible_with(self.shape):
            raise ValueError(say(f"GraphVarParam({self.name!r})",
                                 expected=f"a variable of shape {self.shape}",
                                 received=f"shape {self._var.shape}", do="Pass its shape."))
        self._value = v1.placeholder(self._var.dtype.base_dtype, self.shape)
        self._assign = v1.assign(self._var, self._value).op

    def set_value(self, v: Any) -> None:
        """Assign to the variable, in the default session."""
        v1.get_default_session().run(self._assign, {self._value.name: v})

    def get_value(self) -> Any:
        """Read the variable, in the default session."""
        return v1.get_default_session().run(self._var)


class ObjAttrParam(HyperParam):
    """An attribute of an object.

    Args:
        obj: the object.
        attrname: the attribute.
        readable_name: its name for people; by default the attribute's.

    Example:
        >>> from types import SimpleNamespace
        >>> param = ObjAttrParam(SimpleNamespace(rate=1.0), "rate")
        >>> param.set_value(0.5)
        >>> param.readable_name, param.get_value()
        ('rate', 0.5)
    """

    def __init__(self, obj: Any, attrname: str, readable_name: str | None = None) -> None:
        self.obj = obj
        self.attrname = attrname
        self._readable_name = attrname if readable_name is None else readable_name

    def set_value(self, v: Any) -> None:
        """Set the attribute."""
        setattr(self.obj, self.attrname, v)

    def get_value(self) -> Any:
        """Return the attribute."""
        return getattr(self.obj, self.attrname)
