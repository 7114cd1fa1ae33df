"""`ledgerd check`: whether a state is consistent in itself and with its log, and whether anything has rotted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.invariants import LOG_CHECKS, STATE_CHECKS, check
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import opened_chain, opened_history, require_state
from ledgerd.cli.shared.terminal import progress
from ledgerd.history.errors import HistoryDamaged
from ledgerd.node.datadir.state_files import require_pages
from ledgerd.protocol.errors import OperatorError

UNSOUND = 1
MOST_PRINTED = 50


def run(chosen: argparse.Namespace) -> int:
    count = len(STATE_CHECKS) + len(LOG_CHECKS)
    state = configuration_of(chosen).chain.shared_file_dir
    require_state(chosen.data_dir, state)
    require_pages(state)
    with opened_chain(chosen, must_exist=True) as chain:
        with progress("checking", count, unit="check") as advance:
            problems = [*check(chain, advance), *_faults_of_history(chosen, chain)]
        for problem in problems[:MOST_PRINTED]:
            sys.stdout.write(f"{problem}\n")
        if problems:
            sys.stdout.write(f"{len(problems)} problems at block {chain.head_number}\n")
            return UNSOUND
        sys.stdout.write(f"block {chain.head_number}: all {count} checks hold\n")
    return 0


def _faults_of_history(chosen: argparse.Namespace, chain: Chain) -> Iterator[str]:
    def logged(number: int) -> bytes | None:
        try:
            return chain.packed_at(number)
        except OperatorError:
            return None  # the check of the log names it

    try:
        with opened_history(chosen.data_dir, configuration_of(chosen).history) as history:
            if history is not None:
                yield from history.faults(logged)
    except HistoryDamaged as problem:
        yield str(problem)
