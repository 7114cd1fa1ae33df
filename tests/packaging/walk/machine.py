"""A machine of the walk: a Debian of its own in a folder, without a systemd and without a network but a loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.packaging.container import PATH, Container
from tests.patience import PATIENCE

SURROUNDINGS = Path(__file__).with_name("surroundings.py")
CLOCKS = ("1231", "1232", "1233")
"""Ports of time servers; nobody else has ports there."""

OF_THE_MACHINE = {"disk-nearly-full", "disk-slow", "memory-low"}
NOT_TO_BE_HAD = {
    "not-shown-reachable": "no peer comes where there is no network",
}
"""Findings of `ledgerd doctor` that come of where the walk is, and not of what was installed."""

IN_THE_ROOT = """
set -eu
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
exec chroot "$1" /bin/sh -euc "$2"
"""
INSTALLER = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}


class Machine:
    """The root of a machine, in a folder that its containers are put together in."""

    def __init__(self, folder: Path, base: Path) -> None:
        self.folder = folder
        self.root = folder / "root"
        folder.mkdir(parents=True)
        subprocess.run(["cp", "-a", base, self.root], check=True)  # noqa: S603, S607 - our own folders

    def do(self, script: str, *, network: bool = False) -> str:
        """Have root run a script there; with the network of the host where packages are fetched from the mirror."""
        namespaces = ["--mount", "--pid", "--ipc", "--uts", *([] if network else ["--net"])]
        done = subprocess.run(  # noqa: S603 - our own words
            ["unshare", *namespaces, "--fork", "--kill-child", "sh", "-c", IN_THE_ROOT, "sh", self.root, script],  # noqa: S607
            env={"PATH": PATH, **INSTALLER},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def bring(self, *files: Path) -> None:
        """Put files into /mnt there."""
        for file in files:
            shutil.copy(file, self.root / "mnt")

    def files(self) -> set[str]:
        """The paths of all files and folders there."""
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*")}


@contextmanager
def clocks(node: Container) -> Iterator[None]:
    """Time servers in the network of a container."""
    entering = ["nsenter", "--target", str(node.first), "--net"]
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*entering, sys.executable, "-I", SURROUNDINGS, *CLOCKS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def as_user(user: str, folder: str, *words: str) -> list[str]:
    """How a service of the system is started as its user, by whoever has no systemd."""
    given = ["--reuid", user, "--regid", user, "--init-groups", "--inh-caps=-all", "--no-new-privs"]
    return ["setpriv", *given, "--", "sh", "-c", 'umask 077 && cd "$0" && exec "$@" 2>&1', folder, *words]


def findings(told: subprocess.CompletedProcess[str]) -> set[str]:
    """What the doctor has found that is not the walk's own doing."""
    found = {each["name"]: each["what"] for each in json.loads(told.stdout)["findings"]}
    return {f"{name}: {what}" for name, what in found.items() if name not in {*NOT_TO_BE_HAD, *OF_THE_MACHINE}}
