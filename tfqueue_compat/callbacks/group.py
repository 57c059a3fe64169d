# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of several callbacks called as one."""

from ..engine.group import Callbacks, CallbackTimeLogger
from ..utils import logger

__all__ = ["CallbackTimeLogger", "Callbacks", "logger"]
