"""How several processes divide the tests of a run: a file goes to one of them, and so do all files of some folders."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped] # it has no types

TOGETHER = ("tests/house/", "tests/packaging/")
"""Folders whose files share what takes long to make: all sources parsed, and the programs that were built."""


def unit_of(test: str) -> str:
    """What a test, by its id, is run with in one process: its file or its folder."""
    file = test.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


class ByFileOrFolder(LoadFileScheduling):  # type: ignore[misc] # (the same)
    """Gives each process a file, or a folder, after the other."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
