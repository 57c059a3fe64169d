# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of ``tf.TensorSpec``."""

from __future__ import absolute_import, annotations, division, print_function

from tensorflow import TensorSpec

__all__ = ["TensorSpec"]
