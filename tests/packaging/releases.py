"""Releases that tests make: of a commit of copied sources, for this machine, signed by a key of their own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.house.source_tree import ROOT
from tests.packaging.conftest import ARCHITECTURE, copied_sources, from_folder, succeeded
from tests.packaging.debs import make_up
from tests.packaging.environment import run

GUIDE = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
SIGNER = "releases@ledgerd"
_COMMITTER = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "tests"), ("EMAIL", "tests@localhost"), ("DATE", "1700000000 +0000"))
}


def commit_of(folder: Path, modified: int, version: str = "", permissions: int = 0) -> str:
    """Copy the sources to a place, and commit them: the same commit at every place. Gives its id.

    With a version, they are those of that version; permissions are what others may do besides.
    """
    sources = copied_sources(folder).folder
    if version:
        succeeded(run(sys.executable, "-m", "scripts.set_version", version, PYTHONPATH=str(sources)))
    for path in sources.rglob("*"):
        path.chmod(path.stat().st_mode | permissions)
        os.utime(path, (modified, modified))
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "A release")):
        succeeded(run("git", "-c", "core.compression=0", "-C", str(folder), *words, **_COMMITTER))
    return succeeded(run("git", "-C", str(folder), "rev-parse", "HEAD")).stdout.strip()


def release_command(*words: str) -> list[str]:
    return [sys.executable, "-m", "scripts.releasing", *words, "--architecture", ARCHITECTURE.debian]


def signing(key: Path) -> list[str]:
    """How the guide has a release signed, with a key."""
    (command,) = re.findall(r"```sh release\n(.*)\n```", GUIDE)
    script, version, *words = shlex.split(command)
    assert (script, version, words[1].split()[-1]) == ("scripts/release", "VERSION", "KEY")
    return [each.replace(" KEY", f" {key}") for each in words]


class Place:
    """Where releases are made: the packages of others, fetched or made up, and a key."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.folder = folder
        self.key = folder / "key"
        self.wheels = wheels
        succeeded(run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(self.key)))
        self.debian = folder / "debian"
        make_up(self.debian, ARCHITECTURE.debian)

    @property
    def signers(self) -> str:
        """The file that says who may sign, as the guide describes it."""
        return f"{SIGNER} {self.key.with_suffix('.pub').read_text()}"

    def begin(self, sources: Path, *words: str, umask: int = 0o022) -> subprocess.Popen[str]:
        """Start a release of the sources at some place, with pip kept from the network."""
        own = {"PYTHONPATH": str(sources), "TMPDIR": str(self.folder), **from_folder(self.wheels)}
        return subprocess.Popen(  # noqa: S603 - our own words
            [*release_command(*words), "--quick", "--packages", str(self.debian), *signing(self.key)],
            cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **own},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            umask=umask,
        )


def succeeds(process: subprocess.Popen[str]) -> None:
    told, _ = process.communicate()
    assert process.returncode == 0, told


def refusal(sources: Path, *words: str) -> str:
    """What is said of a release that is refused."""
    done = run(*release_command(*words), PYTHONPATH=str(sources))
    assert done.returncode == 1, done.stdout
    return done.stderr


def pinned_hashes() -> set[str]:
    lock = (ROOT / "requirements-runtime.lock").read_text(encoding="utf-8")
    return {line.partition("sha256:")[2].split()[0] for line in lock.splitlines() if "--hash=sha256:" in line}
