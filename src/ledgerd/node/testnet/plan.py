"""What a local network consists of: its nodes with their folders and ports, its validators and their keys.

Keys are made once and kept with the network, in a file that its owner alone can read. Ports may differ at each start.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.keys import PrivateKey
from ledgerd.protocol.names import AccountName

FILE = "network.json"
CHAIN_FILE = "chain.toml"
FORMAT = 1
HOST = "127.0.0.1"
MOST_NODES = 50
MOST_VALIDATORS = 100
ROUND = 21
"""Places in a round of the mainnet; a network with fewer validators has shorter rounds."""
MAJORITY = 17
"""How many of them must agree on a hardfork."""
PORTS_APART = 100
"""Between the kinds of ports, counted from a base."""


class Keys(msgspec.Struct, frozen=True):
    """What is kept of a network from one start to the next."""

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    nodes: Annotated[int, Meta(ge=1, le=MOST_NODES)]
    validators: dict[str, str]
    """Private keys, as everywhere in this record in WIF."""
    committee: str
    emergency: str
    hardfork_after: int
    """Seconds from the founding to the last hardfork; 0 where it is part of the founding."""

    def key_of(self, name: AccountName) -> PrivateKey:
        """With which a validator signs, and does all else."""
        return PrivateKey.from_wif(self.validators[name])

    @property
    def places(self) -> int:
        """Places in a round."""
        return min(len(self.validators), ROUND)


class Member(NamedTuple):
    """One node."""

    number: int
    folder: Path
    p2p_port: int
    http_port: int
    websocket_port: int
    validators: tuple[AccountName, ...]

    @property
    def name(self) -> str:
        """How it is called in folders and tables."""
        return f"node-{self.number}"

    @property
    def config(self) -> Path:
        """Its configuration file, which holds its keys."""
        return self.folder / "config.ini"

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "node.log"


class Plan(NamedTuple):
    """A network, ready to be written down and started."""

    folder: Path
    keys: Keys
    members: tuple[Member, ...]

    @property
    def chain_file(self) -> Path:
        """The parameters that all nodes share."""
        return self.folder / CHAIN_FILE


def new_keys(nodes: int, validators: int, hardfork_after: int = 0) -> Keys:
    """The keys of a network that has not begun."""
    names = (f"validator-{number:02}" for number in range(1, validators + 1))
    return Keys(FORMAT, nodes, {name: _wif() for name in names}, _wif(), _wif(), hardfork_after)


def _wif() -> str:
    return PrivateKey(secrets.token_bytes(32)).wif


def read_keys(folder: Path) -> Keys | None:
    """The keys of the network in a folder; nothing where there is none."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Keys)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise OperatorError(f"{path} cannot be read: {error}: choose another --data-dir, or --fresh") from error


def write_keys(folder: Path, keys: Keys) -> None:
    """Keep them for the next start."""
    write_secret(folder / FILE, msgspec.json.format(msgspec.json.encode(keys), indent=2).decode())


def write_secret(path: Path, text: str) -> None:
    """Write a file that nobody but its owner can read, not even for a moment."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123 - the mode is the point
        file.write(text)
    fresh.replace(path)


def plan_of(folder: Path, keys: Keys, base_port: int | None = None) -> Plan:
    """Who runs what, on which ports: on free ones, or counted from a base."""
    names = [AccountName(name) for name in keys.validators]
    ports = _free_ports(3 * keys.nodes) if base_port is None else _ports_from(base_port, keys.nodes)
    members = tuple(
        Member(
            number=number + 1,
            folder=folder / f"node-{number + 1}",
            p2p_port=ports[3 * number],
            http_port=ports[3 * number + 1],
            websocket_port=ports[3 * number + 2],
            validators=tuple(names[number :: keys.nodes]),
        )
        for number in range(keys.nodes)
    )
    return Plan(folder, keys, members)


def _free_ports(count: int) -> list[int]:
    plugs = [socket.create_server((HOST, 0)) for _ in range(count)]
    try:
        return [plug.getsockname()[1] for plug in plugs]
    finally:
        for plug in plugs:
            plug.close()


def _ports_from(base: int, nodes: int) -> list[int]:
    """Of each node in turn, for peers, HTTP and WebSocket; each kind is in a hundred of its own."""
    return [base + kind * PORTS_APART + number for number in range(nodes) for kind in range(3)]


Seeds = Mapping[tuple[int, int], int]
"""Ports at which one node dials another where that is not the port of the other, by their numbers."""
