"""The arguments of the commands on a data directory."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeAlias

Commands: TypeAlias = "argparse._SubParsersAction[Any]"  # noqa: SLF001 - it has no public name
PARTS = 16
DAYS = 7


def add_data_directory(arguments: argparse.ArgumentParser) -> None:
    arguments.add_argument("--data-dir", type=Path, required=True, metavar="DIR", help="the data directory")
    arguments.add_argument(
        "--config-file",
        type=Path,
        metavar="PATH",
        help="the configuration that the node runs with, for its network, sizes and checkpoints "
        "(default: config.ini in the data directory, if there is one)",
    )
    arguments.add_argument(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help="the network: mainnet, testnet, or the TOML file of a private one (default: as configured)",
    )


def add_check(commands: Commands) -> None:
    arguments = commands.add_parser(
        "check",
        help="check that a state is consistent",
        description="Checks that sums add up, that counters and indexes match the objects, the log the state, and that "
        "nothing in the block log and the history has changed since it was written. Exit code: 0 all checks hold, 1 "
        "one does not, or the state cannot be opened.",
    )
    add_data_directory(arguments)


KINDS = ("full", "validator", "testnet")


def add_init(commands: Commands) -> None:
    arguments = commands.add_parser(
        "init",
        help="set up a node: three questions, its configuration, and whether it can start",
        description="Asks what the node is for, which network it joins and where its data is, unless the options say "
        "so; writes its configuration from the template of that kind, runs the doctor, and says what to do next. Exit "
        "code: 0 written, 1 not written or the doctor has found errors.",
    )
    add = arguments.add_argument
    add("--kind", choices=KINDS, help="full follows and answers; validator makes blocks; testnet is one to develop on")
    add(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help="the network: mainnet, testnet, or the TOML file of a private one",
    )
    add("--data-dir", type=Path, metavar="DIR", help="the data directory, made where there is none")
    add(
        "--config-file", type=Path, metavar="PATH", help="the file to write (default: config.ini in the data directory)"
    )
    seeds = "a peer to begin with, in place of those of the template; may be repeated"
    add("--seed", action="append", default=[], metavar="HOST:PORT", help=seeds)
    trusted = "a node whose snapshot is trusted as the first state, in place of those of the template; may be repeated"
    add("--snapshot-peer", action="append", default=[], metavar="HOST:PORT", help=trusted)
    add("--overwrite", action="store_true", help="replace a configuration that is there; the old one is kept beside it")


def add_doctor(commands: Commands) -> None:
    arguments = commands.add_parser(
        "doctor",
        help="say what is wrong with a node, running or not, and how to right it",
        description="Checks configuration, ports, clock, disk, memory, limits, seeds, keys, state and log. Prints "
        "nothing where all is well. Exit code: 0 all is well, 1 errors, 2 a wrong configuration, 3 only warnings.",
    )
    add = arguments.add_argument
    add_data_directory(arguments)
    add(
        "options",
        nargs="*",
        metavar="-- OPTIONS",
        help="options that the node is started with besides its configuration file (default: those of the running "
        "node, or of the systemd unit that starts one with this data directory)",
    )
    add("--json", action="store_true", help="print one JSON object (docs/doctor.md)")


def add_state(commands: Commands) -> None:
    arguments = commands.add_parser(
        "state",
        help="print the state, or one table of it; or make the state at a past block",
        description="Prints the number of objects in each table; with --json, the objects, one on each line. With "
        "--at, makes the state at a past block instead, in a place of its own, by replay from the nearest snapshot: "
        "a node may run meanwhile. An interrupted run goes on where it was (docs/past-state.md).",
    )
    add = arguments.add_argument
    add("table", nargs="?", metavar="TABLE", help="one table, such as Account (default: all)")
    add_data_directory(arguments)
    add("--json", action="store_true", help="print every object as JSON")
    add("--at", type=int, metavar="N", help="make the state at block N; needs --to")
    add("--to", type=Path, metavar="OUT", help="the directory to make it in, or the snapshot to write (OUT.vizjson)")
    begins = arguments.add_mutually_exclusive_group()
    begins.add_argument(
        "--snapshot", type=Path, metavar="FILE", help="begin with this snapshot (default: the nearest in snapshot-dir)"
    )
    begins.add_argument("--from-genesis", action="store_true", help="begin with the first block of the chain")


def add_replay(commands: Commands) -> None:
    arguments = commands.add_parser(
        "replay",
        help="apply a block log to a data directory; after a stop, run it again to continue",
        description="Applies every block of a block log, in the reference's format, with all checks.",
    )
    add = arguments.add_argument
    add("--block-log", type=Path, required=True, metavar="FILE", help="the block log to read")
    add_data_directory(arguments)
    add("--to", type=int, metavar="N", help="stop after block N")
    add(
        "--trust-log",
        action="store_true",
        help="omit checks of signatures, authorities and merkle roots, for a log that you made yourself",
    )


HISTORY_ACTIONS = {
    "rebuild": "record what happened again, while the node is stopped",
    "extend": "record what happened before the history of the node begins, also while the node runs",
    "export": "write it into Parquet files, also while the node runs",
    "feed": "feed PostgreSQL beside the node, until it is interrupted",
    "verify": "compare PostgreSQL with the history of the node",
    "migrate": "bring the schema in PostgreSQL up to date, or back with --back-to",
    "partition": "divide the empty tables in PostgreSQL into --parts",
    "readers": "make the roles for people who ask PostgreSQL",
}


def _height(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 0 < number < 1 << 32:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to {(1 << 32) - 1}")
    return number


def add_history(commands: Commands) -> None:
    arguments = commands.add_parser(
        "history",
        help="rebuild the history of operations, export it, or feed it to PostgreSQL",
        description="rebuild replays all blocks beside the state and records what happened in them; run again, it goes "
        "on where it was interrupted, and the old history stays in use until the new one is complete. extend does the "
        "same beside a node that began with a snapshot, from the blocks of its archive (docs/archives.md). export "
        "writes irreversible blocks into files for programs that analyse tables; run again, it adds what is new "
        "(docs/export.md). The other actions are about the history in PostgreSQL (docs/sql.md).",
    )
    add = arguments.add_argument
    add("action", choices=HISTORY_ACTIONS, help="; ".join(f"{each}: {what}" for each, what in HISTORY_ACTIONS.items()))
    add_data_directory(arguments)
    add("--store", metavar="ADDRESS", help="the database, postgresql://... (default: history-store as configured)")
    add("--back-to", metavar="VERSION", help="migrate: take back this version of the schema and all later ones")
    add("--parts", type=int, default=PARTS, metavar="N", help=f"partition: how many (default: {PARTS})")
    add("--to", metavar="FOLDER", help="export: where the files are written")
    add("--from", dest="first", type=_height, metavar="N", help="export: the first block")
    add("--until", type=_height, metavar="N", help="export: the last block")
    add("--blocks-per-file", type=_height, metavar="N", help="export: blocks of each file (default: 100000)")


def add_archive(commands: Commands) -> None:
    arguments = commands.add_parser(
        "archive",
        help="fetch, list or check the blocks from before a node's own log",
        description="A node that began with a snapshot has the latest blocks only. An archive is a folder with those "
        "before, in sealed files; blocks that are in it are served to peers and clients.",
    )
    actions = arguments.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    fetching = actions.add_parser(
        "fetch",
        help="fetch the past from a web server or a peer, also while the node runs",
        description="Fetches file by file, from the newest missing block down. Each is proven by the ids of its blocks "
        "before it gets its place. Run again, it goes on where it was interrupted.",
    )
    add_data_directory(fetching)
    fetching.add_argument("source", metavar="SOURCE", help="http://..., https://..., or a peer as HOST:PORT")
    fetching.add_argument(
        "--from", dest="lowest", type=_height, default=1, metavar="N", help="how far down (default: 1)"
    )
    add_data_directory(actions.add_parser("list", help="which blocks are in the archive"))
    add_data_directory(actions.add_parser("check", help="prove every block of the archive again"))


def add_markets(commands: Commands) -> None:
    arguments = commands.add_parser(
        "markets",
        help="make metadata and price points of markets again, while the node is stopped",
        description="Replays all blocks beside the state, which needs the block log from block 1 on, and puts the new "
        "state in the place of the old one. Run again, it goes on where it was interrupted.",
    )
    arguments.add_argument("action", choices=("rebuild",), help="the action")
    add_data_directory(arguments)


def add_snapshot(commands: Commands) -> None:
    arguments = commands.add_parser(
        "snapshot",
        help="write the state as a snapshot, or begin a data directory with one",
        description="Snapshots have the reference's format (.vizjson), so each program reads those of the other.",
    )
    directions = arguments.add_subparsers(title="directions", metavar="DIRECTION", required=True, dest="direction")
    writing = directions.add_parser("export", help="write the state of a data directory into a file")
    add_data_directory(writing)
    writing.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not exist")
    reading = directions.add_parser("import", help="begin a data directory with the state of a file")
    add_data_directory(reading)
    reading.add_argument("file", type=Path, metavar="FILE", help="the snapshot to read")


def add_validator(commands: Commands) -> None:
    arguments = commands.add_parser(
        "validator",
        help="report what a validator did, by the history of this node, running or not",
        description="Prints for each day (UTC) the blocks that a validator made, the slots that it missed, its rewards "
        "and votes, and what the state says of its votes and penalties now. Missed slots, rewards and votes need the "
        "plugin operation_history.",
    )
    add = arguments.add_argument
    add("action", choices=("report",), help="the action")
    add("name", metavar="NAME", help="the validator")
    add_data_directory(arguments)
    add("--days", type=int, default=DAYS, help=f"the number of latest days (default: {DAYS})")
    add("--json", action="store_true", help="print one JSON object (docs/validators.md)")
