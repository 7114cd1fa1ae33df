"""`ledgerd adopt`: a data directory from that of a `vizd`, which is only read; the hand-over of a validator."""

from __future__ import annotations

import argparse
import time
from contextlib import AbstractContextManager
from pathlib import Path

from ledgerd.adopt import vizd_directory
from ledgerd.adopt.adoption import Adoption, Record, in_bytes
from ledgerd.adopt.handover import Handover, HandoverPlan, words_of
from ledgerd.adopt.handover_facts import OtherNode, OurNode
from ledgerd.adopt.handover_walk import HandoverWalk
from ledgerd.adopt.history import FoundHistory, longest
from ledgerd.adopt.translation import TranslatedLine, accepted, summary, translate
from ledgerd.cli.arguments.moving_arguments import MAINNET
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.terminal import Advance, progress, report
from ledgerd.compare.node import ComparedNode, Pace
from ledgerd.node.config.network import network_of
from ledgerd.protocol.crypto.keys import public_key_from_text, public_key_text
from ledgerd.protocol.errors import OperatorError, RuleViolation

HANDED_OVER = 0
NOT_YET = 3
INTERRUPTED = 130
REQUESTS_A_SECOND = 200.0


def run(chosen: argparse.Namespace) -> int:
    if chosen.validator is not None:
        return _hand_over(chosen)
    if chosen.directory is None:
        raise OperatorError("name the data directory of a vizd, or a validator with --validator")
    chosen.chain = chosen.chain or MAINNET
    try:
        return _adopt(chosen)
    except OSError as problem:
        place = problem.filename or chosen.directory
        raise OperatorError(f"{place} cannot be used: {problem.strerror}; nothing was changed there") from problem


def _adopt(chosen: argparse.Namespace) -> int:
    vizd_directory.require_elsewhere([chosen.directory], chosen.data_dir)
    directory = vizd_directory.inspect_directory(chosen.directory)
    vizd_directory.require_elsewhere(directory.places, chosen.data_dir)
    vizd_directory.require_unused(*directory.places)
    chain = str(Path(chosen.chain).absolute()) if Path(chosen.chain).is_file() else chosen.chain
    found = longest(directory, report)
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
    vizd_directory.require_unused(*directory.places)
    adoption.end()
    report(f"start it: ledgerd --data-dir {chosen.data_dir}")
    return 0


def _carry_out(adoption: Adoption, found: FoundHistory, *, is_trusted: bool) -> None:
    if found.snapshot is not None:
        report(f"importing {found.snapshot}")
        adoption.import_snapshot()

    def shown(done: int, last: int) -> AbstractContextManager[Advance]:
        return progress("replaying", last, done=done)

    number, name = adoption.apply_log(shown, is_trusted=is_trusted)
    report(f"adopted: head block {number} {name}")


def _print_found(found: FoundHistory) -> None:
    if found.snapshot is not None:
        behind = f", and blocks {found.first + 1:,} to {found.last:,} of {found.log}" if found.log else ""
        report(f"history: the snapshot of block {found.first:,}, {found.snapshot}{behind}")
    else:
        report(f"history: blocks 1 to {found.last:,} of {found.log}")
    if found.torn:
        torn = f"the last {found.torn:,} bytes of {found.log}"
        report(f"{torn} are no whole block: they are left out here, and stay there")
    minutes = max(1, round(found.seconds / 60))
    report(f"it takes about {in_bytes(found.needed_bytes)} of disk, and about {minutes:,} minutes")


def _translated(
    directory: vizd_directory.VizdDirectory, chosen: argparse.Namespace, chain: str
) -> list[TranslatedLine]:
    if directory.configuration is None:
        report(f"there is no config.ini in {directory.folder}: ours has the defaults, and listens nowhere")
        return []
    lines = accepted(translate(vizd_directory.configuration_text(directory.configuration), chosen.port_offset), chain)
    report(f"{directory.configuration}:")
    for words in summary(lines):
        report(f"  {words}")
    return lines


def _hand_over(chosen: argparse.Namespace) -> int:
    walk, plan = _walk(chosen)
    for line in words_of(plan):
        _report_at_time(line)
    try:
        is_done = walk.run(chosen.wait)
    except KeyboardInterrupt:
        _report_at_time("stopped here; the same command goes on")
        return INTERRUPTED
    if not is_done:
        _report_at_time(f"not done after {chosen.wait:.0f} s; the same command goes on")
    return HANDED_OVER if is_done else NOT_YET


def _walk(chosen: argparse.Namespace) -> tuple[HandoverWalk, HandoverPlan]:
    for folder in (chosen.data_dir, chosen.directory):
        if folder is not None and not folder.is_dir():
            raise OperatorError(f"{folder} is no directory")
    chosen.config_file = None
    configuration = configuration_of(chosen)
    if configuration.validator.is_signed_elsewhere:
        raise OperatorError("the keys of this node are in a signer: move them as docs/signer.md says")
    endpoint = configuration.webserver.http_endpoint
    if chosen.node is None and endpoint is None:
        raise OperatorError(
            "our node has no webserver-http-endpoint: name the address of one that follows it with --node"
        )
    url = chosen.node or f"http://{endpoint}".replace("//0.0.0.0:", "//127.0.0.1:")
    ours = OurNode(
        chosen.data_dir,
        network_of(configuration).chain_id,
        ComparedNode(url, Pace(REQUESTS_A_SECOND)),
        lambda: configuration_of(chosen).validator,
        time.time,
    )
    theirs = ComparedNode(chosen.vizd, Pace(REQUESTS_A_SECOND)) if chosen.vizd else None
    plan = HandoverPlan(
        chosen.validator,
        chosen.data_dir,
        _checked_key(chosen.key),
        chosen.back,
        chosen.vizd or "the vizd",
        chosen.clock_difference,
    )
    return HandoverWalk(Handover(plan), ours, OtherNode(theirs, chosen.directory), _report_at_time), plan


def _checked_key(text: str | None) -> str:
    if text is None:
        return ""
    try:
        return public_key_text(public_key_from_text(text))
    except RuleViolation:
        raise OperatorError("--key takes a public key: `ledgerd key FILE` prints that of a file") from None


def _report_at_time(text: str) -> None:
    report(f"{time.strftime('%H:%M:%S')} {text}")
