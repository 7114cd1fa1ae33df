"""An account's statement as CSV: a line for each operation, made page by page while it is sent."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Mapping
from html import unescape
from typing import Any
from unicodedata import normalize

from markupsafe import Markup

from ledgerd.client.envelope import ErrorAnswer
from ledgerd.explorer.pages.people.history import Chosen, history_call
from ledgerd.explorer.pages.view import Visit
from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.numbers import THIN
from ledgerd.explorer.words.sentences import note_of, sentence
from ledgerd.explorer.words.values import visible

MOST_LINES = 100_000
"""Of one statement; who wants more asks for other days."""
LINES_AT_ONCE = 500
COLUMNS = (
    "time_utc", "block", "transaction", "operation", "change", "asset", "other_account", "note", "description",
)  # fmt: skip

FLOWS: Mapping[str, tuple[str, str, str]] = {
    "account_sale": ("buyer", "seller", "price"),
    "bid": ("bidder", "", "bid"),
    "outbid": ("", "bidder", "bid"),
    "benefactor_award": ("", "benefactor", "shares"),
    "committee_pay_request": ("", "worker", "tokens"),
    "create_invite": ("creator", "", "balance"),
    "escrow_release": ("", "receiver", "token_amount"),
    "escrow_transfer": ("from", "", "token_amount"),
    "expire_escrow_ratification": ("", "from", "token_amount"),
    "fill_vesting_withdraw": ("", "to_account", "deposited"),
    "paid_subscription_action": ("subscriber", "account", "summary_amount"),
    "pm_add_liquidity": ("provider", "", "amount"),
    "pm_commit_bet": ("account", "", "escrow_amount"),
    "pm_commit_forfeit": ("", "account", "refund"),
    "pm_early_exit_claim_paid": ("", "account", "paid"),
    "pm_lazy_deposit": ("account", "", "amount"),
    "pm_leverage_liquidate": ("", "account", "bettor_received"),
    "pm_leverage_open": ("account", "", "collateral"),
    "pm_leverage_resolve": ("", "account", "bettor_received"),
    "pm_payout": ("", "account", "payout"),
    "pm_place_bet": ("account", "", "amount"),
    "receive_award": ("", "receiver", "shares"),
    "stakeholder_reward": ("", "stakeholder", "shares"),
    "transfer": ("from", "to", "amount"),
    "transfer_to_vesting": ("from", "", "amount"),
    "validator_reward": ("", "validator", "shares"),
}
"""Who pays, who is paid, and how much, where one field of an operation says it."""

_TAG = re.compile("<[^>]*>")
_FORMULA = frozenset("=+-@")
_PASSED_OVER = "\N{REPLACEMENT CHARACTER}"
"""What some programs drop before they look for a formula stands as this in a text."""


def plain(markup: Markup) -> str:
    """A sentence without its links."""
    return unescape(_TAG.sub("", markup)).replace(THIN, " ")


def harmless(text: str) -> str:
    """A stranger's text in one line that no spreadsheet takes for a formula, also where it reads full-width signs as
    the usual ones, or drops what stands before them.
    """
    shown = visible(text)
    first = normalize("NFKC", shown).lstrip().lstrip(_PASSED_OVER).lstrip()[:1]
    return f"'{shown}" if first in _FORMULA else shown


def line_of(visit: Visit, name: str, row: Mapping[str, Any]) -> list[object]:
    """The cells of an operation."""
    kind, fields = row["op"]
    payer, payee, field = FLOWS.get(kind, ("", "", ""))
    change, asset, other = "", "", ""
    if field:
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
    """The lines of a statement, the oldest first; a last one says where it was cut."""
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
