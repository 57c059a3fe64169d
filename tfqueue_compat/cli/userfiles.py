# SPDX-License-Identifier: Apache-2.0
"""Which files are the user's own, and the import hook that rewrites them as they are loaded."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, ModuleType
from typing import Any

from .rewrite import Options, rewrite

__all__ = ["UserFiles", "UserLoader", "compile_user", "hook"]

_PACKAGES = {"site-packages", "dist-packages"}
_NOT_USERS = {"tfqueue_compat", "tensorpack", "tensorflow", "keras"}


class UserFiles:
    """The files of one script's author: its trees, without installed packages.

    A directory that the script itself adds to ``sys.path`` counts as well, and so does what a
    link in a tree leads to.

    Args:
        trees: directories; files anywhere below them count.
        options: what is rewritten in them.
    """

    def __init__(self, trees: Iterable[str], options: Options = Options()) -> None:
        self.options = options
        self.trees = sorted({p for t in trees for p in _places(t)})
        self.path_at_start = frozenset(sys.path)
        self._others = tuple(os.path.join(os.path.realpath(p), "") for p in (
            os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
            sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")))

    def owns(self, path: str) -> bool:
        """Say whether the file at ``path`` is the user's own."""
        places = _places(path)
        if any(not _PACKAGES.isdisjoint(p.split(os.sep)) or p.startswith(self._others)
               for p in places):
            return False
        added = (place for p in sys.path if p and p not in self.path_at_start
                 for place in _places(p))
        roots = tuple(os.path.join(tree, "") for tree in (*self.trees, *added))
        return any(p.startswith(roots) for p in places)


def _places(path: str) -> set[str]:
    """Where a path lies, and where it leads: a link in the user's tree is the user's as well."""
    return {os.path.abspath(path), os.path.realpath(path)}


def compile_user(data: bytes, path: str, options: Options = Options()) -> CodeType:
    """Return the rewritten code of a user's file, under the file's own name and lines."""
    text = rewrite(importlib.util.decode_source(data), options, path).text
    return compile(text, path, "exec", dont_inherit=True)


class UserLoader(importlib.machinery.SourceFileLoader):
    """Loads a user's file rewritten. It neither reads nor writes ``.pyc`` files."""

    options = Options()

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return compile_user(self.get_data(path), path, self.options)


class _Finder:
    """Finds what ``sys.path`` offers, and gives the user's own files a `UserLoader`."""

    def __init__(self, files: UserFiles) -> None:
        self.files = files

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        return self.adopt(spec, name)

    def adopt(self, spec: importlib.machinery.ModuleSpec | None,
              name: str) -> importlib.machinery.ModuleSpec | None:
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return spec
        if name.partition(".")[0] not in _NOT_USERS and self.files.owns(spec.loader.path):
            spec.loader = UserLoader(name, spec.loader.path)
            spec.loader.options = self.files.options
        return spec

    def invalidate_caches(self) -> None:
        """Nothing of its own is cached."""


def hook(files: UserFiles) -> Callable[[], None]:
    """Load the user's files through the rewriter from now on, however they are imported.

    Returns:
        What undoes it.
    """
    finder = _Finder(files)
    plain = importlib.util.spec_from_file_location

    def spec_from_file_location(name: str, *args: Any, **kwargs: Any) -> Any:
        return finder.adopt(plain(name, *args, **kwargs), name)

    def undo() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
        if importlib.util.spec_from_file_location is spec_from_file_location:
            importlib.util.spec_from_file_location = plain

    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), finder)
    importlib.util.spec_from_file_location = spec_from_file_location
    return undo
