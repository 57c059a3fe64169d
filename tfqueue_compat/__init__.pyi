# SPDX-License-Identifier: Apache-2.0
# The root, for type checkers: the names of __init__.py's __all__, from where they live.

from . import (
    cli as cli, compat as compat, dataflow as dataflow, engine as engine, input_source as
    input_source, libinfo as libinfo, plots as plots, utils as utils,
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
    MapDataComponent, PrintData as PrintData, RandomChooseData as RandomChooseData,
    RandomMixData as RandomMixData, RepeatedData as RepeatedData, RepeatedDataPoint as
    RepeatedDataPoint, SelectComponent as SelectComponent, TestDataSpeed as TestDataSpeed,
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
    MultiProcessRunner, MultiProcessRunnerZMQ as MultiProcessRunnerZMQ, MultiThreadPrefetchData
    as MultiThreadPrefetchData, MultiThreadRunner as MultiThreadRunner, PrefetchData as
    PrefetchData, PrefetchDataZMQ as PrefetchDataZMQ,
)
from .dataflow.parallel_map import (
    MultiProcessMapAndBatchData as MultiProcessMapAndBatchData, MultiProcessMapAndBatchDataZMQ
    as MultiProcessMapAndBatchDataZMQ, MultiProcessMapData as MultiProcessMapData,
    MultiProcessMapDataZMQ as MultiProcessMapDataZMQ, MultiThreadMapData as MultiThreadMapData,
)
from .dataflow.raw import (
    DataFromGenerator as DataFromGenerator, DataFromIterable as DataFromIterable, DataFromList
    as DataFromList, DataFromQueue as DataFromQueue, FakeData as FakeData,
)
from .dataflow.remote import RemoteDataZMQ as RemoteDataZMQ, send_dataflow_zmq as send_dataflow_zmq
from .dataflow.serialize import (
    HDF5Serializer as HDF5Serializer, LMDBSerializer as LMDBSerializer, NumpySerializer as
    NumpySerializer, TFRecordSerializer as TFRecordSerializer,
)
from .input_source.input_source import (
    BatchQueueInput as BatchQueueInput, DummyConstantInput as DummyConstantInput, FeedInput as
    FeedInput, FeedfreeInput as FeedfreeInput, PlaceholderInput as PlaceholderInput, QueueInput
    as QueueInput, StagingInput as StagingInput, TFDatasetInput as TFDatasetInput, TensorInput
    as TensorInput, ZMQInput as ZMQInput,
)
from .input_source.input_source_base import (
    InputSource as InputSource, remap_input_source as remap_input_source,
)
from .libinfo import __version__ as __version__
from .utils import logger as logger
from .utils.gpu import change_gpu as change_gpu, get_nr_gpu as get_nr_gpu
from .utils.utils import (
    change_env as change_env, execute_only_once as execute_only_once, fix_rng_seed as
    fix_rng_seed, get_rng as get_rng, get_tqdm as get_tqdm, humanize_time_delta as
    humanize_time_delta,
)
