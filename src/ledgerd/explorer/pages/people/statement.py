"""An account's statement as CSV: a line for each operation, made page by page while it is sent."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Mapping
from functools import cache
from html import unescape
from typing import Any
from unicodedata import normalize

from markupsafe import Markup

from ledgerd.client.envelope import ErrorAnswer
from ledgerd.explorer.pages.people.history import Chosen, history_call
from ledgerd.explorer.pages.view import Visit
from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.numbers import THIN
from ledgerd.explorer.words.sentences import KINDS, note_of, sentence
from ledgerd.explorer.words.values import visible
from ledgerd.protocol.operations.roles import Meaning, Role, amount_field, field_marked

MOST_LINES = 100_000
"""Lines of one statement; for more, ask for other days."""
LINES_AT_ONCE = 500
"""Lines that are asked for in one request."""
COLUMNS = (
    "time_utc", "block", "transaction", "operation", "change", "asset", "other_account", "note", "description",
)  # fmt: skip

_TAG = re.compile("<[^>]*>")
_FORMULA = frozenset("=+-@")
_PASSED_OVER = "\N{REPLACEMENT CHARACTER}"
"""What some programs drop before they look for a formula stands as this in a text."""


def plain(markup: Markup) -> str:
    return unescape(_TAG.sub("", markup)).replace(THIN, " ")


def harmless(text: str) -> str:
    """A stranger's text in one line that no spreadsheet takes for a formula, also where it reads full-width signs as
    the usual ones, or drops what stands before them.
    """
    shown = visible(text)
    first = normalize("NFKC", shown).lstrip().lstrip(_PASSED_OVER).lstrip()[:1]
    return f"'{shown}" if first in _FORMULA else shown


@cache
def flow_of(operation: str) -> tuple[str, str, str] | None:
    """The fields of who pays, who is paid, and how much, where one field of an operation says it."""
    kind = KINDS.get(operation)
    ends = [] if kind is None else [field_marked(kind, role) for role in (Role.PAYER, Role.PAYEE)]
    if kind is None or not any(ends):
        return None
    amount = field_marked(kind, Meaning.PAID) or amount_field(kind)
    payer, payee, paid = ("" if field is None else field.name for field in (*ends, amount))
    return payer, payee, paid


def line_of(visit: Visit, name: str, row: Mapping[str, Any]) -> list[object]:
    kind, fields = row["op"]
    payer, payee, field = flow_of(kind) or ("", "", "")
    change, asset, other = "", "", ""
    if field in fields:
        number, _, symbol = str(fields[field]).partition(" ")
        paid, got = fields.get(payer) == name, fields.get(payee) == name
        if paid != got:
            change, asset = f"{'-' if paid else ''}{number}", symbol
            other = str(fields.get(payee if paid else payer, ""))
    return [
        row["timestamp"],
        row["block"],
        "" if row["trx_in_block"] == 0xFFFF else row["trx_id"],
        kind,
        change,
        asset,
        harmless(other),
        harmless(note_of(kind, fields)),
        harmless(plain(sentence(language(visit.code), kind, fields))),
    ]


async def statement(visit: Visit, name: str, choice: Chosen) -> AsyncIterator[bytes]:
    yield _packed([COLUMNS])
    cursor, count = "oldest", 0
    while count < MOST_LINES:
        (page,) = await visit.node.ask(history_call(name, choice, cursor, LINES_AT_ONCE))
        if isinstance(page, ErrorAnswer):
            yield _packed([[f"# {page.message.splitlines()[0]}"]])
            return
        rows = [line_of(visit, name, each[1]) for each in page["entries"]]
        count += len(rows)
        if rows:
            yield _packed(rows)
        if page["newer"] == cursor:
            return
        cursor = page["newer"]
    yield _packed([[f"# {MOST_LINES} lines are the most; ask for later days for the rest"]])


def _packed(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8", "replace")
