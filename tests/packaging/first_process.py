"""The first process of a container without an engine: mounts its file system, and hands over to its program.

Runs in namespaces of its own, which `container` or `image` has made by `unshare`. It is run, never imported.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)  # noqa: S603, S607 - as root, in a mount namespace of our own


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def copy(source: Path, target: Path) -> None:
    """With owners, modes and what overlays mark as deleted."""
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)  # noqa: S603, S607 - our own folders


def assemble(workshop: Path, base: Path, layers: list[str], volumes: dict[str, str]) -> Path:
    """The file system: layers over a base, and what an engine mounts. The last layer stays as it is.

    None may lie within the base, which can be the root of this machine: such a layer is copied into memory first.
    """
    mount("-t", "tmpfs", "tmpfs", str(workshop))
    upper, work, root = (workshop / name for name in ("upper", "work", "root"))
    for folder in (upper, work, root):
        folder.mkdir()
    lower = [base]
    for number, layer in enumerate(map(Path, layers[:-1])):
        beside = layer
        if layer.is_relative_to(base) and layer.stat().st_dev == base.stat().st_dev:
            beside = workshop / str(number)
            beside.mkdir()
            copy(layer, beside)
        lower.insert(0, beside)
    copy(Path(layers[-1]), upper)
    lowers = ":".join(map(str, lower))
    mount("-t", "overlay", "-o", f"lowerdir={lowers},upperdir={upper},workdir={work}", "overlay", str(root))
    mount("-t", "proc", "proc", str(root / "proc"))
    mount("--rbind", "/dev", str(root / "dev"))
    for place in ("tmp", "run"):
        mount("-t", "tmpfs", "-o", "mode=1777", "tmpfs", str(root / place))
    for place, source in volumes.items():
        target = root / place.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(source).is_dir():
            target.mkdir(exist_ok=True)
        else:
            target.touch()
        mount("--bind", source, str(target))
    return root


def become(root: Path, program: list[str], environment: dict[str, str], folder: str) -> None:
    os.chroot(root)
    os.chdir(folder)
    os.execvpe(program[0], program, environment)  # noqa: S606 - that is what it is for


def main() -> int:
    order = json.loads(sys.argv[1])
    layers, keeps_layer = order["layers"], order["keeps_layer"]
    root = assemble(Path(order["workshop"]), Path(order["base"]), layers, order["volumes"])
    if not keeps_layer:
        loopback_up()
        become(root, order["program"], order["environment"], "/")
    child = os.fork()
    if child == 0:
        become(root, order["program"], order["environment"], order["folder"])
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        shutil.rmtree(layers[-1])
        Path(layers[-1]).mkdir()
        copy(Path(order["workshop"]) / "upper", Path(layers[-1]))
    return code


if __name__ == "__main__":
    sys.exit(main())
