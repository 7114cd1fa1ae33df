"""A made-up next version of the program: this one, whose state and history have later formats."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import ledgerd

SOURCE = Path(ledgerd.__file__).parent
CHANGES = {
    "state/files/header.py": ('Format("ledgerd state", 1, "1.0.0")', 'Format("ledgerd state", 9, "9.1.0")'),
    "history/store/tables.py": ('Format("ledgerd history", 5, "1.0.0")', 'Format("ledgerd history", 9, "9.1.0")'),
}


def next_version(folder: Path) -> Sequence[str]:
    """Make it in a folder; the words that begin a command of it."""
    package = Path(shutil.copytree(SOURCE, folder / "ledgerd", ignore=shutil.ignore_patterns("__pycache__")))
    for name, (present, later) in CHANGES.items():
        text = (package / name).read_text(encoding="utf-8")
        assert present in text
        (package / name).write_text(text.replace(present, later), encoding="utf-8")
    return ("env", f"PYTHONPATH={folder}", sys.executable, "-m", "ledgerd.cli")
