"""The packages of others that a program takes along: their wheels, as the lock pins them, for one kind of machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

from packaging.utils import canonicalize_name, parse_wheel_filename

from scripts.build_program import LOCK, BuildError, pip_command, python_version, run

GLIBC = (28, 17, 12, 5)
"""Minor versions of the C library that wheels are made for: those of Debian 10 and later have all of them."""


class Architecture(NamedTuple):
    """A kind of machine."""

    debian: str
    machine: str
    """As Python and wheels call it."""

    @property
    def platforms(self) -> list[str]:
        """Tags of the wheels that run there, the best first: the same wherever a release is made."""
        modern = [f"manylinux_2_{minor}_{self.machine}" for minor in GLIBC]
        return modern + [f"{name}_{self.machine}" for name in ("manylinux2014", "manylinux2010", "manylinux1")]


ARCHITECTURES = {each.debian: each for each in (Architecture("amd64", "x86_64"), Architecture("arm64", "aarch64"))}


def fetch(architecture: Architecture, folder: Path) -> list[Path]:
    """Have pip fetch the wheels of the lock, and none whose hash is not in it."""
    print(f"Fetching the packages of {LOCK.name} for {architecture.debian}", flush=True)
    with TemporaryDirectory() as tools:
        command = [*pip_command(Path(tools)), "download", "--quiet", "--no-input", "--disable-pip-version-check"]
        command += ["--dest", str(folder), "--no-deps", "--only-binary", ":all:"]
        command += ["--require-hashes", "--requirement", str(LOCK)]
        command += ["--implementation", "cp", "--python-version", python_version()]
        for platform in architecture.platforms:
            command += ["--platform", platform]
        run(command)
    return sorted(folder.glob("*.whl"))


def unpack(wheels: list[Path], folder: Path) -> None:
    """Put the files of wheels into a folder of packages: just these, with nothing that an installer adds."""
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            beside = {name.partition("/")[0] for name in archive.namelist() if ".data/" in name.partition("/")[0] + "/"}
            if beside:
                raise BuildError(f"{wheel.name} has files for other places than the packages: {min(beside)}")
            archive.extractall(folder)


def hashes(wheels: list[Path]) -> Iterator[tuple[str, str]]:
    """The name of each package, and the SHA-256 of its wheel."""
    for wheel in wheels:
        yield str(parse_wheel_filename(wheel.name)[0]), hashlib.sha256(wheel.read_bytes()).hexdigest()


def packages_in(folder: Path) -> dict[str, Distribution]:
    """What is installed in a folder, by names."""
    return {canonicalize_name(each.metadata["Name"]): each for each in distributions(path=[str(folder)])}
