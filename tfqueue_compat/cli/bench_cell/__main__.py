# SPDX-License-Identifier: Apache-2.0
"""The command of one cell: prints one line of JSON, or with ``--plain`` one number."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from .alternatives import LIBRARIES
from .probes import PROBES
from .producers import ARRAYS, KINDS
from .throughput import measure
from .ways import WAYS

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="bench_cell", description=__doc__)
    p.add_argument("--import", dest="library", choices=LIBRARIES,
                   default=os.environ.get("TFQ_BENCH_IMPORT", "tfqueue_compat"),
                   help="what is measured (default: TFQ_BENCH_IMPORT, else tfqueue_compat)")
    p.add_argument("--kind", choices=KINDS, default="tiny")
    p.add_argument("--way", choices=WAYS, default="session")
    p.add_argument("--probe", choices=PROBES, help="measure this instead of a rate")
    p.add_argument("--arrays", choices=ARRAYS, default="fresh")
    p.add_argument("--seconds", type=float, default=1.5)
    p.add_argument("--warm", type=float, default=1.0, help="seconds")
    p.add_argument("--count", type=int, default=0, help="datapoints instead of seconds")
    p.add_argument("--plain", action="store_true", help="print datapoints a second only")
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Measure one cell and print it; return the exit status."""
    args = _parser().parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if args.probe:
        result = PROBES[args.probe](args.library, args.kind, args.way)
    else:
        result = measure(args.library, args.kind, args.way, args.arrays, args.seconds,
                         args.warm, args.count)
    print(f"{result['rate']:.1f}" if args.plain else json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    # neither producer threads nor full queues are worth an orderly end
    status = main()
    sys.stdout.flush()
    os._exit(status)
