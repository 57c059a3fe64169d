# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the callback's contract."""

from ..engine.hooks import Callback, CallbackFactory, ProxyCallback

__all__ = ["Callback", "CallbackFactory", "ProxyCallback"]
