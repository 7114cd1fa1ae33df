"""`ledgerd state`: prints the objects of the state, for people and for comparison, and makes that of a past block."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.state.tables import Table
    from ledgerd.state.view import View


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    from pathlib import Path  # noqa: PLC0415

    from ledgerd.cli.data_directory import add_data_directory  # noqa: PLC0415 - not loaded for other commands

    arguments = commands.add_parser(
        "state",
        help="print the state, or one table of it; or make the state at a past block",
        description="Prints the number of objects in each table; with --json, the objects, one on each line. With "
        "--at, makes the state at a past block instead, in a place of its own, by replay from the nearest snapshot: "
        "a node may run meanwhile. An interrupted run goes on where it was (docs/past-state.md).",
    )
    arguments.add_argument("table", nargs="?", metavar="TABLE", help="one table, such as Account (default: all)")
    add_data_directory(arguments)
    arguments.add_argument("--json", action="store_true", help="print every object as JSON")
    arguments.add_argument("--at", type=int, metavar="N", help="make the state at block N; needs --to")
    arguments.add_argument(
        "--to", type=Path, metavar="OUT", help="the directory to make it in, or the snapshot to write (OUT.vizjson)"
    )
    begins = arguments.add_mutually_exclusive_group()
    begins.add_argument(
        "--snapshot", type=Path, metavar="FILE", help="begin with this snapshot (default: the nearest in snapshot-dir)"
    )
    begins.add_argument("--from-genesis", action="store_true", help="begin with the first block of the chain")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print the state of the last commit, or make a past one; a node may run on it meanwhile."""
    if chosen.at is not None:
        return _run_at(chosen)
    if chosen.to is not None or chosen.snapshot is not None or chosen.from_genesis:
        raise OperatorError("--to, --snapshot and --from-genesis belong to --at: name the block of the state")
    from ledgerd.cli.data_directory import configuration_of  # noqa: PLC0415 - none of these is loaded for `--help`
    from ledgerd.projections.reading import reading_both  # noqa: PLC0415
    from ledgerd.projections.tables import PROJECTED_TABLES  # noqa: PLC0415
    from ledgerd.state.objects import STORED_TABLES  # noqa: PLC0415

    tables = _chosen_tables((*STORED_TABLES, *PROJECTED_TABLES), chosen.table)
    folder = configuration_of(chosen).chain.shared_file_dir
    if not folder.is_dir():
        raise OperatorError(f"there is no state in {chosen.data_dir}: make one with `ledgerd replay`")
    with reading_both(folder) as (state, kept):
        for table in tables:
            view = state if table in STORED_TABLES else kept
            sys.stdout.writelines(f"{line}\n" for line in _lines(view, table, in_full=chosen.json))
    return 0


def _run_at(chosen: argparse.Namespace) -> int:
    from ledgerd.cli.past_state import make_past_state  # noqa: PLC0415 - not loaded for `--help`

    if chosen.to is None:
        raise OperatorError("--at needs --to: the state at a past block is made in a directory of its own")
    if chosen.table is not None or chosen.json:
        raise OperatorError("--at makes a state and prints none: print it afterwards, with --data-dir OUT")
    return make_past_state(chosen)


def _chosen_tables(tables: tuple[Table[Any], ...], name: str | None) -> tuple[Table[Any], ...]:
    if name is None:
        return tables
    found = tuple(table for table in tables if table.title.lower() == name.lower())
    if not found:
        known = ", ".join(table.title for table in tables)
        raise OperatorError(f"there is no table {name}; there are {known}")
    return found


def _lines(view: View, table: Table[Any], *, in_full: bool) -> Iterator[str]:
    from ledgerd.codec import codec_of  # noqa: PLC0415

    if not in_full:
        yield f"{sum(1 for _ in view.scan(table)):>10}  {table.title}"
        return
    for entity in view.scan(table):
        yield f'{{"table":"{table.title}","object":{codec_of(table.record).to_json(entity)}}}'
