"""Results as a person reads them."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import Any

from ledgerd.basics.printable import shown_text
from ledgerd.wallet.commands.result import CommandResult

WIDTH_OF_FILES = 200


def outcome_words(result: CommandResult) -> str:
    if "file" in result:
        return f"The transaction {result['id']} is in {result['file']}: {result['state']}."
    place = f" {result['block']}" if result.get("block") else ""
    words = {
        "pending": "was sent and waits for a block",
        "in a block": f"is in block{place}",
        "irreversible": f"is irreversible, in block{place}",
    }
    return f"The transaction {result['id']} {words[str(result['state'])]}."


def table_words(result: CommandResult) -> str:
    found: Any = result
    if "record" in found:
        record = found["record"]
        rows: Iterable[Iterable[object]] = record.items() if isinstance(record, dict) else [("", record)]
        return _table(found["title"], ("field", "value"), rows)
    return _table(found["title"], found["columns"], found["rows"])


def agents_words(result: CommandResult) -> str:
    found: Any = result
    columns = ("name", "key", "operations", "expiration", "expired")
    return _table(
        f"agents of {found['account']}", columns, [[each[name] for name in columns] for each in found["agents"]]
    )


def proposals_words(result: CommandResult) -> str:
    found: Any = result
    lines = []
    for each in found["proposals"]:
        lines += [
            f"{_clean(each['title'])} by {_clean(each['author'])}, until {_clean(each['expiration_time'])} UTC",
            *each["words"],
        ]
        for role in ("active", "master", "regular"):
            needed, given = each[f"required_{role}_approvals"], each[f"available_{role}_approvals"]
            if needed:
                given_by = ", ".join(map(_clean, given)) or "nobody"
                lines.append(f"needs {role} approval of {', '.join(map(_clean, needed))}; given by {given_by}")
    return "\n".join(lines) or "No proposals."


def _clean(value: object) -> str:
    """The answer of a node, of which nothing begins a line of its own or looks empty."""
    return shown_text(str(value))


def _table(title: str, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    from rich.console import Console  # noqa: PLC0415 - not loaded by commands without tables
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Table(title=Text(title), title_justify="left", box=None, pad_edge=False)
    for name in columns:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(_cell(each)) for each in row))
    out = StringIO()
    console = Console()
    width = console.width if console.is_terminal else WIDTH_OF_FILES
    Console(file=out, width=width, color_system=None).print(grid)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _cell(value: object) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)
    return "" if value is None or value == "" else _clean(value)
