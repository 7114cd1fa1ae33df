"""What tests of the packaging share: the program that the build script leaves, and images of it without an engine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from scripts.releasing.wheels import ARCHITECTURES, fetch
from tests.house.source_tree import ROOT
from tests.memory import memory_folder
from tests.packaging.container import require_root
from tests.packaging.dockerfile import read_dockerfile
from tests.packaging.image import Builder

DOCKERFILE = ROOT / "share" / "ledgerd" / "container" / "Dockerfile"
SOURCES = (
    ".gitignore",
    "build-linux.sh",
    "build-mac.sh",
    "pyproject.toml",
    "requirements-runtime.lock",
    "LICENSE",
    "README.md",
    "distributions",
    "docs/spec",
    "scripts",
    "share",
    "src",
    "tests/vectors",
)
ARCHITECTURE = next(each for each in ARCHITECTURES.values() if each.machine == platform.machine())
PLAIN_PYTHON = str(getattr(sys, "_base_executable", sys.executable))
"""That of the system, not that of the environment that the tests run in."""


ENOUGH = 1 << 30
"""Bytes of memory: what is built has thousands of files."""


class Sources(NamedTuple):
    """A copy of the sources, to build in."""

    folder: Path

    def script(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run one of the scripts, from another directory."""
        return subprocess.run(  # noqa: S603 - our own script
            [self.folder / words[0], *words[1:]],
            cwd="/",
            env={**os.environ, "PYTHON": PLAIN_PYTHON, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def program(self) -> Path:
        return self.folder / "build" / "programs" / "ledgerd"


class Built(NamedTuple):
    """What was built, copied to where nothing else is."""

    full: Path
    small: Path
    """For little memory, and for the testnet."""


def copied_sources(folder: Path) -> Sources:
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
    return Sources(folder)


def from_folder(wheels: Path) -> dict[str, str]:
    """The variables that keep pip from the network."""
    return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}


def succeeded(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, f"{done.args}: {done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="session")
def sources() -> Iterator[Sources]:
    """Sources to build in; what is built there is whatever was built last."""
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as folder:
        yield copied_sources(Path(folder) / "sources")


@pytest.fixture(scope="session")
def wheels() -> Iterator[Path]:
    """The packages of the lock for this machine, fetched once for all that is built and released."""
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as folder:
        fetch(ARCHITECTURE, Path(folder))
        yield Path(folder)


@pytest.fixture(scope="session")
def built(sources: Sources, wheels: Path) -> Iterator[Built]:
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as text:
        folder = Path(text)
        folder.chmod(0o755)
        succeeded(sources.script("build-linux.sh", **from_folder(wheels)))
        shutil.copytree(sources.program, folder / "full", copy_function=os.link)
        succeeded(sources.script("build-linux.sh", "--lowmem", "--testnet"))
        shutil.copytree(sources.program, folder / "small", copy_function=os.link)
        yield Built(folder / "full", folder / "small")


@pytest.fixture(scope="session")
def images(built: Built) -> Iterator[Builder]:
    """The images over the file system of this machine: what the Dockerfile does after it has installed packages."""
    require_root()
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as text:
        folder = Path(text)
        builder = Builder(
            read_dockerfile(DOCKERFILE),
            ROOT,
            Path("/"),
            folder,
            given={"build-latest": built.full, "build-testnet": built.full},
            skips=lambda each: "apt-get" in each.text,
        )
        reachable = builder.build("base").layers[0]
        for parent in Path(PLAIN_PYTHON).resolve().parents:
            opened = reachable / str(parent).lstrip("/")
            opened.mkdir(parents=True, exist_ok=True)
            opened.chmod(0o755)
        yield builder
