# SPDX-License-Identifier: Apache-2.0
"""What is done in training besides the steps: ``tensorpack.callbacks``.

A name is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..utils.errors import near

_HOMES = {
    "base": ("Callback", "CallbackFactory", "ProxyCallback"),
    "comet": ("CometMLMonitor",),
    "concurrency": ("StartProcOrThread",),
    "graph": ("CheckNumerics", "DumpParamAsImage", "DumpTensor", "DumpTensorAsImage",
              "DumpTensors", "ProcessTensors", "RunOp", "RunUpdateOps"),
    "group": ("Callbacks",),
    "hooks": ("CallbackToHook", "HookToCallback", "TFLocalCLIDebugHook"),
    "inference": ("BinaryClassificationStats", "ClassificationError", "Inferencer",
                  "ScalarStats"),
    "inference_runner": ("DataParallelInferenceRunner", "InferenceRunner",
                         "InferenceRunnerBase"),
    "misc": ("EstimatedTimeLeft", "InjectShell", "SendStat"),
    "monitor_base": ("MonitorBase", "Monitors"),
    "param": ("GraphVarParam", "HumanHyperParamSetter", "HyperParam", "HyperParamSetter",
              "HyperParamSetterWithFunc", "ObjAttrParam", "ScheduledHyperParamSetter",
              "StatMonitorParamSetter"),
    "prof": ("GPUMemoryTracker", "GPUUtilizationTracker", "GraphProfiler", "HostMemoryTracker",
             "PeakMemoryTracker", "ThroughputTracker"),
    "queue_size": ("QueueSize",),
    "saver": ("MaxSaver", "MinSaver", "ModelSaver"),
    "steps": ("MaintainStepCounter", "ProgressBar", "SessionRunTimeout", "TensorPrinter"),
    "summary": ("MergeAllSummaries", "MovingAverageSummary", "SimpleMovingAverage"),
    "trigger": ("EnableCallbackIf", "PeriodicCallback", "PeriodicRunHooks", "PeriodicTrigger"),
    "writers": ("JSONWriter", "ScalarPrinter", "SendMonitorData", "TFEventWriter"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_MODULES = frozenset({*_HOMES, "monitor", "stats"})

__all__ = [
    "BinaryClassificationStats", "Callback", "CallbackFactory", "CallbackToHook", "Callbacks",
    "CheckNumerics", "ClassificationError", "CometMLMonitor", "DataParallelInferenceRunner",
    "DumpParamAsImage", "DumpTensor", "DumpTensorAsImage", "DumpTensors", "EnableCallbackIf",
    "EstimatedTimeLeft", "GPUMemoryTracker", "GPUUtilizationTracker", "GraphProfiler",
    "GraphVarParam", "HookToCallback", "HostMemoryTracker", "HumanHyperParamSetter", "HyperParam",
    "HyperParamSetter", "HyperParamSetterWithFunc", "InferenceRunner", "InferenceRunnerBase",
    "Inferencer", "InjectShell", "JSONWriter", "MaintainStepCounter", "MaxSaver",
    "MergeAllSummaries", "MinSaver", "ModelSaver", "MonitorBase", "Monitors",
    "MovingAverageSummary", "ObjAttrParam", "PeakMemoryTracker", "PeriodicCallback",
    "PeriodicRunHooks", "PeriodicTrigger", "ProcessTensors", "ProgressBar", "ProxyCallback",
    "QueueSize", "RunOp", "RunUpdateOps", "ScalarPrinter", "ScalarStats",
    "ScheduledHyperParamSetter", "SendMonitorData", "SendStat", "SessionRunTimeout",
    "SimpleMovingAverage", "StartProcOrThread", "StatMonitorParamSetter", "TFEventWriter",
    "TFLocalCLIDebugHook", "TensorPrinter", "ThroughputTracker", "stats",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}."
                         f"{near(name, [*_HOME, *_MODULES])}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES})
