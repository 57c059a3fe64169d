# SPDX-License-Identifier: Apache-2.0
"""The front door: every name of tensorpack's root, found when it is first asked for.

Importing this loads neither TensorFlow nor any room of the package.

Example:
    >>> import tfqueue_compat as tp
    >>> tp.__version__.count(".")
    2
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from .libinfo import __version__

#: What ``from tfqueue_compat import *`` binds: tensorpack's names, and no room of ours besides.
__all__ = [
    "AsyncMultiGPUTrainer", "AugmentImageComponent", "AugmentImageComponents",
    "AugmentImageCoordinates", "AutoResumeTrainConfig", "AvgPooling", "BNReLU",
    "BatchData", "BatchDataByShape", "BatchNorm", "BatchQueueInput", "BatchRenorm",
    "BinaryClassificationStats", "BytePSTrainer", "CacheData", "CaffeLMDB", "Callback",
    "CallbackFactory", "CallbackToHook", "Callbacks", "ChainInit", "CheckNumerics",
    "ClassificationError", "CometMLMonitor", "ConcatData", "ConcatWith", "Conv2D",
    "Conv2DTranspose", "DEFAULT_CALLBACKS", "DEFAULT_MONITORS", "DataFlow",
    "DataFlowTerminated", "DataFromGenerator", "DataFromIterable", "DataFromList",
    "DataFromQueue", "DataParallelInferenceRunner", "DataParallelOfflinePredictor",
    "DatasetPredictorBase", "Deconv2D", "DictRestore", "DistributedTrainerParameterServer",
    "DistributedTrainerReplicated", "Dropout", "DummyConstantInput", "DumpParamAsImage",
    "DumpTensor", "DumpTensorAsImage", "DumpTensors", "EnableCallbackIf",
    "EstimatedTimeLeft", "FakeData", "FeedInput", "FeedfreeInput", "FeedfreePredictor",
    "FixedSizeData", "FixedUnPooling", "FullyConnected", "GPUMemoryTracker",
    "GPUUtilizationTracker", "GlobalAvgPooling", "GraphProfiler", "GraphVarParam",
    "HDF5Data", "HDF5Serializer", "HookToCallback", "HorovodTrainer", "HostMemoryTracker",
    "HumanHyperParamSetter", "HyperParam", "HyperParamSetter", "HyperParamSetterWithFunc",
    "ImageFromFile", "InferenceRunner", "InferenceRunnerBase", "Inferencer", "InjectShell",
    "InputSource", "InstanceNorm", "JSONWriter", "JoinData", "JustCurrentSession",
    "LMDBData", "LMDBDataDecoder", "LMDBSerializer", "LayerNorm", "LinearWrap",
    "LocallyShuffleData", "MapData", "MapDataComponent", "MaxPooling", "MaxSaver",
    "Maxout", "MergeAllSummaries", "MinSaver", "ModelDesc", "ModelDescBase", "ModelSaver",
    "MonitorBase", "Monitors", "MovingAverageSummary", "MultiProcessDatasetPredictor",
    "MultiProcessMapAndBatchData", "MultiProcessMapAndBatchDataZMQ", "MultiProcessMapData",
    "MultiProcessMapDataZMQ", "MultiProcessPrefetchData", "MultiProcessRunner",
    "MultiProcessRunnerZMQ", "MultiThreadAsyncPredictor", "MultiThreadMapData",
    "MultiThreadPrefetchData", "MultiThreadRunner", "MultiTowerOfflinePredictor",
    "NoOpTrainer", "NumpySerializer", "ObjAttrParam", "OfflinePredictor",
    "OnlinePredictor", "PReLU", "PeakMemoryTracker", "PeriodicCallback", "PeriodicTrigger",
    "PlaceholderInput", "PredictConfig", "PredictorBase", "PrefetchData",
    "PrefetchDataZMQ", "PrintData", "ProcessTensors", "ProgressBar", "ProxyCallback",
    "ProxyDataFlow", "QueueInput", "QueueInputTrainer", "RNGDataFlow", "RandomChooseData",
    "RandomMixData", "RemoteDataZMQ", "RepeatedData", "RepeatedDataPoint", "RunOp",
    "RunUpdateOps", "SVMLightData", "SaverRestore", "SaverRestoreRelaxed", "ScalarPrinter",
    "ScalarStats", "ScheduledHyperParamSetter", "SelectComponent", "SendMonitorData",
    "SendStat", "SessionInit", "SessionRunTimeout", "SimpleDatasetPredictor",
    "SimpleMovingAverage", "SimpleTrainer", "SingleCostTrainer", "SmartInit",
    "StagingInput", "StartProcOrThread", "StatMonitorParamSetter", "StopTraining",
    "SyncMultiGPUTrainer", "SyncMultiGPUTrainerParameterServer",
    "SyncMultiGPUTrainerReplicated", "TFDatasetInput", "TFEventWriter",
    "TFLocalCLIDebugHook", "TFRecordSerializer", "TensorInput", "TensorPrinter",
    "TestDataSpeed", "ThroughputTracker", "TowerContext", "TowerTrainer", "TrainConfig",
    "Trainer", "VariableHolder", "ZMQInput", "argscope", "callbacks", "change_env",
    "change_gpu", "collect_env_info", "compat", "dataflow",
    "dataset",
    "disable_layer_logging", "enable_argscope_for_function", "enable_argscope_for_module",
    "execute_only_once", "fix_rng_seed", "get_arg_scope",
    "get_current_tower_context", "get_default_sess_config", "get_global_step_value",
    "get_global_step_var", "get_model_loader", "get_nr_gpu", "get_rng",
    "get_tf_version_tuple", "get_tqdm", "gradproc", "graph_builder", "humanize_time_delta",
    "imgaug", "input_source", "install", "l1_regularizer", "l2_regularizer",
    "launch_train_with_config", "layer_register", "libinfo", "logger", "models",
    "optimizer", "predict", "regularize_cost", "regularize_cost_from_collection",
    "remap_input_source", "rename_tflayer_get_variable", "send_dataflow_zmq", "sesscreate",
    "sessinit", "summary", "symbolic_functions", "tfutils", "tfv1", "tower", "train",
    "uninstall", "utils", "varreplace",
]

#: Modules that are attributes of the root, and where they live.
_ROOMS: dict[str, str] = {
    "callbacks": "callbacks",
    "cli": "cli",
    "compat": "compat",
    "contrib": "contrib",
    "dataflow": "dataflow", "dataset": "dataflow.dataset", "imgaug": "dataflow.imgaug",
    "engine": "engine",
    "graph_builder": "graph_builder",
    "input_source": "input_source",
    "keras_bridge": "keras_bridge",
    "libinfo": "libinfo",
    "models": "models",
    "plots": "plots",
    "predict": "predict",
    "tfutils": "tfutils", "gradproc": "tfutils.gradproc", "optimizer": "tfutils.optimizer",
    "sesscreate": "tfutils.sesscreate", "sessinit": "tfutils.sessinit",
    "summary": "tfutils.summary", "symbolic_functions": "tfutils.symbolic_functions",
    "tower": "tfutils.tower", "varreplace": "tfutils.varreplace",
    "train": "train",
    "utils": "utils", "logger": "utils.logger",
}

#: Classes, functions and values of the root, and the module that defines each.
_NAMES: dict[str, str] = {
    "Callback": "callbacks.base", "CallbackFactory": "callbacks.base",
    "ProxyCallback": "callbacks.base", "StartProcOrThread": "callbacks.concurrency",
    "CheckNumerics": "callbacks.graph", "DumpParamAsImage": "callbacks.graph",
    "DumpTensor": "callbacks.graph", "DumpTensorAsImage": "callbacks.graph",
    "DumpTensors": "callbacks.graph", "ProcessTensors": "callbacks.graph",
    "RunOp": "callbacks.graph", "RunUpdateOps": "callbacks.graph", "Callbacks": "callbacks.group",
    "CallbackToHook": "callbacks.hooks", "HookToCallback": "callbacks.hooks",
    "TFLocalCLIDebugHook": "callbacks.hooks", "BinaryClassificationStats": "callbacks.inference",
    "ClassificationError": "callbacks.inference", "Inferencer": "callbacks.inference",
    "ScalarStats": "callbacks.inference",
    "DataParallelInferenceRunner": "callbacks.inference_runner",
    "InferenceRunner": "callbacks.inference_runner",
    "InferenceRunnerBase": "callbacks.inference_runner", "EstimatedTimeLeft": "callbacks.misc",
    "InjectShell": "callbacks.misc", "SendStat": "callbacks.misc",
    "CometMLMonitor": "callbacks.monitor", "JSONWriter": "callbacks.monitor",
    "MonitorBase": "callbacks.monitor", "Monitors": "callbacks.monitor",
    "ScalarPrinter": "callbacks.monitor", "SendMonitorData": "callbacks.monitor",
    "TFEventWriter": "callbacks.monitor", "GraphVarParam": "callbacks.param",
    "HumanHyperParamSetter": "callbacks.param", "HyperParam": "callbacks.param",
    "HyperParamSetter": "callbacks.param", "HyperParamSetterWithFunc": "callbacks.param",
    "ObjAttrParam": "callbacks.param", "ScheduledHyperParamSetter": "callbacks.param",
    "StatMonitorParamSetter": "callbacks.param", "GPUMemoryTracker": "callbacks.prof",
    "GPUUtilizationTracker": "callbacks.prof", "GraphProfiler": "callbacks.prof",
    "HostMemoryTracker": "callbacks.prof", "PeakMemoryTracker": "callbacks.prof",
    "ThroughputTracker": "callbacks.prof", "MaxSaver": "callbacks.saver",
    "MinSaver": "callbacks.saver", "ModelSaver": "callbacks.saver",
    "ProgressBar": "callbacks.steps", "SessionRunTimeout": "callbacks.steps",
    "TensorPrinter": "callbacks.steps", "MergeAllSummaries": "callbacks.summary",
    "MovingAverageSummary": "callbacks.summary", "SimpleMovingAverage": "callbacks.summary",
    "EnableCallbackIf": "callbacks.trigger", "PeriodicCallback": "callbacks.trigger",
    "PeriodicTrigger": "callbacks.trigger",
    "install": "cli.alias", "uninstall": "cli.alias",
    "tfv1": "compat",
    "DataFlow": "dataflow.base", "DataFlowTerminated": "dataflow.base",
    "ProxyDataFlow": "dataflow.base", "RNGDataFlow": "dataflow.base",
    "BatchData": "dataflow.common", "BatchDataByShape": "dataflow.common",
    "CacheData": "dataflow.common", "ConcatData": "dataflow.common",
    "FixedSizeData": "dataflow.common", "JoinData": "dataflow.common",
    "LocallyShuffleData": "dataflow.common", "MapData": "dataflow.common",
    "MapDataComponent": "dataflow.common", "PrintData": "dataflow.common",
    "RandomChooseData": "dataflow.common", "RandomMixData": "dataflow.common",
    "RepeatedData": "dataflow.common", "RepeatedDataPoint": "dataflow.common",
    "SelectComponent": "dataflow.common", "TestDataSpeed": "dataflow.common",
    "CaffeLMDB": "dataflow.format", "HDF5Data": "dataflow.format", "LMDBData": "dataflow.format",
    "LMDBDataDecoder": "dataflow.format", "SVMLightData": "dataflow.format",
    "AugmentImageComponent": "dataflow.image", "AugmentImageComponents": "dataflow.image",
    "AugmentImageCoordinates": "dataflow.image", "ImageFromFile": "dataflow.image",
    "MultiProcessPrefetchData": "dataflow.parallel", "MultiProcessRunner": "dataflow.parallel",
    "MultiProcessRunnerZMQ": "dataflow.parallel", "MultiThreadPrefetchData": "dataflow.parallel",
    "MultiThreadRunner": "dataflow.parallel", "PrefetchData": "dataflow.parallel",
    "PrefetchDataZMQ": "dataflow.parallel", "MultiProcessMapAndBatchData": "dataflow.parallel_map",
    "MultiProcessMapAndBatchDataZMQ": "dataflow.parallel_map",
    "MultiProcessMapData": "dataflow.parallel_map",
    "MultiProcessMapDataZMQ": "dataflow.parallel_map",
    "MultiThreadMapData": "dataflow.parallel_map", "DataFromGenerator": "dataflow.raw",
    "DataFromIterable": "dataflow.raw", "DataFromList": "dataflow.raw",
    "DataFromQueue": "dataflow.raw", "FakeData": "dataflow.raw", "RemoteDataZMQ": "dataflow.remote",
    "send_dataflow_zmq": "dataflow.remote", "HDF5Serializer": "dataflow.serialize",
    "LMDBSerializer": "dataflow.serialize", "NumpySerializer": "dataflow.serialize",
    "TFRecordSerializer": "dataflow.serialize",
    "BatchQueueInput": "input_source.input_source",
    "DummyConstantInput": "input_source.input_source", "FeedInput": "input_source.input_source",
    "FeedfreeInput": "input_source.input_source", "PlaceholderInput": "input_source.input_source",
    "QueueInput": "input_source.input_source", "StagingInput": "input_source.input_source",
    "TFDatasetInput": "input_source.input_source", "TensorInput": "input_source.input_source",
    "ZMQInput": "input_source.input_source", "InputSource": "input_source.input_source_base",
    "remap_input_source": "input_source.input_source_base",
    "BatchNorm": "models.batch_norm", "BatchRenorm": "models.batch_norm", "Conv2D": "models.conv2d",
    "Conv2DTranspose": "models.conv2d", "Deconv2D": "models.conv2d", "FullyConnected": "models.fc",
    "InstanceNorm": "models.layer_norm", "LayerNorm": "models.layer_norm",
    "LinearWrap": "models.linearwrap", "BNReLU": "models.nonlin", "Maxout": "models.nonlin",
    "PReLU": "models.nonlin", "AvgPooling": "models.pool", "FixedUnPooling": "models.pool",
    "GlobalAvgPooling": "models.pool", "MaxPooling": "models.pool",
    "disable_layer_logging": "models.registry", "layer_register": "models.registry",
    "Dropout": "models.regularize", "l1_regularizer": "models.regularize",
    "l2_regularizer": "models.regularize", "regularize_cost": "models.regularize",
    "regularize_cost_from_collection": "models.regularize", "ConcatWith": "models.shapes",
    "rename_tflayer_get_variable": "models.tflayer", "VariableHolder": "models.utils",
    "OfflinePredictor": "predict.base", "OnlinePredictor": "predict.base",
    "PredictorBase": "predict.base", "MultiThreadAsyncPredictor": "predict.concurrency",
    "PredictConfig": "predict.config", "DatasetPredictorBase": "predict.dataset",
    "MultiProcessDatasetPredictor": "predict.dataset", "SimpleDatasetPredictor": "predict.dataset",
    "FeedfreePredictor": "predict.feedfree", "DataParallelOfflinePredictor": "predict.multigpu",
    "MultiTowerOfflinePredictor": "predict.multigpu",
    "argscope": "tfutils.argscope", "enable_argscope_for_function": "tfutils.argscope",
    "enable_argscope_for_module": "tfutils.argscope", "get_arg_scope": "tfutils.argscope",
    "collect_env_info": "tfutils.collect_env", "get_default_sess_config": "tfutils.common",
    "get_global_step_value": "tfutils.common", "get_global_step_var": "tfutils.common",
    "get_tf_version_tuple": "tfutils.common", "ChainInit": "tfutils.sessinit",
    "DictRestore": "tfutils.sessinit", "JustCurrentSession": "tfutils.sessinit",
    "SaverRestore": "tfutils.sessinit", "SaverRestoreRelaxed": "tfutils.sessinit",
    "SessionInit": "tfutils.sessinit", "SmartInit": "tfutils.sessinit",
    "get_model_loader": "tfutils.sessinit", "TowerContext": "tfutils.tower",
    "get_current_tower_context": "tfutils.tower",
    "StopTraining": "train.base", "Trainer": "train.base", "AutoResumeTrainConfig": "train.config",
    "DEFAULT_CALLBACKS": "train.config", "DEFAULT_MONITORS": "train.config",
    "TrainConfig": "train.config", "launch_train_with_config": "train.interface",
    "ModelDesc": "train.model_desc", "ModelDescBase": "train.model_desc",
    "SingleCostTrainer": "train.tower", "TowerTrainer": "train.tower",
    "AsyncMultiGPUTrainer": "train.trainers", "BytePSTrainer": "train.trainers",
    "DistributedTrainerParameterServer": "train.trainers",
    "DistributedTrainerReplicated": "train.trainers", "HorovodTrainer": "train.trainers",
    "NoOpTrainer": "train.trainers", "QueueInputTrainer": "train.trainers",
    "SimpleTrainer": "train.trainers", "SyncMultiGPUTrainer": "train.trainers",
    "SyncMultiGPUTrainerParameterServer": "train.trainers",
    "SyncMultiGPUTrainerReplicated": "train.trainers",
    "change_gpu": "utils.gpu", "get_nr_gpu": "utils.gpu", "change_env": "utils.utils",
    "execute_only_once": "utils.utils", "fix_rng_seed": "utils.utils", "get_rng": "utils.utils",
    "get_tqdm": "utils.utils", "humanize_time_delta": "utils.utils",
}


def __getattr__(name: str) -> Any:
    """Import the home of ``name`` and hand the name on.

    Raises:
        AttributeError: for a name that tensorpack's root does not have.
        ImportError: for one of tensorpack's whose room this version does not have yet.
    """
    home = _ROOMS.get(name) or _NAMES.get(name)
    if home is None:
        raise AttributeError(_unknown(name), name=name)
    if not _is_there(home):
        raise ImportError(_not_there_yet(name, home), name=f"{__name__}.{home}")
    module = importlib.import_module(f"{__name__}.{home}")
    value = module if name in _ROOMS else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


def _is_there(home: str) -> bool:
    try:
        return importlib.util.find_spec(f"{__name__}.{home}") is not None
    except ModuleNotFoundError:
        return False


def _not_there_yet(name: str, home: str) -> str:
    from .utils.errors import say

    return say(f"{__name__}.{name}", expected=f"the part {home!r} of tensorpack's API",
               received=f"version {__version__}, which does not have it yet",
               do="See README.md for what is there, or wait for a later version.")


def _unknown(name: str) -> str:
    from .utils.errors import near

    return f"module {__name__!r} has no attribute {name!r}.{near(name, [*_ROOMS, *_NAMES])}"
