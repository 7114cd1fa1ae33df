"""Builds what is published: of each distribution its sources, and the wheel from these sources alone.

It asks the network for nothing: the builder is the one that `scripts/setup` has installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_sdist, build_wheel

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = (ROOT / "distributions" / "client", ROOT / "distributions" / "conformance", ROOT)
TIME = "SOURCE_DATE_EPOCH"


def build(project: Path, folder: Path) -> tuple[Path, Path]:
    """The source distribution of a project, and its wheel."""
    with chdir(project):
        sources = folder / build_sdist(str(folder))
    return sources, wheel_of(sources, folder)


def wheel_of(sources: Path, folder: Path) -> Path:
    """The wheel from a source distribution that nothing else lies beside."""
    with TemporaryDirectory() as place:
        with tarfile.open(sources) as archive:
            archive.extractall(place, filter="data")
        (unpacked,) = Path(place).iterdir()
        with chdir(unpacked):
            return folder / build_wheel(str(folder))


def time_of_commit() -> str:
    """The time that files are said to be of."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - our own words


def main(folder: Path) -> None:
    """Build all, and say what was built."""
    if TIME not in os.environ and (ROOT / ".git").exists():
        os.environ[TIME] = time_of_commit()
    folder.mkdir(parents=True, exist_ok=True)
    for project in PROJECTS:
        for file in build(project, folder.resolve()):
            print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
