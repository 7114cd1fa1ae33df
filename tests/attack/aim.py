"""What an attacker is told of the network under attack: ports, heights, names and the key of accounts with tokens."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import msgspec

from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

HOST = "127.0.0.1"


class Aim(msgspec.Struct, frozen=True):
    """The node under attack, as it was when the attack was made ready."""

    p2p: int
    http: int
    websocket: int
    snapshots: int
    time_server: int
    """Where the node asks a liar for the time."""
    chain_id: str
    head_id: str
    head_time: int
    below_id: str
    """An irreversible block, from which forged branches leave."""
    below_time: int
    names: tuple[str, ...]
    """The validators, whom forged blocks name."""
    key: str
    """The published key of accounts with some tokens, for attacks of those who pay."""
    holders: tuple[str, ...]
    web: tuple[str, ...] = ()
    """Accounts that list each other, where a kind needs them."""

    @property
    def head(self) -> BlockId:
        """The head."""
        return BlockId(bytes.fromhex(self.head_id))

    @property
    def below(self) -> BlockId:
        """Where branches leave the trunk."""
        return BlockId(bytes.fromhex(self.below_id))

    @property
    def head_number(self) -> int:
        """Its number."""
        return int(self.head_id[:8], 16)

    @property
    def validators(self) -> tuple[AccountName, ...]:
        """Those whom forged blocks name."""
        return tuple(AccountName(name) for name in self.names)


def read_aim(path: Path) -> Aim:
    """What the run has written for its attackers."""
    return msgspec.json.decode(path.read_bytes(), type=Aim)


def write_aim(path: Path, aim: Aim) -> None:
    """For attackers, which are processes of their own."""
    path.write_bytes(msgspec.json.encode(aim))


def address_of(group: int, number: int) -> str:
    """An address of loopback for one attacker: each in a /24 of its own, none of them 127.0.0.1."""
    return f"127.{group}.{number}.2"


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def dial(source: str, port: int) -> Line:
    """A connection from an address of our own."""
    return await asyncio.open_connection(HOST, port, local_addr=(source, 0), limit=1 << 16)


def close(writer: asyncio.StreamWriter) -> None:
    """Close at once: the ports of connections that are closed slowly would run out."""
    found = writer.get_extra_info("socket")
    if found is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.transport.abort()
