"""The arguments of the commands that ask other nodes: once, for facts, or for as long as both run."""

from __future__ import annotations

from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands

OURS, RATE, READS = "http://127.0.0.1:8090", 100.0, 1_000
SHADOW, SHADOW_RATE, SHADOW_PROCESSOR = "shadow", 10.0, 20.0


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
    add("--snapshots", metavar="PLACE", help="compare snapshots of the other node: HOST:PORT, a folder or a file")
    add("--our-snapshots", metavar="PLACE", help="those of ours (default: by the configuration in --data-dir)")
    add("--snapshot-hours", type=float, default=24.0, metavar="N", help="between two of them (default: 24)")
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
