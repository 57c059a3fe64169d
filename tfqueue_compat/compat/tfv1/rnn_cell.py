# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.nn.rnn_cell``."""

from .rnn_base import LSTMStateTuple, RNNCell
from .rnn_cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from .rnn_dropout import DropoutWrapper
from .rnn_wrappers import DeviceWrapper, MultiRNNCell, ResidualWrapper

__all__ = ["BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell",
           "LSTMCell", "LSTMStateTuple", "MultiRNNCell", "RNNCell", "ResidualWrapper"]
