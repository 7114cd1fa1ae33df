"""`ledgerd state`: prints the objects of the state, for people and for comparison, and makes that of a past block."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.past_state import make_past_state
from ledgerd.codec import codec_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.reader import StateReader
from ledgerd.state.tables import Table
from ledgerd.state.view import View


def run(chosen: argparse.Namespace) -> int:
    if chosen.at is not None:
        if chosen.to is None:
            raise OperatorError("--at needs --to: the state at a past block is made in a directory of its own")
        if chosen.table is not None or chosen.json:
            raise OperatorError("--at makes a state and prints none: print it afterwards, with --data-dir OUT")
        return make_past_state(chosen)
    if chosen.to is not None or chosen.snapshot is not None or chosen.from_genesis:
        raise OperatorError("--to, --snapshot and --from-genesis belong to --at: name the block of the state")
    tables = _chosen_tables(STORED_TABLES, chosen.table)
    folder = configuration_of(chosen).chain.shared_file_dir
    if not folder.is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: make one with `ledgerd replay`")
    with StateReader.open(folder, STORED_TABLES) as reader, reader.snapshot() as view:
        for line in _lines(view, tables, in_full=chosen.json):
            sys.stdout.write(line + "\n")
    return 0


def _chosen_tables(tables: tuple[Table[Any], ...], name: str | None) -> tuple[Table[Any], ...]:
    if name is None:
        return tables
    found = tuple(table for table in tables if table.title.lower() == name.lower())
    if not found:
        known = ", ".join(table.title for table in tables)
        raise OperatorError(f"there is no table {name}; there are {known}")
    return found


def _lines(view: View, tables: tuple[Table[Any], ...], *, in_full: bool) -> Iterator[str]:
    for table in tables:
        if not in_full:
            yield f"{sum(1 for _ in view.scan(table)):>10}  {table.title}"
            continue
        for entity in view.scan(table):
            yield f'{{"table":"{table.title}","object":{codec_of(table.record).to_json(entity)}}}'
