"""The plan of a local network: nodes with their folders and ports, validators and their keys."""

from __future__ import annotations

import os
import random
import secrets
import socket
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.names import AccountName

LOWEST = 10_000
EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
USUAL_EPHEMERAL = 32_768
LEAST_CHOICE = 1_000
MOST_TRIES = 10_000
"""Ports that are tried to find free ones."""


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    end = _first_ephemeral()
    found: list[int] = []
    with ExitStack() as sockets:
        for _ in range(MOST_TRIES):
            if len(found) == count:
                return found
            port = random.randrange(LOWEST, end)  # noqa: S311 - no secret
            with suppress(OSError):
                sockets.enter_context(socket.create_server((host, port)))
                found.append(port)
    raise OSError(f"no {count} ports of {host} are free between {LOWEST} and {end}")


def _first_ephemeral() -> int:
    """The first port that the system may give to an outgoing connection; a range that leaves too few is ignored."""
    try:
        first = int(EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = USUAL_EPHEMERAL
    return first if first >= LOWEST + LEAST_CHOICE else USUAL_EPHEMERAL


FILE = "network.json"
CHAIN_FILE = "chain.toml"
FORMAT = 1
HOST = "127.0.0.1"
MOST_NODES = 50
"""Nodes of a network."""
MOST_VALIDATORS = 100
"""Validators of a network."""
ROUND = 21
"""Places in a round of the mainnet; a network with fewer validators has shorter rounds."""
MAJORITY = 17
PORTS_APART = 100
KINDS_OF_PORTS = 4


class NetworkKeys(msgspec.Struct, frozen=True):
    """The keys of a network, stored between its starts."""

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    nodes: Annotated[int, Meta(ge=1, le=MOST_NODES)]
    validators: dict[str, str]
    """Private key of each validator; all keys of this record are in WIF."""
    committee: str
    emergency: str
    hardfork_after: int
    """Seconds from the founding to the last hardfork; 0 if it is part of the founding."""

    def key_of(self, name: AccountName) -> PrivateKey:
        return PrivateKey.from_wif(self.validators[name])

    @property
    def places(self) -> int:
        return min(len(self.validators), ROUND)


class Member(NamedTuple):
    """One node."""

    number: int
    folder: Path
    p2p_port: int
    http_port: int
    websocket_port: int
    metrics_port: int
    validators: tuple[AccountName, ...]

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def config(self) -> Path:
        return self.folder / "config.ini"

    @property
    def log(self) -> Path:
        return self.folder / "node.log"


class Plan(NamedTuple):
    """All that is needed to write a network's files and start it."""

    folder: Path
    keys: NetworkKeys
    members: tuple[Member, ...]

    @property
    def chain_file(self) -> Path:
        return self.folder / CHAIN_FILE


def new_keys(nodes: int, validators: int, hardfork_after: int = 0) -> NetworkKeys:
    names = (f"validator-{number:02}" for number in range(1, validators + 1))
    return NetworkKeys(FORMAT, nodes, {name: _wif() for name in names}, _wif(), _wif(), hardfork_after)


def _wif() -> str:
    return PrivateKey(secrets.token_bytes(32)).wif


def read_keys(folder: Path) -> NetworkKeys | None:
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=NetworkKeys)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise OperatorError(f"{path} cannot be read: {error}: choose another --data-dir, or --fresh") from error


def write_keys(folder: Path, keys: NetworkKeys) -> None:
    write_secret(folder / FILE, msgspec.json.format(msgspec.json.encode(keys), indent=2).decode())


def write_secret(path: Path, text: str) -> None:
    """Write a file that only its owner can read, from its creation on."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode is the point
        file.write(text)
    fresh.replace(path)


def plan_of(folder: Path, keys: NetworkKeys, base_port: int | None = None) -> Plan:
    names = [AccountName(name) for name in keys.validators]
    if base_port is None:
        ports = free_ports(KINDS_OF_PORTS * keys.nodes, HOST)
    else:
        ports = [base_port + kind * PORTS_APART + at for at in range(keys.nodes) for kind in range(KINDS_OF_PORTS)]
    members = tuple(
        Member(
            number=number + 1,
            folder=folder / f"node-{number + 1}",
            p2p_port=ports[KINDS_OF_PORTS * number],
            http_port=ports[KINDS_OF_PORTS * number + 1],
            websocket_port=ports[KINDS_OF_PORTS * number + 2],
            metrics_port=ports[KINDS_OF_PORTS * number + 3],
            validators=tuple(names[number :: keys.nodes]),
        )
        for number in range(keys.nodes)
    )
    return Plan(folder, keys, members)


Seeds = Mapping[tuple[int, int], int]
"""Ports through which one node dials another, by (dialling node, dialled node); others are dialled directly."""
