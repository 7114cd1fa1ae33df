"""The packaging in full, by hand: a freshly made Debian or Ubuntu, the Dockerfile's every step over it, nodes in it.

Packages of the system come from the mirror that is named, and those of Python from the index of pip; the nodes run
without a network.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.house.source_tree import ROOT
from tests.packaging.container import Container
from tests.packaging.dockerfile import read_dockerfile
from tests.packaging.image import Builder, Image

DOCKERFILE = ROOT / "share" / "ledgerd" / "container" / "Dockerfile"
FOLDER = ROOT / "build" / "packaging"
CERTIFICATES = "etc/ssl/certificates-of-the-builder.pem"
ASKED_FOR = ("CURL_CA_BUNDLE", "PIP_CERT", "SSL_CERT_FILE")
"""Where programs look for certificates, on networks that have their own."""

PROGRAM = "/source/build/programs/ledgerd"
VALIDATOR = {"NODE_WITNESS": "alice", "NODE_SEED_NODES": "192.0.2.1:2001, 192.0.2.2:2001"}


def arguments() -> argparse.Namespace:
    """What to build over."""
    parser = argparse.ArgumentParser(prog="scripts/packaging", description=__doc__)
    parser.add_argument("--suite", default="trixie", help="the release of the base, as debootstrap names it (trixie)")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian", help="where its packages are")
    parser.add_argument("--debootstrap", default="", metavar="OPTIONS", help="more options of debootstrap")
    parser.add_argument(
        "--only-program", action="store_true", help="build the program, and no images: for a base with an old Python"
    )
    return parser.parse_args()


def say(line: str) -> None:
    """For the one who waits."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say how long something took."""
    say(f"{what} ...")
    began = time.monotonic()
    yield
    say(f"{what}: {time.monotonic() - began:.1f} s")


def made_base(chosen: argparse.Namespace) -> Path:
    """A small system of the suite; that of the last time where there is one."""
    base: Path = FOLDER / chosen.suite / "base"
    if not base.exists():
        fresh = base.with_name("base.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        more = chosen.debootstrap.split()
        subprocess.run(  # noqa: S603 - as the one who runs this asks for
            ["debootstrap", "--variant=minbase", *more, chosen.suite, fresh, chosen.mirror],  # noqa: S607
            check=True,
            stdout=subprocess.DEVNULL,
        )
        fresh.rename(base)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(Path("/etc") / name, base / "etc" / name)
    return base


def network_of(base: Path) -> Mapping[str, str]:
    """What steps of the build need to know of this machine's network."""
    kept = {name: os.environ[name] for name in ("PYTHON_CONFIGURE",) if name in os.environ}
    given = next((os.environ[name] for name in ASKED_FOR if name in os.environ), "")
    if not given:
        return kept
    (base / CERTIFICATES).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(given, base / CERTIFICATES)
    return {**kept, **dict.fromkeys(ASKED_FOR, f"/{CERTIFICATES}")}


def started(image: Image, folder: Path, program: Sequence[str], volume: Path, **variables: str) -> Container:
    """A container of an image, with a volume."""
    return Container(
        folder,
        image.base,
        image.layers,
        program,
        environment={**image.environment, **variables},
        volumes={"/var/lib/ledgerd": volume},
    )


def fresh_volume(folder: Path, name: str) -> Path:
    """An empty directory of root, as an engine makes one."""
    volume = folder / f"volume-{name}"
    shutil.rmtree(volume, ignore_errors=True)
    volume.mkdir()
    return volume


def size_of(folder: Path) -> float:
    """In megabytes."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def try_image(image: Image, folder: Path, kind: str, served: str, **variables: str) -> None:
    """A node of an image, of one kind: it answers the check of the synchronization, is healthy, and stops."""
    with timed(f"  a node of the kind {kind}, its network a loopback"):
        volume = fresh_volume(folder, kind)
        with started(image, folder, image.entrypoint, volume, **variables) as node:
            node.wait_for("start listening for ws requests")
            if kind == "testnet":
                node.wait_for("Validated block #2 ")
            head = node.head()
            node.run(*image.health)
            listening = {f"{served}:8090", f"{served}:8091", "0.0.0.0:2001"}
            assert listening <= node.listeners(), node.listeners()
            uid = Path(f"/proc/{node.first}").stat().st_uid
            code = node.stop(signal.SIGTERM)
        say(f"    head {head}, user {uid}, ended with {code}, owners {owners(volume)}")
        assert (uid, code, owners(volume)) == (2001, 0, {2001})


def owners(folder: Path) -> set[int]:
    """Whose the files of a folder are."""
    return {path.lstat().st_uid for path in (folder, *folder.rglob("*"))}


def try_program(image: Image, folder: Path) -> None:
    """The program as it was built, away from its sources: a testnet makes blocks."""
    elsewhere = f"cp -r {PROGRAM} /srv/node && rm -r /source && cd / && exec /srv/node/ledgerd"
    words = (
        f"{elsewhere} --config-file /srv/node/share/ledgerd/config/config_testnet.ini --data-dir /var/lib/ledgerd 2>&1"
    )
    with (
        timed("  the program, copied elsewhere, its sources gone"),
        started(image, folder, ["sh", "-c", words], fresh_volume(folder, "program")) as node,
    ):
        node.wait_for("Validated block #2 ")
        say(f"    head {node.head()}, ended with {node.stop(signal.SIGTERM)}")


def main() -> int:
    chosen = arguments()
    folder = FOLDER / chosen.suite
    with timed(f"a base of {chosen.suite}"):
        base = made_base(chosen)
    layers = folder / "layers"
    shutil.rmtree(layers, ignore_errors=True)
    layers.mkdir()
    builder = Builder(read_dockerfile(DOCKERFILE), ROOT, base, layers, network=network_of(base))
    with timed("install-deps-linux.sh and build-linux.sh"):
        program = builder.build("build-latest")
    try_program(program, folder)
    if chosen.only_program:
        return 0
    for name in ("latest", "testnet"):
        with timed(f"the image {name}"):
            builder.build(name)
    latest, testnet = builder.build("latest"), builder.build("testnet")
    say(f"  {sum(map(size_of, latest.layers)):.0f} MB above a base of {size_of(base):.0f} MB")
    try_image(latest, folder, "full", "0.0.0.0")  # noqa: S104 - looked for, and in a network of its own
    try_image(latest, folder, "validator", "127.0.0.1", **VALIDATOR)
    try_image(testnet, folder, "testnet", "0.0.0.0")  # noqa: S104 - (the same)
    return 0


if __name__ == "__main__":
    sys.exit(main())
