# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import tfqueue_compat.dataflow
import tfqueue_compat.utils

MODULES = [f"{package.__name__}.{module.name}"
           for package in (tfqueue_compat.dataflow, tfqueue_compat.dataflow.dataset,
                           tfqueue_compat.utils)
           for module in pkgutil.iter_modules(package.__path__) if not module.ispkg]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
