"""Blocks by number, of a node that answers JSON-RPC, of a data directory, or of a block log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.log.source import LogSource
from ledgerd.cli.shared.data_directory import require_log
from ledgerd.codec.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.datadir.state_files import refuse_pipes
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.views.reader import StateReader

SECONDS = 10.0
LARGEST_ANSWER = 32 << 20
"""Bytes; a block of the largest size takes a fifth of that as JSON."""


class StoredBlocks(NamedTuple):
    """The blocks of a chain, wherever they are stored."""

    name: str
    head: int
    block: Callable[[int], Block | None]

    def first(self) -> int:
        """The first stored block: a node that began with a snapshot has no older ones. From it on there is no gap."""
        low, high = 1, self.head
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.block(middle) is not None else (middle + 1, high)
        return low


@contextmanager
def blocks_of(place: str) -> Iterator[StoredBlocks]:
    if place.startswith(("http://", "https://")):
        yield _of_node(place)
    elif Path(place).is_dir():
        with _of_directory(place) as blocks:
            yield blocks
    else:
        with _of_file(place) as blocks:
            yield blocks


def _of_node(address: str) -> StoredBlocks:
    def block(number: int) -> Block | None:
        found = _asked(address, "get_block", number)
        if found is None:
            return None
        try:
            return codec_of(Block).from_json(found)
        except DecodeError as problem:
            raise OperatorError(f"{address}: its block {number} cannot be read ({problem})") from problem

    properties = _asked(address, "get_dynamic_global_properties")
    head = properties.get("head_block_number") if isinstance(properties, dict) else None
    if not isinstance(head, int):
        raise OperatorError(f"{address}: it does not say where its head is")
    return StoredBlocks(address, head, block)


def _asked(address: str, method: str, *arguments: int) -> Any:  # noqa: ANN401 - JSON of any kind
    from ledgerd.client.address import read_address  # noqa: PLC0415 - none of these is loaded for `--help`
    from ledgerd.client.blocking import HttpClient  # noqa: PLC0415
    from ledgerd.client.envelope import ErrorAnswer, NodeCall, NotAnAnswer, packed, parsed, request_of, result_of  # noqa: PLC0415

    request = packed(request_of(1, NodeCall("database_api", method, arguments)))
    try:
        with closing(HttpClient(read_address(address))) as client:
            raw = client.post(request, SECONDS, LARGEST_ANSWER).body
    except OSError as problem:
        raise OperatorError(f"{address}: {problem or type(problem).__name__}") from problem
    try:
        return result_of(parsed(raw), 1)
    except (NotAnAnswer, ErrorAnswer) as problem:
        shown = printable(raw[:200].decode("utf-8", "replace"))
        raise OperatorError(f"{address}: {method} is answered with {shown}") from problem


@contextmanager
def _of_directory(place: str) -> Iterator[StoredBlocks]:
    folder = read_configuration({"data-dir": [place]}, Path.cwd()).chain.shared_file_dir
    if not folder.is_dir():
        raise OperatorError(f"there is no state in {place}: give a node's address, a data directory or a block log")
    refuse_pipes(Path(place), folder)
    with (
        closing(BlockLogReader.open(folder)) as whole,
        closing(RollingBlockLogReader.open(folder)) as rolling,
        StateReader.open(folder, STORED_TABLES) as reader,
        reader.snapshot() as view,
    ):
        archive = KeptBlocks(whole, rolling)
        head = view.get(DYNAMIC_GLOBAL_PROPERTIES, 0).head_block_number
        yield StoredBlocks(place, head, lambda number: archive.block(view, number))


@contextmanager
def _of_file(place: str) -> Iterator[StoredBlocks]:
    require_log("the block log", Path(place))
    with LogSource(Path(place)) as log:

        def block(number: int) -> Block | None:
            packed = next((entry for _, entry in log.scan(number, number)), None)
            return None if packed is None else codec_of(Block).decode(packed)

        yield StoredBlocks(place, log.head_number, block)
