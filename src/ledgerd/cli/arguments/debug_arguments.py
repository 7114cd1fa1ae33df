"""The arguments of `ledgerd debug`: tools to find faults."""

from __future__ import annotations

from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands, add_data_directory

MOST_PRINTED = 20


def _add_codec(commands: Commands) -> None:
    from ledgerd.codec.listing import DIRECTIONS  # noqa: PLC0415 - not loaded for other commands

    arguments = commands.add_parser(
        "codec",
        help="print the generated functions of a type",
        description="Prints the functions that turn a type into bytes and JSON, and back, as they are compiled.",
    )
    arguments.add_argument("type", metavar="TYPE", help="a class, such as Transfer, SignedHeader or Account")
    arguments.add_argument(
        "--direction",
        choices=tuple(DIRECTIONS),
        help="read: bytes to value; write: value to bytes; print: value to JSON; show: bytes to JSON (default: all)",
    )


def _add_fork(commands: Commands) -> None:
    arguments = commands.add_parser(
        "fork",
        help="find the block at which two chains part",
        description="Finds the last block that two chains have in common, by binary search over block ids. "
        "Exits with 1 when the chains part.",
    )
    what = "a node's address (http://HOST:PORT), a data directory, or a block log"
    arguments.add_argument("first", metavar="FIRST", help=what)
    arguments.add_argument("second", metavar="SECOND", help="another one")


def _add_states(commands: Commands) -> None:
    arguments = commands.add_parser(
        "states",
        help="compare two states",
        description="Prints each object and field in which two states differ. Nodes may run on them meanwhile. "
        "Exits with 1 when there is a difference.",
    )
    arguments.add_argument("first", type=Path, metavar="FIRST", help="a data directory, or a snapshot (.vizjson)")
    arguments.add_argument("second", type=Path, metavar="SECOND", help="another one")
    arguments.add_argument(
        "--most",
        type=int,
        default=MOST_PRINTED,
        metavar="N",
        help=f"the most differences to print for a table (default: {MOST_PRINTED})",
    )
    arguments.add_argument(
        "--without-marks",
        action="store_true",
        help="of snapshots, leave out what two sound programs write differently: marks of an import, counts that it "
        "makes again, metadata of markets, recent transactions",
    )


def _add_difference(tools: Commands) -> None:
    arguments = tools.add_parser(
        "difference",
        help="ask a question on which two nodes differed again, of a state made from the blocks",
        description="Makes the state at the block at which a shadow has found a difference, by replay from the nearest "
        "snapshot, and asks the same of it. A node may run on the directory. Exit code: 0 our node has said the same, "
        "3 the other one has, 4 neither.",
    )
    arguments.add_argument("file", type=Path, metavar="FILE", help="a difference of a shadow")
    add_data_directory(arguments)
    arguments.add_argument("--snapshot", type=Path, metavar="FILE", help="begin with this snapshot")
    arguments.add_argument("--work", type=Path, metavar="DIR", help="make the state there (default: temporary files)")


def add_debug(commands: Commands) -> None:
    arguments = commands.add_parser(
        "debug",
        help="print a generated codec, compare two states, find where two chains part",
        description="Tools for finding faults. None of them changes any data.",
    )
    tools = arguments.add_subparsers(title="tools", metavar="TOOL", required=True, dest="tool")
    for add_tool in (_add_codec, _add_states, _add_fork, _add_difference):
        add_tool(tools)
