"""The arguments of `ledgerd app`."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands

NODE = "http://127.0.0.1:8090"


def add_app(commands: Commands) -> None:
    arguments = commands.add_parser(
        "app",
        help="run an application: tables of your own that follow the chain",
        description="Runs the application that a file of Python declares: tables, what blocks and operations do to "
        "them, and methods over them. The file is a program of yours, and runs with all that you may do. "
        "docs/applications.md has a first one.",
    )
    actions = arguments.add_subparsers(title="what to do", metavar="ACTION", dest="action", required=True)
    run = actions.add_parser("run", help="feed the tables from where they stand, and serve the methods")
    _add_common(run)
    add = run.add_argument
    add("--node", action="append", metavar="URL", help=f"a node; may be repeated (default: {NODE})")
    add("--http", metavar="HOST:PORT", help="serve methods, /ready and /metrics here (default: nowhere)")
    pages = "let web pages of this origin call methods on this machine; may be repeated (default: none)"
    add("--allow-origin", action="append", default=[], metavar="ORIGIN", help=pages)
    add("--until", type=int, metavar="BLOCK", help="end when this block is applied")
    add(
        "--handler-seconds",
        type=float,
        default=30.0,
        metavar="S",
        help="the longest that a handler may take (default: 30)",
    )
    status = actions.add_parser("status", help="print where the tables stand")
    _add_common(status)
    rebuild = actions.add_parser("rebuild", help="remove the tables, so that the next run makes them again")
    _add_common(rebuild)
    rebuild.add_argument("--yes", action="store_true", help="do not ask")


def _add_common(arguments: argparse.ArgumentParser) -> None:
    add = arguments.add_argument
    add("file", type=Path, metavar="FILE", help="the file of the application")
    add(
        "--database",
        metavar="PLACE",
        help="a file of SQLite, or postgresql://... (default: the application's name.sqlite, in this folder)",
    )
