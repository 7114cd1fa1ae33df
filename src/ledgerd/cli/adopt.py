"""`ledgerd adopt`: makes a data directory of ours from that of a `vizd`, which is only read."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.basics.printable import printable
from ledgerd.cli import handover
from ledgerd.cli.progress import Advance, progress
from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.adopt.adoption import Adoption
    from ledgerd.adopt.history import FoundHistory
    from ledgerd.adopt.translation import TranslatedLine
    from ledgerd.adopt.vizd_directory import VizdDirectory

PORTS = 10
MAINNET = "mainnet"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "adopt",
        help="make a data directory from that of a vizd, which is not changed",
        description="Reads the block log, or the newest snapshot and the blocks behind it, and the configuration of a "
        "vizd, and makes a data directory for ledgerd elsewhere. Killed, it goes on when it is run again.",
    )
    arguments.add_argument(
        "directory", type=Path, nargs="?", metavar="DIR", help="the data directory of a vizd that is stopped"
    )
    arguments.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the directory to make")
    arguments.add_argument(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help=f"the network (default: {MAINNET}; of a hand-over: as our node is configured)",
    )
    arguments.add_argument(
        "--port-offset",
        type=int,
        default=PORTS,
        metavar="N",
        help=f"added to the ports, so that both programs can listen on this machine (default: {PORTS}; 0: the same)",
    )
    arguments.add_argument(
        "--trust-log",
        action="store_true",
        help="omit checks of signatures, authorities and merkle roots, for a log that your own vizd has checked",
    )
    arguments.add_argument("--dry-run", action="store_true", help="only say what would be done")
    handover.add_options(arguments)
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    if chosen.validator is not None:
        return handover.run(chosen)
    if chosen.directory is None:
        raise OperatorError("name the data directory of a vizd, or a validator with --validator")
    chosen.chain = chosen.chain or MAINNET
    try:
        return _adopt(chosen)
    except OSError as problem:
        place = problem.filename or chosen.directory
        raise OperatorError(f"{place} cannot be used: {problem.strerror}; nothing was changed there") from problem


def _adopt(chosen: argparse.Namespace) -> int:
    from ledgerd.adopt.adoption import Adoption, Record  # noqa: PLC0415 - none is loaded for `--help`
    from ledgerd.adopt.history import longest  # noqa: PLC0415
    from ledgerd.adopt.vizd_directory import look, require_elsewhere, require_unused  # noqa: PLC0415

    require_elsewhere([chosen.directory], chosen.data_dir)
    directory = look(chosen.directory)
    require_elsewhere(directory.places, chosen.data_dir)
    require_unused(*directory.places)
    chain = str(Path(chosen.chain).absolute()) if Path(chosen.chain).is_file() else chosen.chain
    found = longest(directory, _say)
    record = Record(str(chosen.directory.absolute()), chain, str(found.snapshot or ""), str(found.log or ""))
    adoption = Adoption(chosen.data_dir, record, found)
    goes_on = adoption.is_begun()
    _tell(found)
    if not goes_on:
        adoption.require_room()
    lines = _translated(directory, chosen, chain)
    if chosen.dry_run:
        return 0
    adoption.begin(lines, chain)
    _carry_out(adoption, found, is_trusted=chosen.trust_log)
    require_unused(*directory.places)
    adoption.end()
    _say(f"start it: ledgerd --data-dir {chosen.data_dir}")
    return 0


def _carry_out(adoption: Adoption, found: FoundHistory, *, is_trusted: bool) -> None:
    if found.snapshot is not None:
        _say(f"importing {found.snapshot}")
        adoption.import_snapshot()

    def shown(done: int, last: int) -> AbstractContextManager[Advance]:
        return progress("replaying", last, done=done)

    number, name = adoption.apply_log(shown, is_trusted=is_trusted)
    _say(f"adopted: head block {number} {name}")


def _tell(found: FoundHistory) -> None:
    from ledgerd.adopt.adoption import in_bytes  # noqa: PLC0415

    if found.snapshot is not None:
        behind = f", and blocks {found.first + 1:,} to {found.last:,} of {found.log}" if found.log else ""
        _say(f"history: the snapshot of block {found.first:,}, {found.snapshot}{behind}")
    else:
        _say(f"history: blocks 1 to {found.last:,} of {found.log}")
    if found.torn:
        _say(f"the last {found.torn:,} bytes of {found.log} are no whole block: they are left out here, and stay there")
    minutes = max(1, round(found.seconds / 60))
    _say(f"it takes about {in_bytes(found.needed_bytes)} of disk, and about {minutes:,} minutes")


def _translated(directory: VizdDirectory, chosen: argparse.Namespace, chain: str) -> list[TranslatedLine]:
    """The lines of the configuration; what is not the same is said."""
    from ledgerd.adopt.translation import accepted, summary, translate  # noqa: PLC0415
    from ledgerd.adopt.vizd_directory import configuration_text  # noqa: PLC0415

    if directory.configuration is None:
        _say(f"there is no config.ini in {directory.folder}: ours has the defaults, and listens nowhere")
        return []
    lines = accepted(translate(configuration_text(directory.configuration), chosen.port_offset), chain)
    _say(f"{directory.configuration}:")
    for words in summary(lines):
        _say(f"  {words}")
    return lines


def _say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")  # names of files, and what is in them, are another's
    sys.stdout.flush()
