# SPDX-License-Identifier: Apache-2.0
"""A figure that saves itself to a file, and shows itself in a notebook."""

from __future__ import annotations

import io
import os
import textwrap
from typing import Any

from ..utils.errors import require

__all__ = ["Picture"]


class Picture:
    """A matplotlib figure made without pyplot: no window system, no global state.

    In a notebook, as the last value of a cell, it shows itself.

    Args:
        asked_by: the function that makes it, for the error where matplotlib is missing.
        rows: plots one below the other, which share the x axis.
        height: of each, in inches.

    Attributes:
        figure: the ``matplotlib.figure.Figure``.
        axes: its plots, from top to bottom.
    """

    def __init__(self, asked_by: str, rows: int = 1, height: float = 3.5) -> None:
        require("matplotlib", "matplotlib", asked_by)
        from matplotlib.figure import Figure
        self.figure: Any = Figure(figsize=(8, height * rows), layout="constrained")
        self.axes: list[Any] = list(self.figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])

    def title(self, *lines: str) -> None:
        """Put lines above the plots; long ones are folded."""
        folded = [part for line in lines for part in textwrap.wrap(line, 100)]
        self.axes[0].set_title("\n".join(folded), fontsize="medium")

    def save(self, path: str | os.PathLike[str]) -> str:
        """Write it to a file, in the format that the suffix says (``.png``, ``.svg``, ``.pdf``).

        Args:
            path: the file; missing folders are made.

        Returns:
            The path written.
        """
        path = os.fspath(path)
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self.figure.savefig(path)
        return path

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.figure.savefig(out, format="png")
        return out.getvalue()
