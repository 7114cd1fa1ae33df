"""The command line of the node itself: every option, by the part that it belongs to, as it was typed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ledgerd.node.config.options.declaration import Option
from ledgerd.node.config.options.sections import BY_NAME, SECTIONS
from ledgerd.node.config.values.kind import Argument
from ledgerd.node.config.values.values import nearest
from ledgerd.protocol.secrets import without_keys

WRONG_CONFIGURATION = 2
"""The exit code if the command line or the configuration file is wrong."""

DESCRIPTION = "A full node for the VIZ Ledger. Options stand on the command line or in the configuration file."
PREFIXES = {"conf": "config", "confi": "config"}
"""Abbreviations that the reference understands and that an option of ours would make ambiguous."""
WITHOUT_MEANING = "options of the reference that mean nothing here"


class NodeArguments(argparse.ArgumentParser):
    """An argument parser whose errors suggest the nearest option."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - argparse's own signature
        chosen, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error(_unknown(rest[0]))
        return chosen

    def error(self, message: str) -> NoReturn:
        """End the process; the help is long, so the fault is not buried in it."""
        self.exit(WRONG_CONFIGURATION, f"ledgerd: command line: {without_keys(message)}\n")


class _Version(argparse.Action):
    """Prints the version in its own lines, where argparse would fold them into one."""

    def __init__(self, option_strings: Sequence[str], dest: str, **keywords: Any) -> None:  # noqa: ANN401 - argparse's
        super().__init__(option_strings, dest, nargs=0, **keywords)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(self.const())
        parser.exit()


def _unknown(word: str) -> str:
    if not word.startswith("-"):
        return f"{word}: the node takes options, and no words beside them"
    name = word.lstrip("-").partition("=")[0]
    return f"unrecognised option '{word}'; the nearest one is --{nearest(name, BY_NAME)}"


def node_arguments(version: Callable[[], str], commands: Sequence[str]) -> NodeArguments:
    parser = NodeArguments(
        prog="ledgerd",
        usage="ledgerd [--config-file PATH] [--data-dir PATH] [OPTION ...]\n       ledgerd COMMAND ...",
        description=DESCRIPTION,
        epilog=f"Commands: {', '.join(commands)}; `ledgerd COMMAND --help` explains each.",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=34, width=100),
        add_help=False,
        argument_default=argparse.SUPPRESS,
    )
    general = parser.add_argument_group("help")
    general.add_argument("-h", "--help", action="help", help="Print this and stop.")
    general.add_argument("-v", "--version", action=_Version, const=version, help="Print the version and stop.")
    for section in SECTIONS.values():
        group = parser.add_argument_group(section.title, section.about)
        for option in section.with_meaning:
            add_option(group, option)
            for older in option.older():
                add_option(group, older)
    group = parser.add_argument_group(WITHOUT_MEANING, "They are accepted, and named in one line of the log.")
    for section in SECTIONS.values():
        for option in section.without_meaning:
            add_option(group, option)
    for prefix, name in PREFIXES.items():
        parser.add_argument(f"--{prefix}", dest=name, action="append", help=argparse.SUPPRESS)
    return parser


def add_option(group: argparse._ArgumentGroup, option: Option) -> None:
    names = [f"--{option.name}"]
    if option.short:
        names.insert(0, f"-{option.short}")
    common: dict[str, Any] = {"dest": option.name, "help": _help(option).replace("%", "%%")}
    match option.kind.argument:
        case Argument.NONE:
            group.add_argument(*names, action="append_const", const=option.kind.bare, **common)
        case Argument.OPTIONAL:
            group.add_argument(
                *names, action="append", nargs="?", const=option.kind.bare, metavar=option.kind.word, **common
            )
        case Argument.REQUIRED:
            group.add_argument(*names, action="append", metavar=option.kind.word, **common)


def _help(option: Option) -> str:
    parts = [option.help]
    if option.without_meaning:
        parts.append(f"Without meaning: {option.without_meaning}.")
        return " ".join(parts)
    if option.repeatable:
        parts.append("May be repeated.")
    if any(option.defaults) and option.kind.argument is not Argument.NONE:
        parts.append(f"Default: {', '.join(option.defaults)}.")
    return " ".join(parts)
