"""`ledgerd adopt`: makes a data directory of ours from that of a `vizd`, which is only read."""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager
from pathlib import Path

from ledgerd.adopt.adoption import Adoption, Record, in_bytes
from ledgerd.adopt.history import FoundHistory, longest
from ledgerd.adopt.translation import TranslatedLine, accepted, summary, translate
from ledgerd.adopt.vizd_directory import VizdDirectory, configuration_text, look, require_elsewhere, require_unused
from ledgerd.cli import handover
from ledgerd.cli.progress import Advance, progress
from ledgerd.cli.terminal import say
from ledgerd.cli.tool_arguments import MAINNET
from ledgerd.protocol.errors import OperatorError


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
    require_elsewhere([chosen.directory], chosen.data_dir)
    directory = look(chosen.directory)
    require_elsewhere(directory.places, chosen.data_dir)
    require_unused(*directory.places)
    chain = str(Path(chosen.chain).absolute()) if Path(chosen.chain).is_file() else chosen.chain
    found = longest(directory, say)
    record = Record(str(chosen.directory.absolute()), chain, str(found.snapshot or ""), str(found.log or ""))
    adoption = Adoption(chosen.data_dir, record, found)
    goes_on = adoption.is_begun()
    _print_found(found)
    if not goes_on:
        adoption.require_room()
    lines = _translated(directory, chosen, chain)
    if chosen.dry_run:
        return 0
    adoption.begin(lines, chain)
    _carry_out(adoption, found, is_trusted=chosen.trust_log)
    require_unused(*directory.places)
    adoption.end()
    say(f"start it: ledgerd --data-dir {chosen.data_dir}")
    return 0


def _carry_out(adoption: Adoption, found: FoundHistory, *, is_trusted: bool) -> None:
    if found.snapshot is not None:
        say(f"importing {found.snapshot}")
        adoption.import_snapshot()

    def shown(done: int, last: int) -> AbstractContextManager[Advance]:
        return progress("replaying", last, done=done)

    number, name = adoption.apply_log(shown, is_trusted=is_trusted)
    say(f"adopted: head block {number} {name}")


def _print_found(found: FoundHistory) -> None:
    if found.snapshot is not None:
        behind = f", and blocks {found.first + 1:,} to {found.last:,} of {found.log}" if found.log else ""
        say(f"history: the snapshot of block {found.first:,}, {found.snapshot}{behind}")
    else:
        say(f"history: blocks 1 to {found.last:,} of {found.log}")
    if found.torn:
        say(f"the last {found.torn:,} bytes of {found.log} are no whole block: they are left out here, and stay there")
    minutes = max(1, round(found.seconds / 60))
    say(f"it takes about {in_bytes(found.needed_bytes)} of disk, and about {minutes:,} minutes")


def _translated(directory: VizdDirectory, chosen: argparse.Namespace, chain: str) -> list[TranslatedLine]:
    if directory.configuration is None:
        say(f"there is no config.ini in {directory.folder}: ours has the defaults, and listens nowhere")
        return []
    lines = accepted(translate(configuration_text(directory.configuration), chosen.port_offset), chain)
    say(f"{directory.configuration}:")
    for words in summary(lines):
        say(f"  {words}")
    return lines
