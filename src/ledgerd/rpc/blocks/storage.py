"""The size of the state, and the free space on its disk."""

from __future__ import annotations

import shutil
from pathlib import Path

from ledgerd.state.disk import DATA_FILE


class Storage:
    """The folder of a state, whose file grows as needed until the disk is full."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sizes(self) -> tuple[int, int]:
        return (self._folder / DATA_FILE).stat().st_size, shutil.disk_usage(self._folder).free
