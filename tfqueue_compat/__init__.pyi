# SPDX-License-Identifier: Apache-2.0
# The root, for type checkers: the names of __init__.py's __all__, from where they live.

from . import (
    callbacks as callbacks, cli as cli, compat as compat, contrib as contrib,
    dataflow as dataflow, engine as engine,
    graph_builder as graph_builder, input_source as input_source, keras_bridge as keras_bridge,
    libinfo as libinfo, models as models, plots as plots, predict as predict, tfutils as tfutils,
    train as train, utils as utils,
)
from .callbacks.base import (
    Callback as Callback, CallbackFactory as CallbackFactory, ProxyCallback as ProxyCallback,
)
from .callbacks.concurrency import StartProcOrThread as StartProcOrThread
from .callbacks.graph import (
    CheckNumerics as CheckNumerics, DumpParamAsImage as DumpParamAsImage, DumpTensor as
    DumpTensor, DumpTensorAsImage as DumpTensorAsImage, DumpTensors as DumpTensors, ProcessTensors
    as ProcessTensors, RunOp as RunOp, RunUpdateOps as RunUpdateOps,
)
from .callbacks.group import Callbacks as Callbacks
from .callbacks.hooks import (
    CallbackToHook as CallbackToHook, HookToCallback as HookToCallback, TFLocalCLIDebugHook as
    TFLocalCLIDebugHook,
)
from .callbacks.inference import (
    BinaryClassificationStats as BinaryClassificationStats, ClassificationError as
    ClassificationError, Inferencer as Inferencer, ScalarStats as ScalarStats,
)
from .callbacks.inference_runner import (
    DataParallelInferenceRunner as DataParallelInferenceRunner, InferenceRunner as
    InferenceRunner, InferenceRunnerBase as InferenceRunnerBase,
)
from .callbacks.misc import (
    EstimatedTimeLeft as EstimatedTimeLeft, InjectShell as InjectShell, SendStat as SendStat,
)
from .callbacks.monitor import (
    CometMLMonitor as CometMLMonitor, JSONWriter as JSONWriter, MonitorBase as MonitorBase,
    Monitors as Monitors, ScalarPrinter as ScalarPrinter, SendMonitorData as SendMonitorData,
    TFEventWriter as TFEventWriter,
)
from .callbacks.param import (
    GraphVarParam as GraphVarParam, HumanHyperParamSetter as HumanHyperParamSetter, HyperParam as
    HyperParam, HyperParamSetter as HyperParamSetter, HyperParamSetterWithFunc as
    HyperParamSetterWithFunc, ObjAttrParam as ObjAttrParam, ScheduledHyperParamSetter as
    ScheduledHyperParamSetter, StatMonitorParamSetter as StatMonitorParamSetter,
)
from .callbacks.prof import (
    GPUMemoryTracker as GPUMemoryTracker, GPUUtilizationTracker as GPUUtilizationTracker,
    GraphProfiler as GraphProfiler, HostMemoryTracker as HostMemoryTracker, PeakMemoryTracker as
    PeakMemoryTracker, ThroughputTracker as ThroughputTracker,
)
from .callbacks.saver import MaxSaver as MaxSaver, MinSaver as MinSaver, ModelSaver as ModelSaver
from .callbacks.steps import (
    ProgressBar as ProgressBar, SessionRunTimeout as SessionRunTimeout, TensorPrinter as
    TensorPrinter,
)
from .callbacks.summary import (
    MergeAllSummaries as MergeAllSummaries, MovingAverageSummary as MovingAverageSummary,
    SimpleMovingAverage as SimpleMovingAverage,
)
from .callbacks.trigger import (
    EnableCallbackIf as EnableCallbackIf, PeriodicCallback as PeriodicCallback, PeriodicTrigger as
    PeriodicTrigger,
)
from .cli.alias import install as install, uninstall as uninstall
from .compat import tfv1 as tfv1
from .dataflow import dataset as dataset, imgaug as imgaug
from .dataflow.base import (
    DataFlow as DataFlow, DataFlowTerminated as DataFlowTerminated, ProxyDataFlow as
    ProxyDataFlow, RNGDataFlow as RNGDataFlow,
)
from .dataflow.common import (
    BatchData as BatchData, BatchDataByShape as BatchDataByShape, CacheData as CacheData,
    ConcatData as ConcatData, FixedSizeData as FixedSizeData, JoinData as JoinData,
    LocallyShuffleData as LocallyShuffleData, MapData as MapData, MapDataComponent as
    MapDataComponent, PrintData as PrintData, RandomChooseData as RandomChooseData, RandomMixData
    as RandomMixData, RepeatedData as RepeatedData, RepeatedDataPoint as RepeatedDataPoint,
    SelectComponent as SelectComponent, TestDataSpeed as TestDataSpeed,
)
from .dataflow.format import (
    CaffeLMDB as CaffeLMDB, HDF5Data as HDF5Data, LMDBData as LMDBData, LMDBDataDecoder as
    LMDBDataDecoder, SVMLightData as SVMLightData,
)
from .dataflow.image import (
    AugmentImageComponent as AugmentImageComponent, AugmentImageComponents as
    AugmentImageComponents, AugmentImageCoordinates as AugmentImageCoordinates, ImageFromFile as
    ImageFromFile,
)
from .dataflow.parallel import (
    MultiProcessPrefetchData as MultiProcessPrefetchData, MultiProcessRunner as
    MultiProcessRunner, MultiProcessRunnerZMQ as MultiProcessRunnerZMQ, MultiThreadPrefetchData as
    MultiThreadPrefetchData, MultiThreadRunner as MultiThreadRunner, PrefetchData as PrefetchData,
    PrefetchDataZMQ as PrefetchDataZMQ,
)
from .dataflow.parallel_map import (
    MultiProcessMapAndBatchData as MultiProcessMapAndBatchData, MultiProcessMapAndBatchDataZMQ as
    MultiProcessMapAndBatchDataZMQ, MultiProcessMapData as MultiProcessMapData,
    MultiProcessMapDataZMQ as MultiProcessMapDataZMQ, MultiThreadMapData as MultiThreadMapData,
)
from .dataflow.raw import (
    DataFromGenerator as DataFromGenerator, DataFromIterable as DataFromIterable, DataFromList as
    DataFromList, DataFromQueue as DataFromQueue, FakeData as FakeData,
)
from .dataflow.remote import (
    RemoteDataZMQ as RemoteDataZMQ, send_dataflow_zmq as send_dataflow_zmq,
)
from .dataflow.serialize import (
    HDF5Serializer as HDF5Serializer, LMDBSerializer as LMDBSerializer, NumpySerializer as
    NumpySerializer, TFRecordSerializer as TFRecordSerializer,
)
from .input_source.input_source import (
    BatchQueueInput as BatchQueueInput, DummyConstantInput as DummyConstantInput, FeedInput as
    FeedInput, FeedfreeInput as FeedfreeInput, PlaceholderInput as PlaceholderInput, QueueInput as
    QueueInput, StagingInput as StagingInput, TFDatasetInput as TFDatasetInput, TensorInput as
    TensorInput, ZMQInput as ZMQInput,
)
from .input_source.input_source_base import (
    InputSource as InputSource, remap_input_source as remap_input_source,
)
from .libinfo import __version__ as __version__
from .models.batch_norm import BatchNorm as BatchNorm, BatchRenorm as BatchRenorm
from .models.conv2d import (
    Conv2D as Conv2D, Conv2DTranspose as Conv2DTranspose, Deconv2D as Deconv2D,
)
from .models.fc import FullyConnected as FullyConnected
from .models.layer_norm import InstanceNorm as InstanceNorm, LayerNorm as LayerNorm
from .models.linearwrap import LinearWrap as LinearWrap
from .models.nonlin import BNReLU as BNReLU, Maxout as Maxout, PReLU as PReLU
from .models.pool import (
    AvgPooling as AvgPooling, FixedUnPooling as FixedUnPooling, GlobalAvgPooling as
    GlobalAvgPooling, MaxPooling as MaxPooling,
)
from .models.registry import (
    disable_layer_logging as disable_layer_logging, layer_register as layer_register,
)
from .models.regularize import (
    Dropout as Dropout, l1_regularizer as l1_regularizer, l2_regularizer as l2_regularizer,
    regularize_cost as regularize_cost, regularize_cost_from_collection as
    regularize_cost_from_collection,
)
from .models.shapes import ConcatWith as ConcatWith
from .models.tflayer import rename_tflayer_get_variable as rename_tflayer_get_variable
from .models.utils import VariableHolder as VariableHolder
from .predict.base import (
    OfflinePredictor as OfflinePredictor, OnlinePredictor as OnlinePredictor, PredictorBase as
    PredictorBase,
)
from .predict.concurrency import MultiThreadAsyncPredictor as MultiThreadAsyncPredictor
from .predict.config import PredictConfig as PredictConfig
from .predict.dataset import (
    DatasetPredictorBase as DatasetPredictorBase, MultiProcessDatasetPredictor as
    MultiProcessDatasetPredictor, SimpleDatasetPredictor as SimpleDatasetPredictor,
)
from .predict.feedfree import FeedfreePredictor as FeedfreePredictor
from .predict.multigpu import (
    DataParallelOfflinePredictor as DataParallelOfflinePredictor, MultiTowerOfflinePredictor as
    MultiTowerOfflinePredictor,
)
from .tfutils import (
    gradproc as gradproc, optimizer as optimizer, sesscreate as sesscreate, sessinit as sessinit,
    summary as summary, symbolic_functions as symbolic_functions, tower as tower, varreplace as
    varreplace,
)
from .tfutils.argscope import (
    argscope as argscope, enable_argscope_for_function as enable_argscope_for_function,
    enable_argscope_for_module as enable_argscope_for_module, get_arg_scope as get_arg_scope,
)
from .tfutils.collect_env import collect_env_info as collect_env_info
from .tfutils.common import (
    get_default_sess_config as get_default_sess_config, get_global_step_value as
    get_global_step_value, get_global_step_var as get_global_step_var, get_tf_version_tuple as
    get_tf_version_tuple,
)
from .tfutils.sessinit import (
    ChainInit as ChainInit, DictRestore as DictRestore, JustCurrentSession as JustCurrentSession,
    SaverRestore as SaverRestore, SaverRestoreRelaxed as SaverRestoreRelaxed, SessionInit as
    SessionInit, SmartInit as SmartInit, get_model_loader as get_model_loader,
)
from .tfutils.tower import (
    TowerContext as TowerContext, get_current_tower_context as get_current_tower_context,
)
from .train.base import StopTraining as StopTraining, Trainer as Trainer
from .train.config import (
    AutoResumeTrainConfig as AutoResumeTrainConfig, DEFAULT_CALLBACKS as DEFAULT_CALLBACKS,
    DEFAULT_MONITORS as DEFAULT_MONITORS, TrainConfig as TrainConfig,
)
from .train.interface import launch_train_with_config as launch_train_with_config
from .train.model_desc import ModelDesc as ModelDesc, ModelDescBase as ModelDescBase
from .train.tower import SingleCostTrainer as SingleCostTrainer, TowerTrainer as TowerTrainer
from .train.trainers import (
    AsyncMultiGPUTrainer as AsyncMultiGPUTrainer, BytePSTrainer as BytePSTrainer,
    DistributedTrainerParameterServer as DistributedTrainerParameterServer,
    DistributedTrainerReplicated as DistributedTrainerReplicated, HorovodTrainer as
    HorovodTrainer, NoOpTrainer as NoOpTrainer, QueueInputTrainer as QueueInputTrainer,
    SimpleTrainer as SimpleTrainer, SyncMultiGPUTrainer as SyncMultiGPUTrainer,
    SyncMultiGPUTrainerParameterServer as SyncMultiGPUTrainerParameterServer,
    SyncMultiGPUTrainerReplicated as SyncMultiGPUTrainerReplicated,
)
from .utils import logger as logger
from .utils.gpu import change_gpu as change_gpu, get_nr_gpu as get_nr_gpu
from .utils.utils import (
    change_env as change_env, execute_only_once as execute_only_once, fix_rng_seed as
    fix_rng_seed, get_rng as get_rng, get_tqdm as get_tqdm, humanize_time_delta as
    humanize_time_delta,
)
