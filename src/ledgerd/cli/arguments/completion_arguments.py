"""The arguments of `ledgerd completion`."""

from __future__ import annotations

from ledgerd.cli.arguments.directory_arguments import Commands

SHELLS = ("bash", "fish", "zsh")


def add_completion(commands: Commands) -> None:
    arguments = commands.add_parser(
        "completion",
        help="print what a shell needs to complete commands and options",
        description="Prints a script for a shell, with which it completes commands, options and their values. "
        "docs/operating.md says where each shell looks for it.",
    )
    arguments.add_argument("shell", choices=SHELLS, help="the shell")
