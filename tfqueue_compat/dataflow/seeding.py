# SPDX-License-Identifier: Apache-2.0
"""Different random numbers in each worker, and the same ones again under ``fix_rng_seed``."""

from __future__ import annotations

import os
import random
from typing import NamedTuple

import numpy as np

from ..utils import utils

__all__ = ["Seed", "plan_seeds", "seed_this_worker"]


class Seed(NamedTuple):
    """Where a worker's random numbers start.

    Attributes:
        root: the seed of the whole program; None where it isn't fixed.
        path: number of the worker, and before it those of the workers it runs in.
    """

    root: int | None
    path: tuple[int, ...]


_here = Seed(None, ())


def plan_seeds(n: int, seeds: list[int] | None = None) -> list[Seed]:
    """Return seeds for ``n`` workers about to be started from this process.

    Args:
        n: workers.
        seeds: to be used as they are; by default the program's seed is varied, if it is fixed.
    """
    if seeds is not None:
        return [Seed(int(s), ()) for s in seeds]
    root = utils._RNG_SEED if not _here.path or _here.root is None else _here.root
    return [Seed(root, (*_here.path, i)) for i in range(n)]


def seed_this_worker(seed: Seed) -> None:
    """Seed NumPy's and Python's global generators, and those that ``get_rng`` returns."""
    global _here
    _here = seed
    if seed.root is None:
        np.random.seed(int.from_bytes(os.urandom(4), "little"))
        random.seed()
        return
    mixed = np.random.SeedSequence(seed.root, spawn_key=seed.path).generate_state(3)
    np.random.seed(mixed[0])
    random.seed(int(mixed[1]))
    # the first worker draws what the dataflow would have drawn without workers
    utils.fix_rng_seed(int(mixed[2]) if any(seed.path) else seed.root)
