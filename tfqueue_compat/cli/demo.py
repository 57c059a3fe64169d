# SPDX-License-Identifier: Apache-2.0
"""``demo``: a legacy script on data that comes with the package, run as ``run`` runs any."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .run import run_script

__all__ = ["main", "register"]

_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo_script.py.txt")


def register(subparsers: Any) -> None:
    """Add the verb ``demo`` to the command line."""
    parser = subparsers.add_parser(
        "demo", help="train a small model on handwritten digits, in under a minute",
        description="Run a tensorpack training script unchanged: it trains on UCI's handwritten "
                    "digits, prints its accuracy and what the queue saw, and saves a plot.")
    parser.add_argument("--out", default="tfqueue_demo", metavar="DIR",
                        help="where the plot and the log directory go (default: tfqueue_demo)")
    parser.add_argument("--epochs", type=int, default=4, metavar="N",
                        help="epochs of 5 passes over the 1,297 training digits (default: 4)")
    parser.add_argument("--show", action="store_true", help="print the script instead")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Run the demo; return the exit status."""
    if args.show:
        with open(_SCRIPT, encoding="utf-8") as f:
            print(f.read(), end="")
        return 0
    return run_script([_SCRIPT, "--out", args.out, "--epochs", str(args.epochs)])
