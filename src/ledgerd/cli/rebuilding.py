"""What `ledgerd history rebuild` and `ledgerd markets rebuild` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ledgerd.cli.data_directory import add_data_directory, opened_chain
from ledgerd.cli.progress import progress

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain


def add_rebuild(
    commands: argparse._SubParsersAction[Any],
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    short: str,
    description: str,
) -> None:
    arguments = commands.add_parser(name, help=short, description=description)
    arguments.add_argument("action", choices=("rebuild",), help="the action")
    add_data_directory(arguments)
    arguments.set_defaults(run=run)


def rebuild_with_progress(
    chosen: argparse.Namespace, rebuild: Callable[[Chain, Callable[[int], None]], int]
) -> tuple[int, int]:
    """How many blocks that took, and the head."""
    from ledgerd.supervision.loading import search_rarely  # noqa: PLC0415 - not for `--help`

    search_rarely()
    with opened_chain(chosen, must_exist=True) as chain, progress("rebuilding", chain.head_number) as advance:
        return rebuild(chain, advance), chain.head_number
