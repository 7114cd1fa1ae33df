"""`ledgerd archive`: the blocks from before a node's own log: fetched from others, listed, checked."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from ledgerd.archive.fetching import Fetch, PastSource
from ledgerd.archive.known import KnownBlocks, known_blocks
from ledgerd.archive.peers import PeerArchive
from ledgerd.archive.proof import check_archive
from ledgerd.archive.sealed import merged, sealed_files
from ledgerd.archive.web import WebArchive
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import require_directory, require_state
from ledgerd.cli.shared.terminal import progress
from ledgerd.node.config.options.application import BLOCK_ARCHIVE
from ledgerd.node.config.values.endpoints import read_peer
from ledgerd.node.config.values.kind import WrongValue
from ledgerd.protocol.errors import OperatorError

UNSOUND = INCOMPLETE = 1


def run(chosen: argparse.Namespace) -> int:
    actions = {"fetch": _fetch, "list": _list, "check": _check}
    return actions[chosen.action](chosen)


def _fetch(chosen: argparse.Namespace) -> int:
    configuration = configuration_of(chosen)
    options = configuration.chain
    archive, logs = options.block_archive_dir, chosen.data_dir / STATE_FOLDER
    require_state(chosen.data_dir, options.shared_file_dir, "begin it with a snapshot first")
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
    if name.startswith(("http://", "https://")):
        return WebArchive(name, size)
    try:
        peer = read_peer(name)
    except WrongValue as problem:
        reason = f"{name} is neither the address of a web server nor HOST:PORT of a peer: {problem}"
        raise OperatorError(reason) from None
    return PeerArchive(peer, known, size)


def _list(chosen: argparse.Namespace) -> int:
    require_directory(chosen.data_dir)
    folder = configuration_of(chosen).chain.block_archive_dir
    files = sealed_files(folder)
    for file in files:
        size = (folder / file.name).stat().st_size
        sys.stdout.write(f"{file.name}  {size >> 10} KB\n")
    for part in merged(files):
        sys.stdout.write(f"blocks {part.first} to {part.last}\n")
    if not files:
        sys.stdout.write(f"no blocks are in {folder}: `ledgerd archive fetch` brings them\n")
    return 0


def _check(chosen: argparse.Namespace) -> int:
    options = configuration_of(chosen).chain
    require_state(chosen.data_dir, options.shared_file_dir, "begin it with a snapshot first")
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
