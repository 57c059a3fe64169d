# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path, before 0.9.2, of what writes dataflows to files: ``dataflow.dftools``."""

from __future__ import annotations

from .remote import dump_dataflow_to_process_queue
from .serialize import LMDBSerializer, TFRecordSerializer

__all__ = ["dump_dataflow_to_lmdb", "dump_dataflow_to_process_queue", "dump_dataflow_to_tfrecord"]

dump_dataflow_to_lmdb = LMDBSerializer.save
dump_dataflow_to_tfrecord = TFRecordSerializer.save
