# SPDX-License-Identifier: Apache-2.0
"""What moves: datapoints from a DataFlow into TensorFlow."""

from .errors import DatasetEnded, SignatureMismatch
from .meter import Meter
from .signature import Signature

__all__ = ["DatasetEnded", "Meter", "Signature", "SignatureMismatch"]
