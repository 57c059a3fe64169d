# SPDX-License-Identifier: Apache-2.0
"""TF 1's ``tf.nn.rnn_cell``."""

__all__: list[str] = []
