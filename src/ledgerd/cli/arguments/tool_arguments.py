"""The arguments of the commands for moving in, comparing, keys and finding faults."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands, add_data_directory

MAINNET = "mainnet"
PORTS = 10
WAIT, APART = 3_600.0, 30.0
OURS, RATE, READS = "http://127.0.0.1:8090", 100.0, 1_000
MOST_PRINTED = 20
SHADOW, SHADOW_RATE, SHADOW_PROCESSOR = "shadow", 10.0, 20.0


def add_adopt(commands: Commands) -> None:
    arguments = commands.add_parser(
        "adopt",
        help="make a data directory from that of a vizd, which is not changed",
        description="Reads the block log, or the newest snapshot and the blocks behind it, and the configuration of a "
        "vizd, and makes a data directory for ledgerd elsewhere. Killed, it goes on when it is run again.",
    )
    add = arguments.add_argument
    add("directory", type=Path, nargs="?", metavar="DIR", help="the data directory of a vizd that is stopped")
    add("--data-dir", type=Path, required=True, metavar="DIR", help="the directory to make")
    add(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help=f"the network (default: {MAINNET}; of a hand-over: as our node is configured)",
    )
    add(
        "--port-offset",
        type=int,
        default=PORTS,
        metavar="N",
        help=f"added to the ports, so that both programs can listen on this machine (default: {PORTS}; 0: the same)",
    )
    add(
        "--trust-log",
        action="store_true",
        help="omit checks of signatures, authorities and merkle roots, for a log that your own vizd has checked",
    )
    add("--dry-run", action="store_true", help="only say what would be done")
    _add_handover(arguments)


def _add_handover(arguments: argparse.ArgumentParser) -> None:
    group = arguments.add_argument_group(
        "the hand-over of a validator",
        "With --validator nothing is adopted: the command walks through the hand-over, says a step when the one before "
        "is done, and writes nothing but last_signed_block of --data-dir, while our node is stopped. It uses no "
        "private key. Exit code: 0 handed over, 3 not yet (the same command goes on), 1 wrong arguments.",
    )
    add = group.add_argument
    add("--validator", metavar="NAME", help="the validator")
    add("--back", action="store_true", help="from our node back to the vizd")
    add("--key", metavar="PUBLIC_KEY", help="the other key that the side that takes over signs with")
    add("--vizd", metavar="URL", help="the vizd's JSON-RPC, to see whether it runs and is in step")
    add("--node", metavar="URL", help="our node's JSON-RPC (default: as its configuration says)")
    add("--wait", type=float, default=WAIT, metavar="SECONDS", help=f"stop after so long (default: {WAIT:.0f})")
    add(
        "--clock-difference",
        type=float,
        default=APART,
        metavar="SECONDS",
        help=f"how old a head block may be by this machine's clock (default: {APART:.0f})",
    )


def add_compare(commands: Commands) -> None:
    arguments = commands.add_parser(
        "compare",
        help="ask two nodes the same questions, and say whether they are equal",
        description="Compares what two nodes say over JSON-RPC: the ids of the last thousand irreversible blocks, "
        "supply, schedule, every account, and random reads of every API that both have. Exit code: 0 equal, "
        "1 a difference, 3 not comparable.",
    )
    add = arguments.add_argument
    add("url", metavar="URL", help="a node, ours or a vizd: http://HOST:PORT or https://HOST:PORT")
    add("other", metavar="URL", nargs="?", default=OURS, help=f"the other node (default: {OURS})")
    add("--seed", type=int, metavar="N", help="repeat the random reads of an earlier run")
    add("--reads", type=int, default=READS, metavar="N", help=f"random reads of each API (default: {READS})")
    add("--rate", type=float, default=RATE, metavar="N", help=f"requests a second to each node (default: {RATE:.0f})")
    add("--skip", action="append", default=[], metavar="API", help="leave an API out; may be given again")
    add("--json", action="store_true", help="print one JSON object at the end")


def add_record(commands: Commands) -> None:
    arguments = commands.add_parser(
        "record",
        help="play scenarios on a private network, and keep what its node answers as facts",
        description="Plays what no recording shows yet on a private network of any node, by its JSON-RPC, and writes "
        "blocks, answers and transactions in the form of tests/vectors. It says first what it will do and how long "
        "that takes; stopped or killed, it goes on when it is run again. Exit code: 0 recorded, 1 not.",
    )
    add = arguments.add_argument
    add("url", metavar="URL", help="a node of a private network: http://HOST:PORT")
    add("folder", type=Path, metavar="FOLDER", help="where the facts and the journal of the recording are kept")
    add("--only", action="append", default=[], metavar="SCENARIO", help="only this one; may be given again")
    add("--plan", action="store_true", help="only say what would be done")
    add("--initiator", default="viz", metavar="NAME", help="an account with tokens that is a validator (default: viz)")
    add(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="its active key in WIF (default: the published one of a testnet)",
    )


def add_shadow(commands: Commands) -> None:
    arguments = commands.add_parser(
        "shadow",
        help="compare two nodes for as long as both run, and tell what was found",
        description="`ledgerd shadow URL` follows two nodes block by block and asks both the same: at each block, "
        "after each round, and slowly every account and object. What differs is written to a folder and stops nothing. "
        "`ledgerd shadow report` tells what was compared, `ledgerd shadow report FILE` explains a difference or "
        "checks a signed record; exit code: 0 equal, 1 a difference, 3 nothing compared yet. `ledgerd shadow override` "
        "lets a validator with shadow-required sign for some hours whatever was found (docs/shadow.md).",
    )
    add = arguments.add_argument
    add("what", metavar="URL|report|override", help="the other node, a vizd or ours; or what else to do")
    add("more", metavar="OURS|FILE", nargs="?", help=f"our node (default: {OURS}); with report, a file")
    add("--data-dir", type=Path, metavar="DIR", help=f"the node whose shadow it is: its folder is DIR/{SHADOW}")
    add("--folder", type=Path, metavar="DIR", help=f"the folder of record and differences (default: {SHADOW})")
    add("--rate", type=float, default=SHADOW_RATE, metavar="N", help=f"requests a second to each ({SHADOW_RATE:.0f})")
    add(
        "--processor",
        type=float,
        default=SHADOW_PROCESSOR,
        metavar="PERCENT",
        help=f"of one core, at most (default: {SHADOW_PROCESSOR:.0f})",
    )
    add("--json", action="store_true", help="with report: print the records as JSON")
    add(
        "--sign",
        type=Path,
        nargs="?",
        const=True,
        metavar="KEY_FILE",
        help="with report: sign the record with the key in this file, or with that of the node in --data-dir",
    )
    add("--hours", type=float, default=1.0, metavar="N", help="with override: for so long; 0 ends it (default: 1)")


def add_key(commands: Commands) -> None:
    arguments = commands.add_parser(
        "key",
        help="create signing keys for a validator, or print their public keys",
        description="Makes a new private key where the file does not exist, readable by its owner alone, for "
        "`private-key-file` of a validator's configuration. Prints the public key, or those of all keys in the file; "
        "private keys are never shown.",
    )
    add = arguments.add_argument
    add("file", type=Path, metavar="FILE", help="the file of private keys in WIF, one on each line")
    add("--add", action="store_true", help="make one more key in the file, and print that one alone")
    add("--remove", metavar="PUBLIC_KEY", help="take this key out of the file")
    add(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="have the node that runs there read its key files again, and wait until it has: it needs no restart",
    )


def add_wallet(commands: Commands) -> None:
    commands.add_parser("wallet", help="keep private keys, sign and send transactions (ledgerd wallet --help)")


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
