# SPDX-License-Identifier: Apache-2.0
"""``python -m tfqueue_compat``."""

import sys

from .cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
