# SPDX-License-Identifier: Apache-2.0
"""One measurement in one process: ``python -m tfqueue_compat.cli.bench_cell --help``.

The folder imports nothing of the house and nothing heavy at the top, so that a Python which
has tensorpack instead of tfqueue_compat runs the very same files.
"""

from __future__ import annotations

__all__: list[str] = []
