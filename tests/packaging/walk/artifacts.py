"""The artifacts of a release as an operator has them: how each is installed, started, and taken away again."""

from __future__ import annotations

import re
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from scripts.build_program import python_version
from scripts.releasing.debian import debian_version
from scripts.releasing.wheels import fetch
from tests.house.source_tree import ROOT
from tests.packaging.conftest import ARCHITECTURE
from tests.packaging.container import Container
from tests.packaging.layouts import Layout, read_layout
from tests.packaging.walk.machine import CLOCKS, Machine, as_user, clocks

TEMPLATE = (ROOT / "share" / "ledgerd" / "config" / "config_testnet.ini").read_text(encoding="utf-8")
OWN_CLOCKS = "".join(f"ntp-server = 127.0.0.1:{port}\n" for port in CLOCKS)
CONFIGURATION = TEMPLATE.replace("chain = testnet\n", f"chain = testnet\n{OWN_CLOCKS}")
"""A chain of its own, so that a node has something to do without a network."""

APT = "apt-get -qq -o Dpkg::Use-Pty=0 --yes --no-install-recommends"


class Release(NamedTuple):
    """A release, and what its programs say of themselves."""

    folder: Path
    version: str
    commit: str

    def file(self, pattern: str) -> Path:
        """One of its files."""
        (found,) = self.folder.glob(pattern)
        return found


class Artifact(ABC):
    """What the walk does with each."""

    data: str
    """Where its data are; nothing else is to be left of it."""
    kept: Path
    """The folder of the host that is there, while it runs and after it was removed."""
    environment: Mapping[str, str] = {}
    users_of: int | None = None
    """A process in whose user namespace it runs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @abstractmethod
    def install(self, release: Release) -> None:
        """Install a release, over another one where there is one."""

    @abstractmethod
    def node(self) -> Sequence[str]:
        """How its node is started."""

    @abstractmethod
    def tool(self, *words: str) -> Sequence[str]:
        """How the program is run beside the node."""

    @abstractmethod
    def remove(self) -> None:
        """Take away all but data."""

    @contextmanager
    def running(self) -> Iterator[Container]:
        """Its node, with the time servers that it asks."""
        with (
            Container(
                self.machine.folder,
                self.machine.root,
                [],
                self.node(),
                environment=self.environment,
                volumes={self.data: self.kept},
                users_of=self.users_of,
            ) as node,
            clocks(node),
        ):
            yield node

    def look_around(self, node: Container) -> None:  # noqa: B027 - most have nothing else
        """Look at what else is started of it, beside its running node."""


class DebianPackage(Artifact):
    """Installed by apt with what it needs; its node is started as the unit says, since there is no systemd."""

    data = "/var/lib/ledgerd"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.kept = machine.root / "var/lib/ledgerd"

    def install(self, release: Release) -> None:
        file = release.file(f"*_{debian_version(release.version)}_{ARCHITECTURE.debian}.deb")
        self.machine.bring(file)
        is_new = not (self.machine.root / "etc/ledgerd").exists()
        script = f"{APT} --allow-downgrades install /mnt/{file.name}; rm /mnt/{file.name}"
        self.machine.do(f"{APT} update; {script}" if is_new else script, network=True)
        configuration = self.machine.root / "etc/ledgerd/config.ini"
        if is_new:
            configuration.write_text(CONFIGURATION)
        assert configuration.read_text() == CONFIGURATION, "an upgrade keeps what was edited"

    def node(self) -> Sequence[str]:
        return self.service("ledgerd")

    def service(self, name: str) -> Sequence[str]:
        """The command of a unit, as its user."""
        text = (self.machine.root / f"usr/lib/systemd/system/{name}.service").read_text()
        told = dict(re.findall(r"^(\w+)=(.+)$", text, re.MULTILINE))
        command = f"env {told.get('Environment', '')} {told['ExecStart']}"
        if file := told.get("EnvironmentFile"):
            options = (self.machine.root / file.lstrip("/")).read_text()
            for variable, value in re.findall(r"^(\w+)=(.*)$", options, re.MULTILINE):
                command = command.replace(f"${{{variable}}}", value).replace(f"${variable}", value)
        return as_user(told.get("User", "daemon"), told.get("WorkingDirectory", "/"), *shlex.split(command))

    def look_around(self, node: Container) -> None:
        """The other services: each answers on what its options in /etc say."""
        signer = self.machine.root / "etc/ledgerd/signer.conf"
        if "VALIDATOR=\n" in signer.read_text():
            signer.write_text(signer.read_text().replace("VALIDATOR=\n", "VALIDATOR=committee\n"))
            (key,) = re.findall("^private-key = (.+)$", TEMPLATE, re.MULTILINE)
            place = "/var/lib/ledgerd-signer/signing.key"
            self.machine.do(f"umask 077; echo {key} >{place}; chown ledgerd-signer: {place}")
        node.run("install", "-d", "-o", "ledgerd-signer", "/run/ledgerd-signer")  # as RuntimeDirectory has it
        for name in ("ledgerd-signer", "ledgerd-api", "ledgerd-explorer"):
            node.run("sh", "-c", '"$@" >"/tmp/$0.log" 2>&1 &', name, *self.service(name))
        node.until(lambda: {"127.0.0.1:8190", "127.0.0.1:8093"} <= node.listeners(), "the API node and the explorer")
        node.until(
            lambda: node.run("test", "-S", "/run/ledgerd-signer/socket", check=False).returncode == 0, "the signer"
        )
        assert node.head("127.0.0.1:8190") >= 1
        asking = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8093/').status)"
        assert node.run("python3", "-c", asking).stdout == "200\n"

    def tool(self, *words: str) -> Sequence[str]:
        return as_user("ledgerd", "/", "ledgerd", *words)

    def remove(self) -> None:
        self.machine.do(f"{APT} purge --autoremove ledgerd")


class _ByHand(Artifact):
    """What is unpacked somewhere, for a user of the machine."""

    data = "/srv/node"
    needs = ""
    program = ""

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.kept = machine.root / "srv/node"
        machine.do(f"{APT} update; {APT} install {self.needs}", network=True)
        machine.do("useradd --system --user-group node; install -d -o node -g node /srv/node")
        (machine.root / "srv/node/config.ini").write_text(CONFIGURATION)

    def node(self) -> Sequence[str]:
        return self.tool("--data-dir", self.data)

    def tool(self, *words: str) -> Sequence[str]:
        return as_user("node", self.data, self.program, *words)


class Archive(_ByHand):
    """The program for machines without pip."""

    needs = "python3 unzip"
    program = "/opt/ledgerd/ledgerd"

    def install(self, release: Release) -> None:
        file = release.file(f"*-linux-{ARCHITECTURE.debian}-python{python_version()}.zip")
        self.machine.bring(file)
        self.machine.do(f"rm -rf /opt/ledgerd; unzip -q /mnt/{file.name} -d /opt; rm /mnt/{file.name}")

    def remove(self) -> None:
        self.machine.do("rm -r /opt/ledgerd")


class Wheels(_ByHand):
    """The distributions for pip, in an environment."""

    needs = "python3-venv"
    program = "/opt/ledgerd/bin/ledgerd"

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.others = fetch(ARCHITECTURE, machine.folder / "wheels")
        """The packages of others, in place of an index."""

    def install(self, release: Release) -> None:
        wheels = [*self.others, *release.folder.glob("*.whl")]
        self.machine.bring(*wheels)
        ours = " ".join(f"/mnt/{file.name}" for file in release.folder.glob("*.whl"))
        pip = "/opt/ledgerd/bin/pip --quiet --disable-pip-version-check --no-cache-dir"
        self.machine.do(
            "[ -e /opt/ledgerd ] || python3 -m venv /opt/ledgerd\n"
            f"{pip} install --no-index --find-links /mnt {ours}\nrm /mnt/*.whl"
        )

    def remove(self) -> None:
        self.machine.do("rm -r /opt/ledgerd")


class Image(Artifact):
    """The image, started as an engine does."""

    data = "/var/lib/ledgerd"
    layout: Layout

    def __init__(self, machine: Machine, architecture: str = ARCHITECTURE.debian) -> None:
        super().__init__(machine)
        self.architecture = architecture
        self.kept = machine.folder / "volume"
        self.kept.mkdir()

    def install(self, release: Release) -> None:
        self.remove()
        self.layout = read_layout(release.file(f"*-linux-{self.architecture}.oci.tar"))
        self.layout.unpack(self.machine.root)
        self.environment = {
            **self.layout.environment(),
            "LEDGERD_TEMPLATE": "config_testnet.ini",
            "LEDGERD_EXTRA_OPTS": " ".join(f"--ntp-server=127.0.0.1:{port}" for port in CLOCKS),
        }

    def node(self) -> Sequence[str]:
        entry: list[str] = self.layout.config["config"]["Entrypoint"]
        return entry

    def tool(self, *words: str) -> Sequence[str]:
        return [*self.node(), "ledgerd", *words]

    def remove(self) -> None:
        shutil.rmtree(self.machine.root)
        self.machine.root.mkdir()
