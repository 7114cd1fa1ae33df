"""`ledgerd state`: prints the objects of the state, for people and for comparison."""

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
    """Declare the command."""
    from pathlib import Path  # noqa: PLC0415

    arguments = commands.add_parser(
        "state",
        help="print the state, or one table of it",
        description="Prints the number of objects in each table; with --json, the objects, one on each line.",
    )
    arguments.add_argument("table", nargs="?", metavar="TABLE", help="one table, such as Account (default: all)")
    arguments.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the data directory")
    arguments.add_argument("--json", action="store_true", help="print every object as JSON")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Print the state of the last commit; a node may run on it meanwhile."""
    from pathlib import Path  # noqa: PLC0415 - none of these is loaded for `--help`

    from ledgerd.node.config.configuration import read_configuration  # noqa: PLC0415
    from ledgerd.state.objects import STORED_TABLES  # noqa: PLC0415
    from ledgerd.state.reader import StateReader  # noqa: PLC0415

    tables = _chosen_tables(STORED_TABLES, chosen.table)
    configuration = read_configuration({"data-dir": [str(chosen.data_dir)]}, Path.cwd())
    folder = configuration.chain.shared_file_dir
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
    from ledgerd.codec import codec_of  # noqa: PLC0415

    for table in tables:
        if not in_full:
            yield f"{sum(1 for _ in view.scan(table)):>10}  {table.title}"
            continue
        for entity in view.scan(table):
            yield f'{{"table":"{table.title}","object":{codec_of(table.record).to_json(entity)}}}'
