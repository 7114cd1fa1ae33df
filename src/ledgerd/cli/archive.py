"""`ledgerd archive`: the blocks from before a node's own log: fetched from others, listed, checked."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ledgerd.cli.data_directory import add_data_directory, configuration_of
from ledgerd.cli.progress import progress
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.archive.fetching import PastSource
    from ledgerd.archive.known import KnownBlocks

UNSOUND = INCOMPLETE = 1


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "archive",
        help="fetch, list or check the blocks from before a node's own log",
        description="A node that began with a snapshot has the latest blocks only. An archive is a folder with those "
        "before, in sealed files; blocks that are in it are served to peers and clients.",
    )
    actions = arguments.add_subparsers(title="actions", metavar="ACTION", required=True)
    fetching = actions.add_parser(
        "fetch",
        help="fetch the past from a web server or a peer, also while the node runs",
        description="Fetches file by file, from the newest missing block down. Each is proven by the ids of its blocks "
        "before it gets its place. Run again, it goes on where it was interrupted.",
    )
    add_data_directory(fetching)
    fetching.add_argument("source", metavar="SOURCE", help="http://..., https://..., or a peer as HOST:PORT")
    fetching.add_argument(
        "--from", dest="lowest", type=_number, default=1, metavar="N", help="how far down (default: 1)"
    )
    fetching.set_defaults(run=run_fetch)
    listing = actions.add_parser("list", help="which blocks are in the archive")
    add_data_directory(listing)
    listing.set_defaults(run=run_list)
    checking = actions.add_parser("check", help="prove every block of the archive again")
    add_data_directory(checking)
    checking.set_defaults(run=run_check)


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("the first block is block 1")
    return number


def run_fetch(chosen: argparse.Namespace) -> int:
    from ledgerd.archive.fetching import Fetch  # noqa: PLC0415 - none of these is loaded for `--help`
    from ledgerd.archive.known import known_blocks  # noqa: PLC0415
    from ledgerd.chain.chain import STATE_FOLDER  # noqa: PLC0415
    from ledgerd.node.config.options.application import BLOCK_ARCHIVE  # noqa: PLC0415

    configuration = configuration_of(chosen)
    options = configuration.chain
    archive, logs = options.block_archive_dir, chosen.data_dir / STATE_FOLDER
    if not options.shared_file_dir.is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: begin it with a snapshot first")
    with known_blocks(options.shared_file_dir, logs, archive) as known:
        wanted = max(0, known.earliest - chosen.lowest)
        with (
            closing(_source(chosen.source, known, options.block_archive_range)) as source,
            progress("fetching", wanted) as advance,
        ):
            reached = Fetch(archive, known, source, lambda far: advance(far.done)).run(chosen.lowest)
        latest = known.latest
    sys.stdout.write(f"every block from {reached} to {latest} is there\n")
    if BLOCK_ARCHIVE not in configuration.application.plugins:
        sys.stdout.write(f"blocks that the log drops will be missing: add plugin = {BLOCK_ARCHIVE}\n")
    if reached <= chosen.lowest:
        return 0
    sys.stdout.write(f"{chosen.source} does not have block {reached - 1}\n")
    return INCOMPLETE


def _source(name: str, known: KnownBlocks, size: int) -> PastSource:
    from ledgerd.archive.peers import PeerArchive  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.archive.web import WebArchive  # noqa: PLC0415
    from ledgerd.node.config.values.endpoints import read_peer  # noqa: PLC0415
    from ledgerd.node.config.values.kind import WrongValue  # noqa: PLC0415

    if name.startswith(("http://", "https://")):
        return WebArchive(name, size)
    try:
        peer = read_peer(name)
    except WrongValue as problem:
        reason = f"{name} is neither the address of a web server nor HOST:PORT of a peer: {problem}"
        raise OperatorError(reason) from None
    return PeerArchive(peer, known, size)


def run_list(chosen: argparse.Namespace) -> int:
    from ledgerd.archive.sealed import merged, sealed_files  # noqa: PLC0415 - not loaded for `--help`

    folder = configuration_of(chosen).chain.block_archive_dir
    files = sealed_files(folder)
    for file in files:
        size = (folder / file.name).stat().st_size
        sys.stdout.write(f"{file.name}  {size >> 10} KB\n")
    for run in merged(files):
        sys.stdout.write(f"blocks {run.first} to {run.last}\n")
    return 0


def run_check(chosen: argparse.Namespace) -> int:
    from ledgerd.archive.checking import check_archive  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.archive.known import known_blocks  # noqa: PLC0415
    from ledgerd.chain.chain import STATE_FOLDER  # noqa: PLC0415

    options = configuration_of(chosen).chain
    archive, logs = options.block_archive_dir, chosen.data_dir / STATE_FOLDER
    with known_blocks(options.shared_file_dir, logs, archive, may_be_whole=True) as known:
        with progress("checking", known.latest) as advance:
            faults = [*check_archive(archive, known, advance)]
        earliest, latest = known.earliest, known.latest
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    if faults:
        return UNSOUND
    sys.stdout.write(f"every block from {earliest} to {latest} is proven\n")
    return 0
