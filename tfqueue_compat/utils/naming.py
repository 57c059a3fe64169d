# SPDX-License-Identifier: Apache-2.0
"""Names that several rooms of the house agree on."""

from __future__ import annotations

__all__ = ["GLOBAL_STEP_INCR_OP_NAME", "MOVING_SUMMARY_OPS_KEY"]

GLOBAL_STEP_INCR_OP_NAME = "global_step_incr"
MOVING_SUMMARY_OPS_KEY = "MOVING_SUMMARY_OPS"
