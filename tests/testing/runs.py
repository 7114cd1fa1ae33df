"""Runs of pytest over sample tests, as whoever installs ledgerd has them: in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
"""Without what samples have no use for, which takes longer to load than pytest."""


def pytest_over(folder: Path, tests: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a file."""
    (folder / "test_sample.py").write_text(tests, encoding="utf-8")
    return subprocess.run(  # noqa: S603 - our own program
        [*PYTEST, *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
