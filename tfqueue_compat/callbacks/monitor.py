# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the monitors."""

from ..utils import fs, logger
from .comet import CometMLMonitor
from .monitor_base import MonitorBase, Monitors, NoOpMonitor, ScalarHistory, image_to_nhwc
from .writers import JSONWriter, ScalarPrinter, SendMonitorData, TFEventWriter

__all__ = ["CometMLMonitor", "JSONWriter", "MonitorBase", "Monitors", "NoOpMonitor",
           "ScalarHistory", "ScalarPrinter", "SendMonitorData", "TFEventWriter", "fs",
           "image_to_nhwc", "logger"]
