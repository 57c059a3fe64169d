# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of callbacks that lived here in old versions."""

from .graph import DumpParamAsImage
from .misc import InjectShell, SendStat

__all__ = ["DumpParamAsImage", "InjectShell", "SendStat"]
