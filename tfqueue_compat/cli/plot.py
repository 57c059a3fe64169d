# SPDX-License-Identifier: Apache-2.0
"""``plot``: pictures of a training, from its log directory."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

__all__ = ["main", "register"]


def register(subparsers: Any) -> None:
    """Add the verb ``plot`` to the command line."""
    parser = subparsers.add_parser(
        "plot", help="draw a training's curves and its input queue, from its log directory",
        description="Read stats.json in LOGDIR, and save history.png, the training curves, and "
                    "queue.png, how full the input queue was and who waited for whom.")
    parser.add_argument("logdir", metavar="LOGDIR", help="the log directory, or a stats.json")
    parser.add_argument("--out", metavar="DIR", help="where the pictures go (default: LOGDIR)")
    parser.add_argument("--names", metavar="REGEX", help="only curves whose name it is found in")
    parser.add_argument("--x", choices=("epoch_num", "global_step"), default="epoch_num",
                        help="the curves' x axis (default: epoch_num)")
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Draw and save; return the exit status."""
    from ..plots.history import draw_history, draw_queue_history, load_stats
    folder = args.logdir if os.path.isdir(args.logdir) else os.path.dirname(args.logdir)
    out = args.out or folder or "."
    try:
        stats = load_stats(args.logdir)
        print(draw_history(stats, args.names, args.x).save(os.path.join(out, "history.png")))
    except (FileNotFoundError, ImportError, ValueError) as e:
        print(e, file=sys.stderr)
        return 1
    try:
        queue = draw_queue_history(stats)
    except ValueError as e:  # trained without a queue: the curves are there all the same
        print(e, file=sys.stderr)
        return 0
    print(queue.save(os.path.join(out, "queue.png")))
    print(queue.axes[0].get_title().splitlines()[-1])
    return 0
