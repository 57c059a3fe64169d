# SPDX-License-Identifier: Apache-2.0
"""A place for a program's global settings, as scripts before tensorpack 0.9 use it."""

from __future__ import annotations

import argparse

__all__ = ["globalns", "use_global_argument"]

globalns = argparse.Namespace()


def use_global_argument(args: argparse.Namespace) -> None:
    """Put all parsed arguments into ``globalns``.

    Args:
        args: what ``parser.parse_args()`` returned.
    """
    vars(globalns).update(vars(args))
