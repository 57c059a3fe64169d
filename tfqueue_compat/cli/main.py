# SPDX-License-Identifier: Apache-2.0
"""The command line's entry: one parser, one sub-parser a verb."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from ..libinfo import TENSORPACK_API, __version__

__all__ = ["main"]

_VERBS = ("run", "check", "migrate", "plot", "demo", "bench", "bench_fit", "bench_dataflow")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments; ``sys.argv[1:]`` where None.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tfqueue_compat",
        description="tensorpack scripts on TensorFlow 2.")
    parser.add_argument("--version", action="version",
                        version=f"tfqueue_compat {__version__}, tensorpack {TENSORPACK_API}'s API")
    subparsers = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in _VERBS:
        importlib.import_module(f".{verb}", __package__).register(subparsers)
    args = parser.parse_args(argv)
    return int(args.func(args) or 0)
