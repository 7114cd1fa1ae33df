"""`ledgerd snapshot`: exports the state to a file that `vizd` can read, and imports such a file."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path
from typing import Any

from ledgerd.cli.data_directory import add_data_directory, configuration_of, opened_chain
from ledgerd.protocol.errors import OperatorError


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "snapshot",
        help="write the state as a snapshot, or begin a data directory with one",
        description="Snapshots have the reference's format (.vizjson), so each program reads those of the other.",
    )
    directions = arguments.add_subparsers(title="directions", metavar="DIRECTION", required=True)
    writing = directions.add_parser("export", help="write the state of a data directory into a file")
    add_data_directory(writing)
    writing.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not exist")
    writing.set_defaults(run=run_export)
    reading = directions.add_parser("import", help="begin a data directory with the state of a file")
    add_data_directory(reading)
    reading.add_argument("file", type=Path, metavar="FILE", help="the snapshot to read")
    reading.set_defaults(run=run_import)


def run_export(chosen: argparse.Namespace) -> int:
    from ledgerd.node.datadir.state_export import write_snapshot  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.snapshot.checks import excess_warning  # noqa: PLC0415

    if chosen.file.exists():
        raise OperatorError(f"{chosen.file} exists already: choose another name, or remove it")
    with opened_chain(chosen, must_exist=True, needs_log=False) as chain:
        with_metadata = configuration_of(chosen).snapshot.writes_pm_meta
        written = write_snapshot(chain, chosen.file, int(time.time()), with_metadata=with_metadata)
        sys.stdout.write(f"block {chain.head_number} written to {chosen.file}, checksum {written.checksum}\n")
    if written.excess:
        sys.stderr.write(f"{excess_warning(written.excess)}\n")
    return 0


def run_import(chosen: argparse.Namespace) -> int:
    from ledgerd.node.config.logging.setup import set_up_for_person  # noqa: PLC0415 - none is loaded for `--help`
    from ledgerd.node.config.network import network_of  # noqa: PLC0415
    from ledgerd.node.datadir.opening import files_of  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.node.datadir.state_import import import_state  # noqa: PLC0415
    from ledgerd.snapshot import import_progress  # noqa: PLC0415
    from ledgerd.snapshot.settings import Terms  # noqa: PLC0415

    configuration = configuration_of(chosen)
    files = files_of(configuration)
    if files.exists:
        raise OperatorError(f"there is a state in {chosen.data_dir} already: choose another --data-dir")
    options, network = configuration.snapshot, network_of(configuration)
    with set_up_for_person(logging.getLogger(import_progress.__name__)):
        terms = Terms(options.pm_legacy_residual, options.knows_pm_meta)
        head = import_state(files, chosen.file, network, terms)
    sys.stdout.write(f"the state of block {head} is in {chosen.data_dir}\n")
    return 0
