# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of the model's description."""

from ..graph_builder.model_desc import InputDesc, ModelDesc, ModelDescBase

__all__ = ["InputDesc", "ModelDesc", "ModelDescBase"]
