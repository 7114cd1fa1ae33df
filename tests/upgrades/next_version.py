"""A made-up next version of the program: this one, whose state, projections and history have the next formats."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import ledgerd
from ledgerd.history.store import tables
from ledgerd.state.files import header

SOURCE = Path(ledgerd.__file__).parent
STATE, HISTORY = header.STATE.number, tables.HISTORY.number
STEPS = "_STEPS: tuple[Conversion, ...] = ()"
CHANGES = {
    "state/files/header.py": (f'state", {STATE}, "1.0.0")', f'state", {STATE + 1}, "9.1.0")'),
    "history/store/tables.py": (f'history", {HISTORY}, "1.0.0")', f'history", {HISTORY + 1}, "9.1.0")'),
    "state/conversion.py": (STEPS, f"_STEPS = (Conversion({STATE + 1}, str),)"),
    "projections/kept.py": (STEPS, f"_STEPS = (Conversion({STATE + 1}, str),)"),
    "history/embedded/following.py": (STEPS, f"_STEPS = (Conversion({HISTORY + 1}, str),)"),
}
"""What stands in each file, and what stands there in the next version: steps that change no row."""


def next_version(folder: Path) -> Sequence[str]:
    """Make it in a folder; the words that begin a command of it."""
    package = Path(shutil.copytree(SOURCE, folder / "ledgerd", ignore=shutil.ignore_patterns("__pycache__")))
    for name, (present, later) in CHANGES.items():
        text = (package / name).read_text(encoding="utf-8")
        assert present in text
        (package / name).write_text(text.replace(present, later), encoding="utf-8")
    return ("env", f"PYTHONPATH={folder}", sys.executable, "-m", "ledgerd.cli")
