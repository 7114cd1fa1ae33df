"""Writes `docs/stability/unreleased.json`: what of this program is promised (docs/stability.md), from the code.

With a version after it, `python -m scripts.generate_stability 1.0.0` writes the list of that release too. It stays as
it is, and later lists are compared with it (`scripts/compare_stability.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from ledgerd.cli.directory import doctor, validator
from ledgerd.cli.main import COMMANDS, FAILED, parser
from ledgerd.cli.process import health
from ledgerd.cli.tools import adopt, compare
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.records import RecordKind
from ledgerd.history.parquet import schema as parquet
from ledgerd.history.store import tables as history
from ledgerd.history.webhooks import position
from ledgerd.metrics.table import TOPICS
from ledgerd.node import lifecycle
from ledgerd.node.config.options.declaration import Option
from ledgerd.node.config.options.sections import SECTIONS
from ledgerd.node.parts.watching.stuck import STUCK
from ledgerd.plugins import feeding
from ledgerd.producer.signing import double_sign, signing_frames
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.replica import messages
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.node.dev_api import DEV_API
from ledgerd.rpc.api.node.node_api import NODE_API
from ledgerd.rpc.call.declarations import Api, Method, Parameter
from ledgerd.rpc.describe.openrpc import name_of
from ledgerd.sdk.transactions import draft
from ledgerd.snapshot.file import export as snapshot
from ledgerd.state.files import header as state
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import Table, layout
from ledgerd.wallet import errors as wallet
from ledgerd.wallet.arguments.every_command import command_parser
from ledgerd.wallet.keys import sealing
from scripts.generate_api_docs import collect, default_of, field_words, words
from scripts.generate_metrics_docs import labels_of
from scripts.stability_python import Entry, public_names

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "stability"
UNRELEASED = FOLDER / "unreleased.json"
SCHEMA = ROOT / "src" / "ledgerd" / "history" / "postgres" / "schema"

Stable: TypeAlias = dict[str, dict[str, Entry]]
"""What is promised: by kind, then by name."""

OUR_APIS: tuple[Api, ...] = (HISTORY_API, STATE_API, NODE_API, DEV_API)
"""Those that the reference does not have; what that has is promised as it is there."""

LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


def options() -> dict[str, Entry]:
    """The options of the node, with those that mean nothing here."""
    found = {}
    for section in SECTIONS.values():
        for option in section.options:
            found[option.name] = _option(option)
            for older in option.older():
                found[older.name] = {**_option(older), "older_name_of": option.name}
    return dict(sorted(found.items()))


def _option(option: Option) -> Entry:
    entry: Entry = {"takes": option.kind.takes, "default": [*option.defaults], "repeatable": option.repeatable}
    return {**entry, "deprecated": option.leaves_in} if option.leaves_in else entry


def commands() -> dict[str, Entry]:
    """The commands beside the node, and what may be typed after each."""
    found = dict(_arguments(parser(COMMANDS), "")) | dict(_arguments(command_parser(), "wallet"))
    return dict(sorted(found.items()))


def _arguments(arguments: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, Entry]]:
    entry: Entry = {"parameters": [], "keywords": []}
    for action in arguments._actions:  # noqa: SLF001 - argparse tells what it was given in no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - it has no public name
            for inner, of in action.choices.items():
                yield from _arguments(of, f"{name} {inner}".strip())
        elif not isinstance(action, argparse._HelpAction):  # noqa: SLF001 - the same
            key = "keywords" if action.option_strings else "parameters"
            takes = "" if action.nargs == 0 else f": {action.metavar or action.dest}"
            may = "" if action.required else " = ..."
            entry[key].append(f"{'/'.join(action.option_strings) or action.dest}{takes}{may}")
    if name:
        yield name, entry


def plain(text: str) -> str:
    """A type in words, without the links of a document."""
    return LINK.sub(r"\1", text)


def methods() -> dict[str, Entry]:
    """The methods that the reference does not have."""
    return {method.full_name: _method(method) for api in OUR_APIS for method in api}


def _method(method: Method) -> Entry:
    return {"parameters": [*map(_parameter, method.parameters)], "returns": plain(words(method.codec.kind))}


def _parameter(parameter: Parameter) -> str:
    default = "" if parameter.is_required else f" = {default_of(parameter.default)}"
    return f"{name_of(parameter)}: {plain(words(parameter.codec.kind))}{default}"


def records() -> dict[str, Entry]:
    """The fields of what these methods take and answer."""
    seen: dict[str, RecordKind] = {}
    for api in OUR_APIS:
        for method in api:
            kinds: list[Kind] = [method.codec.kind, *(each.codec.kind for each in method.parameters)]
            for kind in kinds:
                collect(kind, seen)
    return {
        name: {"fields": {field.name: plain(field_words(field.kind)) for field in kind.fields}}
        for name, kind in sorted(seen.items())
    }


def metrics() -> dict[str, Entry]:
    """The names of metrics."""
    return {
        family.name: {"kind": family.kind.value, "labels": [label.name for label in labels_of(family)]}
        for families in TOPICS.values()
        for family in families
    }


def formats() -> dict[str, Entry]:
    """What is on disks and between processes of different versions."""
    found: Mapping[str, object] = {
        "state": state.FORMAT.decode(),
        "tables of the state": _digest(STORED_TABLES),
        "tables of the projections": _digest(PROJECTED_TABLES),
        "history": history.HISTORY.text.decode(),
        "history in SQL": max(path.name for path in SCHEMA.glob("*.sql") if ".rollback." not in path.name)[:4],
        "history in Parquet": parquet.VERSION,
        "snapshot": snapshot.VERSION,
        "record of the signed block": double_sign.FORMAT,
        "frames between signer and node": signing_frames.VERSION,
        "stream to replicas": messages.VERSION,
        "file of a wallet": sealing.VERSION,
        "position of a webhook": position.FORMAT,
        "position of an observer": feeding.FORMAT,
        "file of a transaction": draft.FORMAT,
        "report of the doctor": doctor.FORMAT,
        "report of a validator": validator.FORMAT,
    }
    return {f"format: {name}": {"version": value} for name, value in found.items()}


def _digest(tables: tuple[Table[Any], ...]) -> str:
    return hashlib.sha256(layout(tables).encode()).hexdigest()[:16]


def exit_codes() -> dict[str, Entry]:
    """The codes that processes end with, for scripts and for what starts a service again."""
    found = {
        "node: stopped": lifecycle.STOPPED,
        "node: stuck": STUCK,
        "node: wrong configuration": WRONG_CONFIGURATION,
        "node: failed": lifecycle.FATAL,
        "command: failed": FAILED,
        "--check-health: healthy": health.HEALTHY,
        "--check-health: unhealthy": health.UNHEALTHY,
        "doctor: sound": doctor.SOUND,
        "doctor: errors": doctor.ERRORS,
        "doctor: wrong configuration": doctor.WRONG_CONFIGURATION,
        "doctor: warnings": doctor.WARNINGS,
        "compare: equal": compare.EQUAL,
        "compare: different": compare.DIFFERENT,
        "compare: not compared": compare.NOT_COMPARED,
        "adopt: handed over": adopt.HANDED_OVER,
        "adopt: not yet": adopt.NOT_YET,
        "adopt: interrupted": adopt.INTERRUPTED,
    }
    for name, value in vars(wallet).items():
        if isinstance(value, type) and issubclass(value, wallet.WalletError):
            found[f"wallet: {name}"] = value.EXIT_CODE
    return {name: {"code": code} for name, code in found.items()}


def stable() -> Stable:
    """All that is promised, as the code of today has it."""
    return {
        "options": options(),
        "commands": commands(),
        "methods": methods(),
        "records": records(),
        "metrics": metrics(),
        "formats": formats(),
        "exit codes": exit_codes(),
        "python": public_names(),
    }


def text(found: Stable) -> str:
    """A line for each name: what changes between two versions can be read."""
    parts = []
    for kind, entries in found.items():
        lines = (f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        parts.append(f"  {json.dumps(kind)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(versions: list[str]) -> int:
    """Write the list, and that of a release where its version is given."""
    FOLDER.mkdir(exist_ok=True)
    written = text(stable())
    for name in (UNRELEASED.stem, *versions):
        (FOLDER / f"{name}.json").write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
