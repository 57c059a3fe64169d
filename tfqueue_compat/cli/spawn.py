# SPDX-License-Identifier: Apache-2.0
"""Worker processes of a script under ``run``: they see the same names as their parent.

A forked child inherits everything. A spawned one starts a new Python, reads what its parent
prepared, and imports the parent's script again. So one more thing is put among what it reads;
reading it hooks the child, before anything of the script is imported there.
"""

from __future__ import annotations

import functools
import multiprocessing.spawn
import os
import sys
import types
from typing import Any

from .rewrite import Options
from .userfiles import UserFiles, compile_user, hook

__all__ = ["prepare_children"]

_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_BOOT = """
import sys
sys.path.append({here!r})
try:
    from tfqueue_compat.cli.spawn import _be_a_child
finally:
    sys.path.remove({here!r})
_be_a_child({trees!r}, {path!r})
"""


class _Boot:
    """Pickles as the text above, so that the child needs nothing in order to read it."""

    def __init__(self, files: UserFiles) -> None:
        self.files = files

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        text = _BOOT.format(here=_HERE, trees=self.files.trees,
                            path=sorted(self.files.path_at_start))
        return exec, (text, {"__name__": "tfqueue_compat_boot"})


def prepare_children(files: UserFiles) -> None:
    """Have each spawned process load the user's ``files`` as this process does."""
    plain = multiprocessing.spawn.get_preparation_data
    plain = getattr(plain, "__wrapped__", plain)

    @functools.wraps(plain)
    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"tfqueue_compat": _Boot(files), **plain(name)}

    multiprocessing.spawn.get_preparation_data = get_preparation_data


def _be_a_child(trees: list[str], path_at_start: list[str]) -> None:
    from .run import graph_mode_on_import

    files = UserFiles(trees)
    files.path_at_start = frozenset(path_at_start)
    hook(files)
    graph_mode_on_import()
    prepare_children(files)
    setattr(multiprocessing.spawn, "_fixup_main_from_path",
            functools.partial(_import_main, options=files.options))


def _import_main(path: str, options: Options) -> None:
    """Import the parent's script as ``__mp_main__``, as multiprocessing does, but rewritten."""
    current = sys.modules["__main__"]
    if getattr(current, "__file__", None) == path:
        return
    module = types.ModuleType("__mp_main__")
    module.__file__ = path
    with open(path, "rb") as f:
        code = compile_user(f.read(), path, options)
    multiprocessing.spawn.old_main_modules.append(current)
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    exec(code, module.__dict__)
