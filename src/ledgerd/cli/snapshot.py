"""`ledgerd snapshot`: the state as a file that a `vizd` reads, and such a file as a state."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from ledgerd.cli.data_directory import STATE_FOLDER, add_data_directory, configuration_of, opened_chain
from ledgerd.protocol.errors import OperatorError


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command and its two directions."""
    arguments = commands.add_parser(
        "snapshot",
        help="write the state as a snapshot, or begin a data directory with one",
        description="Snapshots have the reference's format (.vizjson), so either program reads the other's.",
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
    """Write a snapshot under another name first, so that a file of the given name is always whole."""
    from ledgerd.snapshot.export import Occasion, export  # noqa: PLC0415 - not loaded for `--help`

    if chosen.file.exists():
        raise OperatorError(f"{chosen.file} exists already: choose another name, or remove it")
    partial = chosen.file.with_name(chosen.file.name + ".part")
    with opened_chain(chosen, must_exist=True) as chain:
        head = chain.blocks.at(chain.head_number)
        try:
            with partial.open("wb") as file:
                checksum = export(chain.store, file, Occasion(chain.network.chain_id, int(time.time()), head))
            partial.replace(chosen.file)
        except OSError as problem:
            partial.unlink(missing_ok=True)
            raise OperatorError(f"{chosen.file} cannot be written: {problem.strerror}") from problem
        sys.stdout.write(f"block {chain.head_number} written to {chosen.file}, checksum {checksum}\n")
    return 0


def run_import(chosen: argparse.Namespace) -> int:
    """Begin a chain where the snapshot stands; a failure leaves no state behind."""
    import shutil  # noqa: PLC0415 - for a failure alone

    from ledgerd.protocol.chain_file import parameters_of  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.snapshot.load import load  # noqa: PLC0415
    from ledgerd.snapshot.read import Snapshot  # noqa: PLC0415
    from ledgerd.state import Store  # noqa: PLC0415
    from ledgerd.state.objects import STORED_TABLES  # noqa: PLC0415
    from ledgerd.state.objects.reversible import REVERSIBLE_BLOCKS, ReversibleBlock  # noqa: PLC0415

    folder = chosen.data_dir / STATE_FOLDER
    if folder.exists():
        raise OperatorError(f"there is a state in {chosen.data_dir} already: choose another --data-dir")
    network = parameters_of(configuration_of(chosen).application.chain)
    try:
        snapshot = Snapshot.from_path(chosen.file)
    except OSError as problem:
        raise OperatorError(f"{chosen.file} cannot be read: {problem.strerror}") from problem
    try:
        with Store.open(folder, STORED_TABLES) as store:
            head = load(store, snapshot, network)
            if head is not None:
                store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=head.number, packed=head.packed))
            store.commit()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    sys.stdout.write(f"the state of block {snapshot.head_number} is in {chosen.data_dir}\n")
    return 0
