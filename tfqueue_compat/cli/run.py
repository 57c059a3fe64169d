# SPDX-License-Identifier: Apache-2.0
"""``run``: a legacy script, unchanged, on today's TensorFlow.

The script's own files see ``tensorpack`` as tfqueue_compat and ``tensorflow`` as TF 1's names.
Everything else is as ``python SCRIPT`` has it: arguments, ``__main__``, exit status, tracebacks.
"""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import os
import sys
import types
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType, TracebackType
from typing import Any

from .hints import hint
from .spawn import prepare_children
from .userfiles import UserFiles, UserLoader, compile_user, hook

__all__ = ["graph_mode_on_import", "main", "register", "run_script"]


_ABOUT = """Run a legacy script: its own files see tensorpack as tfqueue_compat, and TensorFlow as
TF 1 was. Nothing on disk is changed.

  SCRIPT      path of the script, or of a folder with a __main__.py
  -m MODULE   run a module, as python -m does
  -c CODE     run a text, as python -c does
  --also DIR  files below DIR are the script's own, too; may be repeated
  ARGS        whatever follows is the script's"""


def register(subparsers: Any) -> None:
    """Add the verb ``run`` to the command line."""
    parser = subparsers.add_parser(
        "run", help="run a legacy script unchanged", description=_ABOUT, add_help=False,
        usage="%(prog)s [--also DIR] (SCRIPT | -m MODULE | -c CODE) [ARGS ...]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prefix_chars="\0")  # options after the script are the script's: none is argparse's
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(func=main, parser=parser)


def main(args: argparse.Namespace) -> int:
    """Run what the words of the command line name; return the exit status."""
    words, also = list(args.words), []
    while words[:1] == ["--also"] and len(words) > 1:
        also.append(words[1])
        del words[:2]
    first = words[0] if words else ""
    if first in ("-h", "--help"):
        args.parser.print_help()
        return 0
    if first in ("-m", "-c") and len(words) > 1:
        return (_run_module if first == "-m" else _run_code)(words[1:], also)
    if first and not first.startswith("-"):
        return run_script(words, also)
    args.parser.error(f"Expected a script, -m MODULE or -c CODE. Received {first or 'nothing'}.")
    return 2


def run_script(argv: Sequence[str], also: Sequence[str] = ()) -> int:
    """Run the script ``argv[0]`` with ``argv`` as ``sys.argv``; return the exit status."""
    path = os.path.abspath(argv[0])
    is_folder = os.path.isdir(path)
    if is_folder:
        path = os.path.join(path, "__main__.py")
    try:
        with open(path, "rb") as f:
            data = f.read()
    except OSError as e:
        print(f"tfqueue_compat run: can't open {argv[0]!r}: {e.strerror}. "
              f"Do: pass the path of a script, or -m and a module.", file=sys.stderr)
        return 2
    folder = os.path.dirname(path)
    sys.path[0] = folder if is_folder else os.path.dirname(os.path.realpath(path))
    files = _start(argv, [folder, sys.path[0], *also])
    loader = UserLoader("__main__", path)
    spec = ModuleSpec("__main__", loader, origin=path) if is_folder else None
    module = _new_main(path, loader, spec)
    return _execute(lambda: compile_user(data, path, files.options), module)


def _run_module(argv: Sequence[str], also: Sequence[str]) -> int:
    sys.path[0] = os.getcwd()
    _start(["-m", *argv[1:]], also)
    try:
        spec = _find(argv[0])
    except ModuleNotFoundError as e:
        print(f"tfqueue_compat run: {e}", file=sys.stderr)
        return 1
    except BaseException as e:  # a package above it failed on import
        return _report(e)
    loader: Any = spec.loader
    sys.argv[0] = spec.origin or argv[0]
    return _execute(lambda: loader.get_code(spec.name), _new_main(spec.origin, loader, spec))


def _run_code(argv: Sequence[str], also: Sequence[str]) -> int:
    sys.path[0] = ""
    files = _start(["-c", *argv[1:]], also)
    return _execute(lambda: compile_user(argv[0].encode(), "<string>", files.options),
                    _new_main(None, None))


def _find(name: str) -> ModuleSpec:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise ModuleNotFoundError(f"No module named {name}, or it can't be run", name=name)
    return spec


def _start(argv: Sequence[str], trees: Sequence[str]) -> UserFiles:
    sys.argv[:] = argv
    cwd = os.getcwd()
    if cwd not in (os.sep, os.path.expanduser("~")):
        trees = [*trees, cwd]
    files = UserFiles(trees)
    hook(files)
    prepare_children(files)
    graph_mode_on_import()
    return files


def _new_main(path: str | None, loader: Any, spec: ModuleSpec | None = None) -> ModuleType:
    module = types.ModuleType("__main__")
    more: dict[str, Any] = {"__builtins__": builtins, "__loader__": loader, "__spec__": spec}
    if spec is not None:
        more["__package__"] = spec.parent
    if path is not None:
        more.update(__file__=path, __cached__=None)
    module.__dict__.update(more)
    sys.modules["__main__"] = module
    sys.modules["__mp_main__"] = module  # multiprocessing set it aside when it was imported
    return module


def _execute(get_code: Any, module: ModuleType) -> int:
    try:
        code: CodeType = get_code()
        exec(code, module.__dict__)
    except BaseException as e:
        return _report(e)
    return 0


def _report(error: BaseException) -> int:
    """Show the script's error as Python would, with advice below; return the exit status."""
    if isinstance(error, SystemExit):
        raise error
    error.__traceback__ = _without_ours(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)
    advice = hint(error)
    if advice:
        print(advice, file=sys.stderr)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _without_ours(tb: TracebackType | None) -> TracebackType | None:
    """Return the traceback without the frames of this command line and of importlib."""
    frames = []
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if not name.startswith((here, "<frozen importlib")):
            frames.append(tb)
        tb = tb.tb_next
    for one in reversed(frames):
        tb = TracebackType(tb, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return tb


class _GraphMode:
    """Finds TensorFlow once, and turns eager execution off when it has been loaded.

    A TF 1 script expects graph mode at its top level and in each of its threads, and this process
    is the script's own. A script that never touches TensorFlow doesn't load it.
    """

    def __init__(self) -> None:
        self.loader: Any = None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self.loader, spec.loader = spec.loader, self  # type: ignore[assignment]
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        module.compat.v1.disable_eager_execution()


def graph_mode_on_import() -> None:
    """Put this process into graph mode as soon as TensorFlow is imported in it."""
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:
        loaded.compat.v1.disable_eager_execution()
    elif not any(isinstance(f, _GraphMode) for f in sys.meta_path):
        sys.meta_path.insert(0, _GraphMode())
