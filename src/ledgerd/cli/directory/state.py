"""`ledgerd state`: prints the objects of the state, for people and for comparison, and makes that of a past block."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from typing import Any

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.data_directory import require_state
from ledgerd.cli.shared.terminal import LOWEST_PRIORITY, progress, report, require_room
from ledgerd.codec import codec_of
from ledgerd.node.config.logging.setup import set_up_for_person
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.directory_blocks import directory_blocks
from ledgerd.node.datadir.past_state import PastState
from ledgerd.node.datadir.state_files import naming_damage
from ledgerd.projections.reading import reading_both
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.importing import import_progress
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View
from ledgerd.supervision.this_process import give_way, search_rarely


def run(chosen: argparse.Namespace) -> int:
    if chosen.at is not None:
        if chosen.to is None:
            raise OperatorError("--at needs --to: the state at a past block is made in a directory of its own")
        if chosen.table is not None or chosen.json:
            raise OperatorError("--at makes a state and prints none: print it afterwards, with --data-dir OUT")
        return _make_past_state(chosen)
    if chosen.to is not None or chosen.snapshot is not None or chosen.from_genesis:
        raise OperatorError("--to, --snapshot and --from-genesis belong to --at: name the block of the state")
    tables = _chosen_tables((*STORED_TABLES, *PROJECTED_TABLES), chosen.table)
    folder = configuration_of(chosen).chain.shared_file_dir
    require_state(chosen.data_dir, folder)
    with naming_damage(folder), reading_both(folder) as (state, kept):
        for table in tables:
            view = state if table in STORED_TABLES else kept
            sys.stdout.writelines(f"{line}\n" for line in _lines(view, table, in_full=chosen.json))
    return 0


def _chosen_tables(tables: tuple[Table[Any], ...], name: str | None) -> tuple[Table[Any], ...]:
    if name is None:
        return tables
    found = tuple(table for table in tables if table.title.lower() == name.lower())
    if not found:
        known = ", ".join(table.title for table in tables)
        raise OperatorError(f"there is no table {name}; there are {known}")
    return found


def _lines(view: View, table: Table[Any], *, in_full: bool) -> Iterator[str]:
    if not in_full:
        yield f"{sum(1 for _ in view.scan(table)):>10}  {table.title}"
        return
    for entity in view.scan(table):
        yield f'{{"table":"{table.title}","object":{codec_of(table.record).to_json(entity)}}}'


def _make_past_state(chosen: argparse.Namespace) -> int:
    search_rarely()
    configuration = configuration_of(chosen)
    options, target = configuration.chain, chosen.to.absolute()
    if not chosen.data_dir.is_dir():
        raise OperatorError(f"there is no data directory {chosen.data_dir}")
    logs, archive = chosen.data_dir / STATE_FOLDER, options.block_archive_dir
    with directory_blocks(options.shared_file_dir, logs, archive) as blocks:
        past = PastState(configuration, network_of(configuration), blocks, chosen.at, target)
        if not target.parent.is_dir():
            raise OperatorError(f"there is no folder {target.parent}")
        require_room(past.needs(), target.parent, "needed")
        give_way(LOWEST_PRIORITY)
        with set_up_for_person(logging.getLogger(import_progress.__name__)):
            begun = past.begin(chosen.snapshot, with_genesis=chosen.from_genesis)
        report(f"begins with the state of block {begun}" if begun else "begins with the genesis")
        with progress("replaying", chosen.at, done=begun) as advance:
            made = past.replay(advance)
    sys.stdout.write(f"the state at block {chosen.at} {made.block_id} is in {chosen.to}\n")
    if made.is_trusted_head:
        sys.stdout.write(
            f"its last irreversible block is {made.irreversible}, that of the snapshot, as in any node that began with "
            "it: the blocks since have made no later one irreversible\n"
        )
    return 0
