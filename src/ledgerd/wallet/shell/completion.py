"""What can stand at the cursor: commands, options, fields of operations, and names of accounts."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from ledgerd.sdk.transactions.operations.fields import fields_of_operation, inner_of, is_name, operation_named
from ledgerd.wallet.arguments.common import Parser
from ledgerd.wallet.operations.reading import joined_amounts

FIELD = "field_"
ACCOUNT_WORDS = frozenset({"ACCOUNT", "AUTHOR", "VOTER", "VALIDATOR"})
"""The names of account arguments in commands that are no operations."""
MOST_NAMES = 20

NamesLike = Callable[[str], Iterable[str]]


class WalletCompleter(Completer):
    """Completes by what the commands declare."""

    def __init__(self, parser: argparse.ArgumentParser, names_like: NamesLike) -> None:
        self._parser = parser
        self._names_like = names_like

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002 - as the library calls it
        text = document.text_before_cursor
        words = _words_of(text)
        current = words.pop() if words and not text[-1:].isspace() else ""
        yield from self._matching(words, current)

    def _matching(self, words: list[str], current: str) -> Iterator[Completion]:
        parser, command, given = _walk(self._parser, words)
        commands = _subcommands(parser)
        if commands is not None:
            helps = {each.dest: each.help or "" for each in commands._get_subactions()}  # noqa: SLF001 - argparse has no public way
            for name in commands.choices:
                if name.startswith(current):
                    yield Completion(name, -len(current), display_meta=helps.get(name, ""))
            return
        wanted = _option_waiting(parser, given)
        if wanted is not None:
            yield from self._values(wanted, command, current)
        elif current.startswith("-"):
            for action in parser._actions:  # noqa: SLF001 - argparse has no public way
                for name in action.option_strings:
                    if name.startswith(current) and name.startswith("--"):
                        yield Completion(name, -len(current), display_meta=action.help or "")
        else:
            place = len(_positional(parser, given))
            arguments = [each for each in parser._actions if not each.option_strings]  # noqa: SLF001
            if place < len(arguments):
                yield from self._values(arguments[place], command, current)
            elif arguments and arguments[-1].nargs in ("+", "*"):
                yield from self._values(arguments[-1], command, current)

    def _values(self, action: argparse.Action, command: str, current: str) -> Iterator[Completion]:
        title = str(action.metavar or action.dest).upper()
        if action.choices is not None:
            yield from (
                Completion(str(each), -len(current)) for each in action.choices if str(each).startswith(current)
            )
        elif _is_account(action, command):
            for number, name in enumerate(self._names_like(current)):
                if number < MOST_NAMES:
                    yield Completion(name, -len(current), display_meta=title)
        elif not current:
            yield Completion("", display=title, display_meta=action.help or "")


def _walk(parser: argparse.ArgumentParser, words: list[str]) -> tuple[argparse.ArgumentParser, str, list[str]]:
    command = ""
    for place, word in enumerate(words):
        commands = _subcommands(parser)
        if commands is None:
            return parser, command, joined_amounts(words[place:])
        if word not in commands.choices:
            return argparse.ArgumentParser(add_help=False), "", []
        parser, command = commands.choices[word], word
        if isinstance(parser, Parser):
            parser.complete()
    return parser, command, []


def _subcommands(parser: argparse.ArgumentParser) -> argparse._SubParsersAction[argparse.ArgumentParser] | None:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return action
    return None


def _option_of(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    return parser._option_string_actions.get(word)  # noqa: SLF001 - argparse has no public way


def _option_waiting(parser: argparse.ArgumentParser, given: list[str]) -> argparse.Action | None:
    found = _option_of(parser, given[-1]) if given else None
    return found if found is not None and found.nargs != 0 else None


def _positional(parser: argparse.ArgumentParser, given: list[str]) -> list[str]:
    found, takes_value = [], False
    for word in given:
        option = _option_of(parser, word)
        if not takes_value and option is None:
            found.append(word)
        takes_value = option is not None and option.nargs != 0
    return found


def _is_account(action: argparse.Action, command: str) -> bool:
    operation = operation_named(command)
    if action.dest.startswith(FIELD) and operation is not None:
        name = action.dest.removeprefix(FIELD)
        return any(field.name == name and is_name(inner_of(field.kind)) for field in fields_of_operation(operation))
    return action.metavar in ACCOUNT_WORDS


def _words_of(text: str) -> list[str]:
    """The words so far; one whose quotation has no end yet is the last."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
