# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of tfutils and models run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tfqueue_compat.models
import tfqueue_compat.tfutils

MODULES = [f"{package.__name__}.{module.name}"
           for package in (tfqueue_compat.models, tfqueue_compat.tfutils)
           for module in pkgutil.iter_modules(package.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # the log goes to stdout, where doctest looks for results
    monkeypatch.setattr(tfqueue_compat.utils.logger, "info", lambda *args, **kwargs: None)
    assert doctest.testmod(importlib.import_module(name)).failed == 0
