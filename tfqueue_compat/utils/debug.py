# SPDX-License-Identifier: Apache-2.0
"""See what a program calls."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from . import logger

__all__ = ["enable_call_trace"]


def enable_call_trace() -> None:
    """Log each call of a Python function in this thread, with its caller, from now on."""
    def on_call(frame: FrameType, event: str, arg: Any) -> None:
        if event != "call" or "logging" in frame.f_code.co_filename:
            return
        caller = frame.f_back
        where = f"{caller.f_code.co_filename}:{caller.f_lineno}" if caller is not None else "?"
        sys.setprofile(None)  # the log line itself calls functions
        try:
            logger.info("Call to %s at %s:%d from %s", frame.f_code.co_name,
                        frame.f_code.co_filename, frame.f_lineno, where)
        finally:
            sys.setprofile(on_call)
    sys.setprofile(on_call)
