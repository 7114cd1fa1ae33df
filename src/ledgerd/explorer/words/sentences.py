"""Operations as sentences with links, and their fields as tables. Which value stands in a field follows from the
declaration of the operation; where the number alone says too little, `FORMS` names its form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import orjson
from markupsafe import Markup, escape

from ledgerd.codec import record_kind
from ledgerd.explorer.words import numbers, values
from ledgerd.explorer.words.language import Language
from ledgerd.explorer.words.times import LATEST, absolute, seconds_of
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of

Fields = Mapping[str, Any]
Shown = Callable[[Any, Language], Markup]

LONGEST_JSON = 4_000

VARIANTS: Mapping[str, Callable[[Fields], str]] = {
    "account_update": lambda op: "" if op.get("master") or op.get("active") or op.get("regular") else "profile",
    "account_validator_proxy": lambda op: "" if op["proxy"] else "ends",
    "account_validator_vote": lambda op: "" if op["approve"] else "ends",
    "content": lambda op: "comment" if op["parent_author"] else "",
    "delegate_vesting_shares": lambda op: "" if numbers.units_of(op["vesting_shares"]) else "ends",
    "escrow_approve": lambda op: "" if op["approve"] else "ends",
    "pm_dispute_create": lambda op: "void" if op["proposed_outcome"] < 0 else "",
    "pm_dispute_finalize": lambda op: "void" if op["winning_outcome"] < 0 else "",
    "pm_dispute_resolve": lambda op: "void" if op["correct_outcome"] < 0 else "",
    "pm_lazy_withdraw": lambda op: "" if int(op["shares"]) else "all",
    "pm_oracle_accept_market": lambda op: "" if op["accept"] else "ends",
    "pm_payout": lambda op: "" if numbers.units_of(op["payout"]) else "lost",
    "pm_withdraw_liquidity": lambda op: "" if numbers.units_of(op["amount"]) else "all",
    "set_account_price": lambda op: "" if op["account_on_sale"] else "ends",
    "set_agent_permission": lambda op: (
        "ends" if not (op["operations"] or op["addons"]) else "" if seconds_of(op["expiration"]) else "ever"
    ),
    "set_paid_subscription": lambda op: "" if op["levels"] else "ends",
    "set_subaccount_price": lambda op: "" if op["subaccount_on_sale"] else "ends",
    "target_account_sale": lambda op: "" if op["account_on_sale"] else "ends",
    "transfer_to_vesting": lambda op: "own" if op["to"] in ("", op["from"]) else "",
    "validator_update": lambda op: "ends" if op["block_signing_key"].endswith(values.NULL_KEY) else "",
    "withdraw_vesting": lambda op: "" if numbers.units_of(op["vesting_shares"]) else "ends",
}
"""Operations that mean something else by the values of their fields."""

MADE: Mapping[str, Callable[[Fields], Any]] = {
    "custom.signers": lambda op: [*op["required_active_auths"], *op["required_regular_auths"]],
    "pm_place_bet.choice": lambda op: op["side"] if op["side"] >= 0 else op["outcome_index"],
    "pm_reveal_bet.choice": lambda op: op["side"] if op["side"] >= 0 else op["outcome_index"],
}
"""Values of sentences that are made of several fields."""

_PERCENT = ("energy", "max_energy", "vote_percent", "percent", "sharing_rate", "weight", "conversion_profit_cost")
_NUMBERED = ("escrow_id", "bet_id", "position_id", "liquidity_id", "commit_id")


def _percent(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return Markup('<b class="fig">%s</b>') % numbers.percent(value)


def _numbered(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return Markup("#%s") % str(value)


def _number(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return escape(numbers.grouped(value))


def _text(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    return values.quoted(value) if value != "" else values.NONE


def _time(value: Any, language: Language) -> Markup:  # noqa: ANN401 - JSON
    seconds = seconds_of(value)
    if seconds >= LATEST:
        return escape(language.text("ago.never"))
    return escape(absolute(language, seconds)) if seconds else values.NONE


def _answer(value: Any, language: Language) -> Markup:  # noqa: ANN401 - JSON
    return escape(language.text("yes" if value else "no"))


def _in_quotes(text: str, language: Language) -> Markup:
    quotes = language.text("quotes")
    return Markup("%s%s%s") % (quotes[0], values.quoted(text, 40), quotes[1])


def _json(value: Any, _: Language) -> Markup:  # noqa: ANN401 - JSON
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return Markup('<pre tabindex="0">%s</pre>') % values.visible_lines(text[:LONGEST_JSON])


FORMS: Mapping[str, Shown] = {
    **dict.fromkeys(_PERCENT, _percent),
    **dict.fromkeys(_NUMBERED, _numbered),
    "agent_name": _text,
    "market_id": lambda value, _: values.market(value),
    "request_id": lambda value, _: values.request(value),
    "url": lambda value, _: values.outside(value),
    "rules_url": lambda value, _: values.outside(value),
    "decision_url": lambda value, _: values.outside(value),
    "outcomes": lambda value, language: values.joined([_in_quotes(each, language) for each in value]),
    "proposed_operations": lambda value, language: Markup("<br>").join(
        sentence(language, *each["op"]) for each in value
    ),
}
"""Forms by the name of the field."""

BY_KIND: Mapping[str, Shown] = {
    "account name": lambda value, _: values.account(value),
    "asset": lambda value, _: numbers.amount(value),
    "public key": lambda value, _: values.key(value),
    "authority": lambda value, _: values.authority(value),
    "string": _text,
    "time": _time,
    "bool": _answer,
    "set of account name": lambda value, _: values.joined([values.account(each) for each in value]),
    "set of public key": lambda value, _: values.joined([values.key(each) for each in value]),
    "set of string": lambda value, _: values.joined([values.quoted(each, 80) for each in value]),
    "share": _number,
}
"""Forms by what the declaration says that the field is."""


@cache
def forms_of(name: str) -> Mapping[str, Shown]:
    """How each field of an operation is shown."""
    kinds = {name_of(each): each for each in OPERATIONS}
    if name not in kinds:
        return {}
    found: dict[str, Shown] = {}
    for field in record_kind(kinds[name]).fields:
        title = field.kind.title.removeprefix("optional ")
        form = FORMS.get(field.name) or BY_KIND.get(title)
        if form is None and field.name.endswith("_percent"):
            form = _percent
        if form is None:
            form = _number if title.startswith(("int", "uint")) else _json
        found[field.name] = form
    return found


_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@cache
def _parts(language: Language, operation: str, variant: str) -> tuple[str | tuple[str, Shown, Callable[..., Any]], ...]:
    """A sentence as its constant texts, escaped, and the values between them."""
    text = language.operations[f"{operation}.{variant}" if variant else operation]
    parts: list[str | tuple[str, Shown, Callable[..., Any]]] = []
    forms = forms_of(operation)
    for place, piece in enumerate(_PLACEHOLDER.split(text)):
        if not place % 2:
            parts.append(str(escape(piece)))
            continue
        made = MADE.get(f"{operation}.{piece}")
        if made is not None:
            shown = BY_KIND["set of account name"] if piece == "signers" else _number
            parts.append((piece, shown, made))
        else:
            parts.append((piece, forms[piece], lambda op, name=piece: op[name]))
    return tuple(parts)


def sentence(language: Language, operation: str, fields: Fields) -> Markup:
    """What an operation does, with links to what it names."""
    if operation not in language.operations:
        return Markup("<code>%s</code>") % operation
    choose = VARIANTS.get(operation)
    parts = _parts(language, operation, choose(fields) if choose else "")
    pieces = (part if isinstance(part, str) else part[1](part[2](fields), language) for part in parts)
    return Markup("".join(pieces))  # noqa: S704 - each is escaped, or made by `values`


def note_of(operation: str, fields: Fields) -> str:
    """What somebody has written beside an operation: a memo, a reason."""
    for name in ("memo", "reason", "decision_reason", "response"):
        text = fields.get(name)
        if isinstance(text, str) and text:
            return text
    return str(fields["json"]) if operation == "custom" else ""


def table_of(language: Language, operation: str, fields: Fields) -> list[tuple[str, Markup]]:
    """Every field by its name on the wire, for who wants to see all of it."""
    forms = forms_of(operation)
    return [
        (name, values.NONE if value is None else forms.get(name, _json)(value, language))
        for name, value in fields.items()
        if not (name == "extensions" and not value)
    ]
