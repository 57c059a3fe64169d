# SPDX-License-Identifier: Apache-2.0
"""The version of this package, and of the tensorpack whose API it offers."""

__all__ = ["__version__", "TENSORPACK_API"]

__version__ = "0.1.0"

#: tensorpack's version whose names, signatures and defaults are offered here.
TENSORPACK_API = "0.11"
