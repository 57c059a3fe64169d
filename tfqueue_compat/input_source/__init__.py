# SPDX-License-Identifier: Apache-2.0
"""Where training data comes from: tensorpack's input sources, over the engine."""

from .enqueue import EnqueueThread
from .feed import FeedInput, PlaceholderInput
from .input_source_base import InputSource, remap_input_source
from .queue import BatchQueueInput, FeedfreeInput, QueueInput
from .staging import StagingInput
from .tensor import DummyConstantInput, TensorInput, TFDatasetInput
from .zmq import ZMQInput

__all__ = ["BatchQueueInput", "DummyConstantInput", "EnqueueThread", "FeedInput", "FeedfreeInput",
           "InputSource", "PlaceholderInput", "QueueInput", "StagingInput", "TFDatasetInput",
           "TensorInput", "ZMQInput", "remap_input_source"]
