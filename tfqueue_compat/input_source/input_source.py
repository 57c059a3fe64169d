# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the input sources."""

from ..utils import logger
from .enqueue import EnqueueThread
from .feed import FeedInput, PlaceholderInput
from .queue import BatchQueueInput, FeedfreeInput, QueueInput
from .staging import StagingInput
from .tensor import DummyConstantInput, TensorInput, TFDatasetInput
from .zmq import ZMQInput

__all__ = ["BatchQueueInput", "DummyConstantInput", "EnqueueThread", "FeedInput", "FeedfreeInput",
           "PlaceholderInput", "QueueInput", "StagingInput", "TFDatasetInput", "TensorInput",
           "ZMQInput", "logger"]
