"""Processes beside the import of a snapshot: one makes rows of records while another reads on, and checks a table
while another checks the sums. It is asked on its standard input, and ends where that does, so also when the import is
killed.
"""

from __future__ import annotations

import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from ledgerd.basics.framing.frames import CutOff, framed, read_frame
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.snapshot.file.batches import decoded
from ledgerd.snapshot.file.sections import BY_NAME
from ledgerd.snapshot.importing.packing import packed_batch
from ledgerd.state import StateReader
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import Table
from ledgerd.state.verify import is_sound
from ledgerd.supervision.asking import AskedProcesses
from ledgerd.supervision.processes import module_command
from ledgerd.supervision.this_process import search_rarely

COMMAND = module_command("ledgerd.snapshot.importing.beside")
LOSS = "a process for the import is lost, all of it is done by one process"

MOST_ASKED, MOST_ANSWERED = 8 << 20, 32 << 20
"""Bytes of a request and of an answer: a batch has a few hundred kilobytes."""


class PackRecords(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Make rows of records of a section, after so many others of its table."""

    section: str
    count: int
    array: bytes
    """A JSON array of them, as the file has them."""


class CheckTable(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Say whether the rows and indexes of a table agree in the last commit of a state."""

    folder: str
    table: str


SOUND, NOT_SOUND = b"\1", b"\0"


def processes_beside(network: ChainParameters, count: int) -> AskedProcesses:
    return AskedProcesses(LOSS, COMMAND, msgspec.msgpack.encode(network), count=count, most=MOST_ANSWERED)


def packing_request(section: str, count: int, array: bytes) -> bytes:
    return msgspec.msgpack.encode(PackRecords(section, count, array))


def checking_request(folder: Path, table: Table[Any]) -> bytes:
    return msgspec.msgpack.encode(CheckTable(str(folder), table.title))


def answer(request: bytes) -> bytes:
    asked: PackRecords | CheckTable = msgspec.msgpack.decode(request, type=PackRecords | CheckTable)
    return _checked(asked) if isinstance(asked, CheckTable) else _packed(asked)


def _checked(asked: CheckTable) -> bytes:
    table = next(each for each in STORED_TABLES if each.title == asked.table)
    with StateReader.open(asked.folder, STORED_TABLES) as reader, reader.snapshot() as view:
        return SOUND if is_sound(view, table) else NOT_SOUND


def _packed(asked: PackRecords) -> bytes:
    try:
        records = decoded(asked.array)
    except (ValueError, RecursionError):
        return b""  # whoever reads the file says what is wrong, or has a bracket less around it
    return packed_batch(BY_NAME[asked.section], records, asked.count)


def serve(connection: socket.socket) -> None:
    with connection, suppress(CutOff):
        first = read_frame(connection.recv, MOST_ASKED)
        if first is None:
            return  # the import was killed before it had said which chain this is
        network = msgspec.msgpack.decode(first, type=ChainParameters)
        with json_defaults_of(network):
            while (asked := read_frame(connection.recv, MOST_ASKED)) is not None:
                connection.sendall(framed(answer(asked)))


def main() -> None:
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    search_rarely()
    with suppress(ConnectionError):
        serve(socket.socket(fileno=sys.stdin.fileno()))


if __name__ == "__main__":
    main()
