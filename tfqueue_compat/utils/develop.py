# SPDX-License-Identifier: Apache-2.0
"""For those who write libraries: dummies for missing packages, deprecations, lazy modules."""

from __future__ import annotations

import functools
import importlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeVar

from . import logger

__all__ = ["HIDE_DOC", "LazyLoader", "building_rtfd", "create_dummy_class", "create_dummy_func",
           "deprecated", "log_deprecated"]

F = TypeVar("F", bound=Callable[..., Any])
_warned: Counter[str] = Counter()


def _missing(name: str, dependency: str | Iterable[str]) -> str:
    wanted = dependency if isinstance(dependency, str) else ", ".join(dependency)
    return f"Cannot import {wanted!r}, therefore {name!r} is not available. Do: install it."


def create_dummy_class(klass: str, dependency: str | Iterable[str]) -> type:
    """Return a class that raises ImportError when it is used in place of ``klass``.

    Args:
        klass: name of the class that cannot be defined.
        dependency: name (or names) of the package that is missing.

    Example:
        >>> Dummy = create_dummy_class("HDF5Data", "h5py")
        >>> try:
        ...     Dummy()
        ... except ImportError as e:
        ...     print("h5py" in str(e))
        True
    """
    text = _missing(klass, dependency)

    class _Meta(type):
        def __getattr__(cls, name: str) -> Any:
            if name.startswith("__"):  # doctest, pickle and abc ask for these
                raise AttributeError(name)
            raise ImportError(text)

    class _Dummy(metaclass=_Meta):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise ImportError(text)

    _Dummy.__name__ = _Dummy.__qualname__ = klass
    return _Dummy


def create_dummy_func(func: str, dependency: str | Iterable[str]) -> Callable[..., Any]:
    """Return a function that raises ImportError when it is called in place of ``func``."""
    text = _missing(func, dependency)

    def dummy(*args: Any, **kwargs: Any) -> Any:
        raise ImportError(text)

    dummy.__name__ = dummy.__qualname__ = func
    return dummy


def building_rtfd() -> bool:
    """Tell whether the documentation is being built (``READTHEDOCS`` or ``DOC_BUILDING`` set)."""
    return os.environ.get("READTHEDOCS") == "True" or bool(os.environ.get("DOC_BUILDING"))


def log_deprecated(name: str = "", text: str = "", eos: str = "",
                   max_num_warnings: int | None = None) -> None:
    """Log that something is deprecated.

    Args:
        name: what is deprecated.
        text: what to do instead.
        eos: end of service, as ``"YYYY-MM-DD"``.
        max_num_warnings: be silent after so many warnings about ``name``.
    """
    _log_deprecated(name, text, eos, max_num_warnings, stacklevel=3)


def _log_deprecated(name: str, text: str, eos: str, max_num_warnings: int | None,
                    stacklevel: int) -> None:
    if not name and not text:
        raise ValueError("log_deprecated: Expected a name or a text. Received neither. "
                         "Do: pass name=.")
    key = name or text
    _warned[key] += 1
    if max_num_warnings is not None and _warned[key] > max_num_warnings:
        return
    parts = [f"{name} is deprecated." if name else "", text, f"It ends on {eos}." if eos else ""]
    logger.warning("[Deprecated] %s", " ".join(p for p in parts if p), stacklevel=stacklevel)


def deprecated(text: str = "", eos: str = "",
               max_num_warnings: int | None = None) -> Callable[[F], F]:
    """Return a decorator that logs a deprecation at each call of the function.

    Args:
        text: what to use instead.
        eos: end of service, as ``"YYYY-MM-DD"``.
        max_num_warnings: be silent after so many calls.
    """
    def decorate(func: F) -> F:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            name = getattr(func, "__qualname__", str(func))
            _log_deprecated(name, text, eos, max_num_warnings, stacklevel=3)
            return func(*args, **kwargs)
        return wrapper  # type: ignore[return-value]
    return decorate


def HIDE_DOC(func: F) -> F:
    """Mark a function as not to be documented, and return it."""
    func.__HIDE_SPHINX_DOC__ = True  # type: ignore[attr-defined]
    return func


class LazyLoader(ModuleType):
    """A module that is imported when an attribute of it is first asked for.

    Args:
        local_name: name it has in the importing module.
        parent_module_globals: ``globals()`` of that module; the real module replaces this there.
        name: full name of the module to import.
    """

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str) -> None:
        super().__init__(name)
        self.__dict__["_local"] = (local_name, parent_module_globals)

    def _load(self) -> ModuleType:
        module = importlib.import_module(self.__name__)
        local_name, namespace = self._local
        namespace[local_name] = module
        self.__dict__.update(module.__dict__)
        return module

    def __getattr__(self, item: str) -> Any:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
