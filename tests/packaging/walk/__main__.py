"""The walk: what is released of these sources, over a fresh Debian, from the installation to the removal.

Two releases of one commit are made at two places and compared, and their signature is checked as the guide says; then
the Debian package, the wheels, the archive and the image are each installed, started, looked at by the doctor, upgraded
to a made-up next version, brought back, and removed. There is no systemd: a service is started by the command of its
unit, as its user. Nodes make a chain of their own, in networks that have a loopback and nothing else; what asks the
network for anything is apt, for packages of Debian, and pip, for those that programs take along.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from scripts.build_program import version_of_sources
from tests.packaging.by_hand import FOLDER, made_base, say, timed
from tests.packaging.conftest import ARCHITECTURE
from tests.packaging.container import Container
from tests.packaging.releases import GUIDE, SIGNER, commit_of, signing
from tests.packaging.walk.artifacts import Archive, Artifact, DebianPackage, Image, Release, Wheels
from tests.packaging.walk.emulation import CannotEmulateError, emulated
from tests.packaging.walk.machine import Machine, findings

OF_APT = ("var/cache/apt/", "var/lib/apt/", "var/log/apt/", "etc/gshadow-", "etc/shadow-")
"""What installing a package, or adding a user, leaves on any machine."""
MAKERS: Mapping[str, Callable[[Machine], Artifact]] = {
    "package": DebianPackage,
    "archive": Archive,
    "wheels": Wheels,
    "image": Image,
}


def arguments() -> argparse.Namespace:
    """What to walk through."""
    parser = argparse.ArgumentParser(prog="scripts/walk-release", description=__doc__)
    parser.add_argument("--suite", default="bookworm", help="the Debian whose Python releases are made with (bookworm)")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian", help="where its packages are")
    parser.add_argument("--debootstrap", default="", metavar="OPTIONS", help="more options of debootstrap")
    parser.add_argument("--only", action="append", choices=MAKERS, help="this artifact alone; may be repeated")
    return parser.parse_args()


def released(folder: Path, name: str, version: str, *words: str) -> Release:
    """A release of the sources as a version, made at a place of its own."""
    sources = folder / f"sources-{name}"
    commit = commit_of(sources, modified=1, version=version)
    made = folder / name
    places = (version, str(made), "--packages", str(FOLDER / "debian"))
    command = [sys.executable, "-m", "scripts.releasing", *places, *words]
    with (folder / f"{name}.log").open("w") as log:
        subprocess.run(command, cwd="/", env={**os.environ, "PYTHONPATH": str(sources)}, stdout=log, check=True)  # noqa: S603 - our own words
    return Release(made, version, commit)


def next_version(version: str) -> str:
    """One that was never made."""
    return f"{Version(version).major}.{Version(version).minor + 1}.0"


def make_releases(folder: Path) -> tuple[Release, Release]:
    """The release of these sources, compared and checked, and the next one."""
    version = version_of_sources()
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)  # noqa: S603, S607
    with timed(f"{version} for amd64 and arm64, twice at two places"):
        current = released(folder, "current", version, *signing(key))
        again = released(folder, "again", version, *signing(key))
    sums = [(each.folder / "SHA256SUMS").read_text() for each in (current, again)]
    assert sums[0] == sums[1], "the same bytes"
    say(re.sub("^", "    ", sums[0], flags=re.MULTILINE).rstrip())
    (current.folder / "allowed_signers").write_text(f"{SIGNER} {key.with_suffix('.pub').read_text()}")
    (commands,) = re.findall(r"```sh check\n(.*?)```", GUIDE, re.DOTALL)
    checked = subprocess.run(["sh", "-euc", commands], cwd=current.folder, check=True, capture_output=True, text=True)  # noqa: S603, S607
    say(f"    {checked.stdout.strip()}")
    following = next_version(version)
    with timed(f"{following}, which is made up"):
        upgrade = released(folder, "next", following, "--architecture", ARCHITECTURE.debian)
    return current, upgrade


def assert_release(node: Container, artifact: Artifact, release: Release) -> None:
    """That the program is the one that was released."""
    told = node.run(*artifact.tool("--version")).stdout
    assert f"{release.version} (full, mainnet)" in told, told
    assert release.commit in told, told


def look_at(artifact: Artifact, release: Release, head: int) -> int:
    """Start the node of what is installed, and look at it; gives its head, which is above the one before."""
    with artifact.running() as node:
        node.wait_for(f"Validated block #{head + 2} ")
        assert_release(node, artifact, release)
        found = findings(node.run(*artifact.tool("doctor", "--data-dir", artifact.data, "--json"), check=False))
        assert not found, found
        artifact.look_around(node)
        reached = node.head()
        user = Path(f"/proc/{node.first}").stat().st_uid
        code = node.stop(signal.SIGTERM)
    say(f"    {release.version}: user {user}, block {head} to {reached}, the doctor finds it well, ended with {code}")
    assert (code, bool(user)) == (0, True)
    return reached


def walk(artifact: Artifact, releases: Sequence[Release]) -> None:
    """From the installation to the removal."""
    before = artifact.machine.files()
    head = 0
    current, upgrade = releases
    for release in (current, upgrade, current):
        artifact.install(release)
        head = look_at(artifact, release, head)
    artifact.remove()
    data = artifact.data.lstrip("/")
    left = {each for each in artifact.machine.files() - before if not each.startswith((data, *OF_APT))}
    assert not left, left
    assert (artifact.kept / "state").is_dir()
    say("    removed: nothing is left but data, and what apt and useradd keep")


def try_arm64(folder: Path, base: Path, release: Release) -> None:
    """The image for arm64, as far as the emulator of its processor goes.

    It has too few addresses for those who read the state beside the node, so that nothing answers requests.
    """
    if ARCHITECTURE.debian == "arm64":
        return
    try:
        with timed("the image for arm64, emulated"), emulated() as users_of:
            image = Image(Machine(folder / "arm64", base), "arm64")
            image.users_of = users_of
            image.install(release)
            with image.running() as node:
                node.wait_for("Validated block #2 ")
                assert_release(node, image, release)
                say(f"    {release.version}: made blocks, ended with {node.stop(signal.SIGTERM)}")
    except CannotEmulateError as why:
        say(f"the image for arm64 was not run: {why}")


def main() -> int:
    """Walk through all that was asked for."""
    chosen = arguments()
    folder = FOLDER / "walk"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    releases = make_releases(folder)
    with timed(f"a base of {chosen.suite}"):
        base = made_base(chosen)
    for kind in chosen.only or MAKERS:
        with timed(kind):
            artifact = MAKERS[kind](Machine(folder / kind, base))
            walk(artifact, releases)
        shutil.rmtree(folder / kind)
    if "image" in (chosen.only or MAKERS):
        try_arm64(folder, base, releases[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
