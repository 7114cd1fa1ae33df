"""A fresh environment that has what a wheel says it needs, and nothing else; no network is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from email import message_from_bytes
from importlib.metadata import distribution
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement

from tests.house.distributions import OURS, needed_by
from tests.house.source_tree import PACKAGE, ROOT
from tests.packaging.conftest import PLAIN_PYTHON, succeeded


def files_of(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return archive.namelist()


def modules_of(wheel: Path) -> list[str]:
    """The full names of all modules but those that run a program when they are imported."""
    paths = [Path(name).with_suffix("").parts for name in files_of(wheel) if name.endswith(".py")]
    names = (".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in paths)
    return sorted(name for name in names if not name.endswith(".__main__"))


def requirements_of(wheel: Path) -> list[Requirement]:
    """What a wheel asks for, extras too."""
    with ZipFile(wheel) as archive:
        (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        lines = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    return [Requirement(line) for line in lines]


class Environment:
    """An environment of the system's Python."""

    def __init__(self, folder: Path) -> None:
        self.programs = folder / "bin"
        self._python = str(self.programs / "python")
        succeeded(run(PLAIN_PYTHON, "-m", "venv", "--without-pip", str(folder)))
        self._packages = Path(self.tell("import sysconfig; print(sysconfig.get_path('purelib'))"))

    def install(self, name: str, wheels: dict[str, Path]) -> set[str]:
        """As people install it, from a folder instead of an index; gives the packages of others that it needs.

        These are the tests' own, linked. The installer checks that there are none missing.
        """
        needed = _needed(name, wheels)
        for each in map(distribution, needed):
            for entry in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
                (self._packages / entry).symlink_to(str(each.locate_file(entry)))
        pip = sys.executable if find_spec("pip") else PLAIN_PYTHON
        words = ["--quiet", "--no-index", "--no-compile", "--disable-pip-version-check", "--root-user-action=ignore"]
        place = ["--find-links", str(wheels[name].parent)]
        succeeded(run(pip, "-m", "pip", "--python", self._python, "install", *words, *place, name))
        self._take_compiled()
        return needed

    def _take_compiled(self) -> None:
        """Of modules that are those of the sources, take what is compiled of these: it is known by time and size."""
        for installed in (self._packages / PACKAGE).rglob("*.py"):
            source = ROOT / "src" / installed.relative_to(self._packages)
            compiled = Path(cache_from_source(str(source)))
            if compiled.exists() and installed.read_bytes() == source.read_bytes():
                os.utime(installed, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))
                kept = Path(cache_from_source(str(installed)))
                kept.parent.mkdir(exist_ok=True)
                shutil.copyfile(compiled, kept)

    def tell(self, code: str, *words: str) -> str:
        """What a program prints, which sees this environment alone."""
        return succeeded(run(self._python, "-I", "-c", code, *words)).stdout.strip()


def _needed(name: str, wheels: dict[str, Path]) -> set[str]:
    wanted = requirements_of(wheels[name])
    ours = {each.name for each in wanted} & OURS
    return needed_by(each for each in wanted if each.name not in OURS).union(*(_needed(each, wheels) for each in ours))


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own words
        words,
        cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PIP_CONFIG_FILE": os.devnull, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
