# SPDX-License-Identifier: Apache-2.0
"""inventory.json is what the code is: what it says works is there, what it says is gone is not."""

from __future__ import annotations

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfqueue_compat
from tfqueue_compat.cli.inventory import Fact, inventory
from tfqueue_compat.cli.renames import house

FILE = Path(tfqueue_compat.__file__).parent / "cli" / "inventory.json"
DATA: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
HERE = [(module, name, entry) for module, names in DATA["names"].items()
        for name, entry in names.items()]


def look_up(path: str) -> Any:
    """Return what this package has at a path of tensorpack."""
    module, _, name = house(path).rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_it_is_written_one_name_a_line() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert sum(line.startswith('   "') for line in text.splitlines()) > 800
    assert max(map(len, text.splitlines())) < 9000  # TensorFlow's names, and nothing else
    assert list(DATA["names"]) == sorted(DATA["names"])
    for names in DATA["names"].values():
        assert list(names) == sorted(names)


def test_every_name_that_works_is_here() -> None:
    missing = []
    for module, name, entry in HERE:
        if entry.get("here", "works") in ("works", "changed"):
            try:
                look_up(f"{module}.{name}")
            except (ImportError, AttributeError) as e:
                missing.append(f"{module}.{name}: {e}")
    assert not missing


def test_every_name_that_moved_is_where_it_is_said_to_be() -> None:
    missing = []
    for module, name, entry in HERE:
        if "now" in entry:
            try:
                look_up(entry["now"])
            except (ImportError, AttributeError) as e:
                missing.append(f"{module}.{name} -> {entry['now']}: {e}")
    for module, entry in DATA["modules"].items():
        if "now" in entry:
            importlib.import_module(house(entry["now"]))
    assert not missing


def test_every_module_is_here_moved_or_gone() -> None:
    for module, entry in DATA["modules"].items():
        found = None
        try:
            found = importlib.import_module(house(module))
        except ImportError:
            pass
        assert (found is None) == (entry.get("here") in ("moved", "gone")), module


def test_what_is_gone_says_what_to_do() -> None:
    gone = [e for _, _, e in HERE if e.get("here") == "gone"]
    gone += [e for table in (DATA["keywords"], DATA["methods"]) for names in table.values()
             for e in names.values() if e.get("here") == "gone"]
    assert len(gone) > 90
    for entry in gone:
        assert re.match(r"[A-Z].*\.$", entry["do"]), entry
        assert "now" not in entry


def test_what_is_gone_is_not_here_or_raises_the_same_advice() -> None:
    for module, name, entry in HERE:
        if entry.get("here") != "gone":
            continue
        try:
            value = look_up(f"{module}.{name}")
        except (ImportError, AttributeError):
            assert "until" in entry, f"{name} of 0.11 is not even importable"
            continue
        assert "until" not in entry, f"{name} is here after all"
        with pytest.raises(tfqueue_compat.utils.errors.NotSupported) as e:
            _use(value)
        assert str(e.value).endswith(entry["do"]) or entry["do"] in str(e.value), name


def _use(value: Any) -> Any:
    """Call a class of the kind that can't work, as its users do."""
    if hasattr(value, "dumps"):
        return value.dumps(1)
    if inspect.isabstract(value):
        value = type(value.__name__, (value,), dict.fromkeys(value.__abstractmethods__))
    wanted = [p for p in inspect.signature(value.__init__).parameters.values()
              if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return value(*wanted[1:])  # behind self, whatever it is


def test_every_name_of_not_supported_is_listed_gone() -> None:
    from tfqueue_compat.compat.tfv1 import gone

    assert DATA["tensorflow"]["names"] == gone.NAMES
    assert DATA["tensorflow"]["contrib"] == gone.CONTRIB
    assert DATA["tensorflow"]["parts"] == gone.PARTS
    known = {n for _, n, e in HERE if e.get("here") == "gone" and "until" not in e}
    for room in ("train.cluster", "graph_builder.distributed"):
        module = importlib.import_module(f"tfqueue_compat.{room}")
        for name in module.__all__:
            if "Raises:\n        NotSupported: always." in (inspect.getdoc(
                    getattr(module, name)) or "").replace("\n    ", "\n        "):
                assert name in known, name


def test_tensorflows_names_are_what_tfv1_offers() -> None:
    import tfqueue_compat.compat.tfv1 as tf

    for part, names in DATA["tensorflow"]["offered"].items():
        value: Any = tf
        for word in part.split(".")[1:]:
            value = getattr(value, word)
        assert not [n for n in names.split() if not hasattr(value, n)], part


@pytest.mark.parametrize("module, name, home, here", [
    ("tensorpack", "BatchData", "tensorpack.dataflow.common.BatchData", "works"),
    ("tensorpack.dataflow.imgaug", "Flip", "tensorpack.dataflow.imgaug.misc.Flip", "works"),
    ("tensorpack.train", "QueueInputTrainer",
     "tensorpack.train.trainers.QueueInputTrainer", "works"),
    ("tensorpack", "InputDesc", "tensorpack.graph_builder.model_desc.InputDesc", "works"),
    ("tensorpack.train.multigpu", "AsyncMultiGPUTrainer",
     "tensorpack.train.trainers.AsyncMultiGPUTrainer", "works"),
    ("tensorpack.tfutils.sessinit", "ParamRestore",
     "tensorpack.tfutils.sessinit.ParamRestore", "moved"),
    ("tensorpack.RL.gymenv", "GymEnv", "tensorpack.RL.gymenv.GymEnv", "gone"),
])
def test_names_are_found_through_faces_and_old_paths(module: str, name: str, home: str,
                                                     here: str) -> None:
    fact = inventory().find(module, name)
    assert isinstance(fact, Fact) and (fact.name, fact.here) == (home, here)


def test_what_was_never_there_is_unknown() -> None:
    assert inventory().find("tensorpack", "NoSuchThing") is None
    assert inventory().find("tensorpack.train", "BatchData") is None
    assert inventory().module("tensorpack", "no_such_room") is None


def test_tensorflow_is_not_loaded_for_it() -> None:
    code = ("import sys; from tfqueue_compat.cli import check, migrate; "
            "print('tensorflow' in sys.modules, 'numpy' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                          cwd=FILE.parents[2], timeout=60)
    assert done.stdout == "False False\n", done.stderr
