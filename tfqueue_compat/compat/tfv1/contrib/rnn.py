# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.contrib.rnn``: the cells of ``tf.nn.rnn_cell`` and a few more."""

from tensorflow.compat.v1.nn import (static_bidirectional_rnn, static_rnn,
                                     static_state_saving_rnn)

from ..gone import missing_in
from ..rnn_base import LSTMStateTuple, RNNCell
from ..rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from ..rnn_dropout import DropoutWrapper
from ..rnn_wrappers import DeviceWrapper, MultiRNNCell, ResidualWrapper
from .rnn_cells import (GRUBlockCell, GRUBlockCellV2, InputProjectionWrapper,
                        LayerNormBasicLSTMCell, LSTMBlockCell, OutputProjectionWrapper)
from .rnn_stacks import stack_bidirectional_dynamic_rnn

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUBlockCell",
    "GRUBlockCellV2", "GRUCell", "InputProjectionWrapper", "LSTMBlockCell", "LSTMCell",
    "LSTMStateTuple", "LayerNormBasicLSTMCell", "MultiRNNCell", "OutputProjectionWrapper",
    "RNNCell", "ResidualWrapper", "stack_bidirectional_dynamic_rnn", "static_bidirectional_rnn",
    "static_rnn", "static_state_saving_rnn",
]

__getattr__ = missing_in("rnn", __all__)
