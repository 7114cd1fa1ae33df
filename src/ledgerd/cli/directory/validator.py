"""`ledgerd validator report NAME`: what a validator did day by day, read from the log and the history of a node."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing

import msgspec

from ledgerd.basics.durations import DAY
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import opened_history, require_state
from ledgerd.history.validator_report import ValidatorDay, ValidatorReport, first_block_since
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import network_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from ledgerd.state.objects.validators import PENALTY_BY_VALIDATOR, VALIDATOR_BY_NAME
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View

FORMAT = 1
MOST_DAYS = 10_000
COLUMNS = ("day", "made", "missed", "reward", "votes given", "votes taken", "switched off")


class Penalty(msgspec.Struct, frozen=True):
    """A penalty for a missed slot that still counts."""

    percent: int
    """Hundredths of a percent."""
    expires: int
    """Seconds since 1970."""


class ValidatorNow(msgspec.Struct, frozen=True):
    """The state of a validator now."""

    votes: int
    counted_votes: int
    total_missed: int
    has_key: bool
    penalties: tuple[Penalty, ...]


class Report(msgspec.Struct, frozen=True):
    """The report of `ledgerd validator report --json`."""

    format: int
    validator: str
    first_block: int
    last_block: int
    missed_from: int
    """The first block from which on missed slots are recorded; 0 if they are not recorded at all."""
    operations_from: int
    """The first block from which on rewards and votes are recorded; 0 if they are not."""
    now: ValidatorNow
    days: list[ValidatorDay]


def run(chosen: argparse.Namespace) -> int:
    if not 0 < chosen.days <= MOST_DAYS:
        raise OperatorError(f"--days {chosen.days}: give a number from 1 to {MOST_DAYS}")
    report = _report(configuration_of(chosen), chosen.name, chosen.days)
    text = msgspec.json.format(msgspec.json.encode(report)).decode() + "\n" if chosen.json else _as_text(report)
    sys.stdout.write(text)
    return 0


def _report(configuration: Configuration, name: str, days: int) -> Report:
    network_now = network_of(configuration).clock.at(time.time_ns() // 1_000) // 1_000_000
    begins = (network_now // DAY - days + 1) * DAY
    found = ValidatorReport(AccountName(name))
    require_state(configuration.invocation.data_dir, configuration.chain.shared_file_dir)
    with StateReader.open(configuration.chain.shared_file_dir, STORED_TABLES) as reader, reader.snapshot() as state:
        current = _current(state, found.name)
        with closing(_log_of(configuration)) as log:
            first, last = max(1, first_block_since(log, begins)), log.head_number
            found.count_blocks(packed for _, packed in log.scan(first, last))
        above = list(state.scan(REVERSIBLE_BY_NUMBER, lower=(last + 1,)))
        found.count_blocks(each.packed for each in above)
        last = above[-1].number if above else last
    missed_from = operations_from = 0
    with opened_history(configuration.invocation.data_dir, configuration.history) as history:
        if history is not None:
            missed_from, missed = history.missed(first, last)
            found.count_missed(missed)
            with history.reading() as view:
                operations_from = min(view.first_block_since(0), view.head_number)
                found.count_operations(view, max(first, operations_from), min(last, view.head_number))
    return Report(FORMAT, name, first, last, missed_from, operations_from, current, found.days)


def _current(state: View, name: str) -> ValidatorNow:
    validator = state.lookup(VALIDATOR_BY_NAME, name)
    if validator is None:
        raise OperatorError(f"there is no validator {name}, as far as this node has followed the chain")
    penalties = state.under(PENALTY_BY_VALIDATOR, name)
    return ValidatorNow(
        validator.votes,
        validator.counted_votes,
        validator.total_missed,
        validator.is_active,
        tuple(Penalty(each.penalty_percent, each.expires) for each in penalties),
    )


def _log_of(configuration: Configuration) -> BlockLogReader:
    """The log that has blocks: the full one, or the rolling one of a node that began with a snapshot."""
    folder = configuration.invocation.data_dir / STATE_FOLDER
    whole = BlockLogReader.open(folder)
    return whole if whole.head_number else RollingBlockLogReader.open(folder)


def _as_text(report: Report) -> str:
    rows = [COLUMNS, *(tuple(str(value) for value in msgspec.structs.astuple(day)) for day in report.days)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    now = report.now
    lines.append(f"\nblocks {report.first_block} to {report.last_block}; rewards in SHARES")
    if not report.missed_from:
        lines.append("missed slots are not recorded here: run the node with the plugin operation_history")
    elif report.missed_from > report.first_block:
        lines.append(f"missed slots are recorded from block {report.missed_from} on")
    if report.operations_from > report.first_block:
        lines.append(f"rewards and votes are recorded from block {report.operations_from} on")
    lines.append(
        f"now: {now.votes} votes, of which {now.counted_votes} count; {now.total_missed} slots missed since it was "
        f"declared; {'a' if now.has_key else 'no'} signing key"
    )
    lines += [f"penalty: {each.percent / 100:g} % until {time_text(each.expires)} UTC" for each in now.penalties]
    return "\n".join(lines) + "\n"
