"""The command: `scripts/release VERSION [FOLDER]`."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import Distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts import build_distributions, generate_specification
from scripts.build_distributions import TIME
from scripts.build_program import PROGRAM, ROOT, BuildError, python_version, run
from scripts.releasing.debian import build_package, require_builder
from scripts.releasing.image import base_layer, build_image, program_layer
from scripts.releasing.licences import needed, require_licences
from scripts.releasing.packages import fetched
from scripts.releasing.program import archive, assemble
from scripts.releasing.sbom import write_sbom, write_sbom_of_image
from scripts.releasing.sources import require_release_of, told_by_git
from scripts.releasing.sums import sign, write_sums
from scripts.releasing.wheels import ARCHITECTURES, Architecture, fetch, hashes, packages_in

TIGHTLY, LOOSELY = 6, 0
"""Levels of compression."""


def read_arguments(words: Sequence[str]) -> argparse.Namespace:
    """What was asked for."""
    arguments = argparse.ArgumentParser(
        prog="scripts/release", description="Makes all that is released of a version.", allow_abbrev=False
    )
    arguments.add_argument("version", help="as pyproject.toml has it")
    arguments.add_argument("folder", nargs="?", type=Path, help="a new or empty one; dist/VERSION unless it is named")
    arguments.add_argument(
        "--architecture", action="append", choices=sorted(ARCHITECTURES), help="only this one; may be repeated"
    )
    arguments.add_argument(
        "--packages",
        metavar="FOLDER",
        type=Path,
        help="with packages of Debian for images in a folder for each architecture, which apt fills where it has none",
    )
    arguments.add_argument(
        "--sign-with",
        metavar="COMMAND",
        help="a command that signs the file named after it, such as ssh-keygen -Y sign",
    )
    arguments.add_argument(
        "--quick",
        action="store_true",
        help="pack without compressing, in half of the time: for a trial, whose sums are its own",
    )
    return arguments.parse_args(words)


class Release:
    """What is made of one commit, in one folder."""

    def __init__(self, version: str, folder: Path, debian: Path | None, level: int) -> None:
        self.version = version
        self.folder = folder
        self.debian = debian.resolve() if debian else None
        self.level = level
        self.revision = told_by_git("rev-parse", "HEAD")
        self.time = int(told_by_git("log", "-1", "--format=%ct"))
        self.packages: dict[str, Distribution] = {}
        self.hashes: dict[str, list[str]] = {}

    def make(self, architectures: Sequence[Architecture], workshop: Path) -> None:
        """Make everything but the signature."""
        os.environ[TIME] = str(self.time)
        os.environ["LEDGERD_REVISION"] = self.revision
        build_distributions.main(self.folder)
        specification = self.folder / f"viz-ledger-specification-{self.version}.html"
        if generate_specification.main([str(specification)]):
            raise BuildError("the specification has references that lead nowhere")
        print(specification)
        for each in architectures:
            self.add_program(each, workshop / each.debian)
        licences = require_licences(needed(), self.packages)
        listed = self.folder / f"{PROGRAM}-{self.version}.cdx.json"
        write_sbom(listed, self.version, (self.revision, self.time), self.packages, (licences, self.hashes))
        print(listed)

    def add_program(self, architecture: Architecture, workshop: Path) -> None:
        """Make the program of a kind of machine, in the forms that it is given away in."""
        wheels = fetch(architecture, workshop / "wheels")
        program = workshop / PROGRAM
        assemble(wheels, program)
        if architecture.machine == platform.machine():
            run(
                [
                    "env",
                    "PYTHONDONTWRITEBYTECODE=1",
                    f"LEDGERD_PYTHON={sys.executable}",
                    str(program / PROGRAM),
                    "--version",
                ]
            )
        self.packages |= packages_in(program / "lib")
        for name, digest in hashes(wheels):
            of_package = self.hashes.setdefault(name, [])
            of_package.extend({digest} - {*of_package})
        tag = f"linux-{architecture.debian}-python{python_version()}"
        packed = self.folder / f"{PROGRAM}-{self.version}-{tag}.zip"
        archive(program, packed, self.time, self.level)
        print(packed)
        print(build_package(program, self.folder, self.version, architecture, self.level))
        self.add_image(program, architecture, workshop)

    def add_image(self, program: Path, architecture: Architecture, workshop: Path) -> None:
        """Make the image of a program, and the list of what is in it beside the program."""
        debian = fetched(architecture, (self.debian or workshop / "debian") / architecture.debian, workshop / "apt")
        image = self.folder / f"{PROGRAM}-{self.version}-linux-{architecture.debian}.oci.tar"
        layers = [base_layer(debian, self.time), program_layer(program, self.time)]
        build_image(layers, image, architecture, (self.version, self.revision, self.time), self.level)
        print(image)
        listed = image.with_suffix(".cdx.json")
        write_sbom_of_image(listed, self.version, (self.revision, self.time), architecture.debian, debian)
        print(listed)


def new_folder(folder: Path) -> Path:
    """A folder that has nothing in it yet: what lay there would be released too."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BuildError(f"{folder} is not empty")
    return folder.resolve()


def main(words: Sequence[str]) -> int:
    """Release, or say why not."""
    chosen = read_arguments(words)
    try:
        require_release_of(chosen.version)
        require_builder()
        folder = new_folder(chosen.folder or ROOT / "dist" / chosen.version)
        architectures = [ARCHITECTURES[name] for name in sorted(set(chosen.architecture or ARCHITECTURES))]
        with TemporaryDirectory() as workshop:
            Release(chosen.version, folder, chosen.packages, LOOSELY if chosen.quick else TIGHTLY).make(
                architectures, Path(workshop)
            )
        sums = write_sums(folder)
        print(sums)
        if chosen.sign_with:
            print(sign(sums, chosen.sign_with))
    except (BuildError, OSError) as problem:
        sys.stderr.write(f"scripts/release: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
