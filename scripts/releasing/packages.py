"""The packages of Debian that an image consists of beside the program: no script of theirs is run, on no machine."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from scripts.build_program import BuildError, python_version, run
from scripts.releasing.wheels import Architecture

ASKED_FOR = ("base-files", "ca-certificates", "coreutils", "dash", "diffutils", "findutils", "util-linux")
"""What the entry point of the image calls, and certificates; beside Python, and what all these need."""


class Package(NamedTuple):
    """A package as it was fetched."""

    file: Path
    control: str
    """What it says of itself, as dpkg keeps it for what is installed."""

    def field(self, name: str) -> str:
        """A field of its control file."""
        found = re.search(rf"^{name}: (.+)$", self.control, re.MULTILINE)
        if found is None:
            raise BuildError(f"{self.file.name} says no {name}")
        return found[1]

    @property
    def digest(self) -> str:
        """Its SHA-256."""
        return hashlib.sha256(self.file.read_bytes()).hexdigest()


def fetched(architecture: Architecture, folder: Path, workshop: Path) -> list[Package]:
    """The packages that lie in a folder, in the order of their names; apt fetches them where it has none."""
    if not any(folder.glob("*.deb")):
        fresh = folder.with_name(f"{folder.name}.new")  # with some of them alone, nobody would take it for the whole
        shutil.rmtree(fresh, ignore_errors=True)
        fetch_by_apt(architecture, fresh, workshop)
        fresh.replace(folder)
    packages = [Package(file, _told_by_dpkg("--field", file).decode()) for file in folder.glob("*.deb")]
    strange = [each.file.name for each in packages if each.field("Architecture") not in {architecture.debian, "all"}]
    if strange:
        raise BuildError(f"{folder}: {min(strange)} is not for {architecture.debian}")
    return sorted(packages, key=lambda each: each.field("Package"))


def fetch_by_apt(architecture: Architecture, folder: Path, workshop: Path) -> None:
    """Fetch what a new machine of some kind would need, from where apt of this one is configured to fetch from."""
    lists, status = workshop / "lists", workshop / "status"
    for place in (lists, folder):
        (place / "partial").mkdir(parents=True)
    status.touch()
    print(f"Fetching the packages of the image for {architecture.debian}", flush=True)
    options = {
        "Dir::State::lists": lists,
        "Dir::State::status": status,  # nothing is installed
        "Dir::Cache::archives": folder,
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
        "APT::Architecture": architecture.debian,
        "APT::Architectures": architecture.debian,
        "APT::Sandbox::User": "root",  # another user of a machine could not write here
        "APT::Update::Error-Mode": "any",
    }
    apt = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run([*apt, "update"])
    wanted = [f"python{python_version()}", *ASKED_FOR]
    run([*apt, "install", "--download-only", "--yes", "--no-install-recommends", *wanted])
    (folder / "lock").unlink(missing_ok=True)  # of apt, as the folder for what it has in part
    (folder / "partial").rmdir()


def files_of(package: Package) -> bytes:
    """The archive of what a package installs."""
    return _told_by_dpkg("--fsys-tarfile", package.file)


def _told_by_dpkg(question: str, file: Path) -> bytes:
    told = subprocess.run(  # noqa: S603 - our own words
        ["dpkg-deb", question, str(file)],  # noqa: S607 - that of whoever releases
        capture_output=True,
        check=False,
    )
    if told.returncode:
        raise BuildError(f"{file.name}: {told.stderr.decode(errors='replace').strip()}")
    return told.stdout
