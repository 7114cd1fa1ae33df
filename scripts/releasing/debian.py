"""The package for Debian: the program in /opt, its services, and a configuration that upgrades keep."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from ledgerd.cli.completion import script_of
from scripts.build_distributions import TIME
from scripts.build_program import PROGRAM, ROOT, BuildError, run
from scripts.releasing.wheels import Architecture

SHARE = ROOT / "share" / PROGRAM
RECIPE = SHARE / "debian"
SCRIPTS = ("postinst", "prerm", "postrm")
BUILDER = "dpkg-deb"
COMPLETIONS = {
    "bash": f"bash-completion/completions/{PROGRAM}",
    "zsh": f"zsh/vendor-completions/_{PROGRAM}",
    "fish": f"fish/vendor_completions.d/{PROGRAM}.fish",
}
"""Where each shell looks for what programs bring along, below `/usr/share`."""


def require_builder() -> None:
    """Refuse where packages cannot be built, before anything else is."""
    if shutil.which(BUILDER) is None:
        raise BuildError(f"{BUILDER} is not on this machine: release on Debian or Ubuntu, or install the package dpkg")


def debian_version(version: str) -> str:
    """A version whose candidates and drafts come before it, as Debian sorts them."""
    return re.sub(r"(?<=\d)\.?(a|b|rc|dev)(?=\d)", r"~\1", version)


def build_package(program: Path, folder: Path, version: str, architecture: Architecture, level: int) -> Path:
    """Build the package of an assembled program, all its files of the time that is given in SOURCE_DATE_EPOCH."""
    epoch = int(os.environ[TIME])
    tree = program.with_name("package")
    installed = tree / "opt" / PROGRAM
    shutil.copytree(program, installed)
    link = tree / "usr" / "bin" / PROGRAM
    link.parent.mkdir(parents=True)
    link.symlink_to(f"../../opt/{PROGRAM}/{PROGRAM}")
    for unit in sorted((SHARE / "systemd").glob("*.service")):
        write(tree / "usr" / "lib" / "systemd" / "system" / unit.name, unit_of_package(unit))
    kept = add_configuration(tree / "etc" / PROGRAM)
    add_documents(tree / "usr" / "share" / "doc" / PROGRAM, version)
    add_completions(tree / "usr" / "share")
    python = (program / "interpreter").read_text(encoding="utf-8").split()[0]
    major, minor = map(int, python.split("."))
    control = {
        "VERSION": debian_version(version),
        "ARCHITECTURE": architecture.debian,
        "PYTHON": python,
        "NEXT_PYTHON": f"{major}.{minor + 1}",
        "SIZE": str(sum(path.lstat().st_size for path in tree.rglob("*") if path.is_file()) // 1024),
    }
    add_control(tree / "DEBIAN", control, kept)
    for path in (tree, *tree.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (epoch, epoch), follow_symlinks=False)  # dpkg-deb sets back only what is later
    file = folder / f"{PROGRAM}_{debian_version(version)}_{architecture.debian}.deb"
    run([BUILDER, "--root-owner-group", "-Zgzip", f"-z{level}", "--build", str(tree), str(file)])
    return file


def write(file: Path, text: str) -> None:
    """Write a file of the package, and the folders that it is in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o644)


def unit_of_package(unit: Path) -> str:
    """A unit with the paths of the package in place of those of an installation by hand."""
    text = unit.read_text(encoding="utf-8").replace(f"/usr/local/bin/{PROGRAM}", f"/usr/bin/{PROGRAM}")
    return re.sub(rf"/etc/{PROGRAM}-(\w+)\.conf", rf"/etc/{PROGRAM}/\1.conf", text)


def add_configuration(folder: Path) -> list[str]:
    """What operators edit; gives the paths, which dpkg keeps over upgrades."""
    write(folder / "config.ini", (SHARE / "config" / "config.ini").read_text(encoding="utf-8"))
    for file in sorted(RECIPE.glob("*.conf")):
        write(folder / file.name, file.read_text(encoding="utf-8"))
    return sorted(f"/etc/{PROGRAM}/{path.name}" for path in folder.iterdir())


def add_documents(folder: Path, version: str) -> None:
    """The licence, and what changed, where Debian looks for them."""
    others = f"Packages of others are in /opt/{PROGRAM}/lib, each with its licence in its folder *.dist-info.\n\n"
    write(folder / "copyright", others + (ROOT / "LICENSE").read_text(encoding="utf-8"))
    entry = f"{PROGRAM} ({debian_version(version)}) stable; urgency=medium\n\n  * Release {version}.\n"
    (folder / "changelog.gz").write_bytes(gzip.compress(entry.encode(), mtime=0))
    (folder / "changelog.gz").chmod(0o644)


def add_completions(folder: Path) -> None:
    """What shells complete commands and options with."""
    for shell, place in COMPLETIONS.items():
        write(folder / place, script_of(shell))


def add_control(folder: Path, values: Mapping[str, str], kept: list[str]) -> None:
    """What dpkg reads and runs."""
    text = (RECIPE / "control").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    write(folder / "control", text)
    write(folder / "conffiles", "".join(f"{path}\n" for path in kept))
    for name in SCRIPTS:
        shutil.copy(RECIPE / name, folder)
        (folder / name).chmod(0o755)
