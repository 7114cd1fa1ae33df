"""From the error object of an answer to the most precise class: by the reference's numbers, and where all of its
assertions have one number, by their texts (spec 05, section 6).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from ledgerd.sdk import errors
from ledgerd.sdk.errors import AUTHORITIES, NodeError, Value, kept_text

INVALID_REQUEST, INVALID_PARAMETERS, NO_PARAMETERS, UNRESOLVED = -32600, -32602, -32001, -32002
PARSE_ERROR, OUT_OF_RANGE, ASSERTION, END_OF_FILE, FOREIGN = 4, 8, 10, 11, 13

BY_NUMBER: dict[int, type[NodeError]] = {
    2: errors.Overloaded,
    **dict.fromkeys((PARSE_ERROR, OUT_OF_RANGE, END_OF_FILE), errors.BadParameters),
    **dict.fromkeys(AUTHORITIES, errors.MissingAuthority),
    3050000: errors.WrongSignatures,
    3060000: errors.WrongSignatures,
    3070000: errors.WrongSignatures,
}
FIRST_OF_THE_LEDGER = 3000000
"""Numbers from here on are of rules of the network."""

BAD = errors.BadParameters

MOST_VALUES, MOST_NAMES, LONGEST_VALUE = 16, 16, 256

_FRAME = re.compile(r"[^\n]{0,200} \((-?\d{1,10})\)\n")
_MISSING = re.compile(r"(?:^|: )Could not find ")
BY_TEXT: tuple[tuple[type[NodeError], re.Pattern[str]], ...] = (
    (errors.Duplicate, re.compile(r"Duplicate transaction check failed")),
    (errors.Expired, re.compile(r"^now < trx\.expiration:")),
    (errors.ExpiresTooLate, re.compile(r"^trx\.expiration <= now \+ ")),
    (errors.UnknownReferenceBlock, re.compile(r"^trx\.ref_block_prefix == tapos_block_summary")),
    (errors.InsufficientBandwidth, re.compile(r"^has_bandwidth:|exceeded maximum allowed bandwidth")),
    (errors.InsufficientEnergy, re.compile(r"enough energy to|have voting energy|enough potential to")),
    (
        errors.InsufficientFunds,
        re.compile(
            r"not have sufficient (?:funds|TOKEN|SHARES)|not have enough vesting shares"
            r"|Ins+ufficient (?:balance|vesting)|cannot cover token costs"
        ),
    ),
    (
        errors.Overloaded,
        re.compile(
            r"^Unable to acquire (?:READ|WRITE) lock|transactions are waiting already|no time for it now"
            r"|^Too many requests of this address|^It takes too long to simulate"
        ),
    ),
    (
        errors.NodeNotReady,
        re.compile(
            r"^Node is recovering|^This node is catching up"
            r"|^The node (?:has no state|stops before|that takes broadcasts)"
            r"|^there is no state yet|^the state (?:is being replaced|was written|cannot be read)"
        ),
    ),
    (
        errors.UnknownMethod,
        re.compile(r"^This node does not simulate|^There is no history in the data directory|^This is an API node"),
    ),
    (
        errors.BadParameters,
        re.compile(
            r"Expected [\w# ()-]{1,40} argument|^vector::_M_range_check|^n_args |^args\.args->size|^base58str\."
            r"|^limit |^count |^start_block_num |^Invalid hex character|unable to convert ISO-formatted"
        ),
    ),
    (errors.Rejected, re.compile(r"^could not insert object|^found: Recent authority")),
    (
        errors.UnknownAccount,
        re.compile(r"[Aa]ccount (?:with name )?\"?(?:\$\{a\}|\$\{name\})\"? (?:not found|does not exist)"),
    ),
    (
        errors.NotFound,
        re.compile(r"\bnot found|^\w+ != (?:\w+\.end\(\)|nullptr):|^unknown key|Unknown Transaction|^false: Unknown "),
    ),
)
"""Errors by a pattern of their text; the first pattern that is found counts. The time of a pattern grows no faster than
the text.
"""


class _ErrorText(NamedTuple):
    """The parts of an error object, each of the type that it should have."""

    code: int
    number: int
    name: str
    shown: str
    """The innermost text, filled."""
    layout: str
    """The text with places for values, so that no value is taken for a part of the rule; the filled text if it has
    none.
    """
    values: dict[str, Value]


def error_of(found: Mapping[str, object], method: str = "") -> NodeError:
    """The error that an answer's error object stands for. It may be of any form: nodes are strangers."""
    text = _read(found)
    return _class_of(text)(
        text.shown, code=text.code, number=text.number, name=text.name, values=text.values, method=method
    )


def _class_of(text: _ErrorText) -> type[NodeError]:
    if (by_number := BY_NUMBER.get(text.number)) is not None:
        return by_number
    if text.code == UNRESOLVED:
        return errors.UnknownMethod if _MISSING.search(text.layout) else BAD
    if text.code in {INVALID_PARAMETERS, NO_PARAMETERS}:
        return BAD
    if text.code == INVALID_REQUEST:
        return BAD if text.layout.startswith(("jsonrpc value", "A member ")) else errors.LimitExceeded
    if text.number == FOREIGN and text.layout.startswith("unknown key") and "name" in text.values:
        return errors.UnknownAccount  # the reference names no other thing so whose key it does not know
    for kind, pattern in BY_TEXT:
        if pattern.search(text.layout):
            return kind
    if text.number == ASSERTION or text.number >= FIRST_OF_THE_LEDGER:
        return errors.Rejected
    return errors.InternalError


def _read(found: Mapping[str, object]) -> _ErrorText:
    data = found.get("data")
    about: Mapping[str, object] = data if isinstance(data, dict) else {}
    shown = _text(found.get("message"))
    number = _number(about.get("code"))
    if frame := _FRAME.match(shown):
        shown, number = shown[frame.end() :], number or int(frame[1])
    shown = shown.strip("\n ") or _text(about.get("message"))
    layout, values = shown, dict[str, Value]()
    stack = about.get("stack")
    if isinstance(stack, list) and stack and isinstance(stack[0], dict):
        layout = _text(stack[0].get("format")) or shown
        values = _values(stack[0].get("data"))
        if layout.startswith("${what}"):  # an exception of a library, which has no rule
            layout = f"{values.get('what', '')}{layout.removeprefix('${what}')}"
    return _ErrorText(
        _number(found.get("code")), number, _text(about.get("name"))[:LONGEST_VALUE], shown, layout, values
    )


def _text(value: object) -> str:
    return kept_text(value) if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _values(found: object) -> dict[str, Value]:
    """The values of an entry that are texts, numbers or lists of texts, up to a size."""
    values: dict[str, Value] = {}
    for key, value in islice(found.items(), MOST_VALUES) if isinstance(found, dict) else ():
        name = _short(key)
        if isinstance(value, int):
            values[name] = value
        elif isinstance(value, str):
            values[name] = _short(value)
        elif isinstance(value, list) and value:
            values[name] = tuple(_short(each) for each in value[:MOST_NAMES] if isinstance(each, str))
    return values


def _short(value: object) -> str:
    return _text(value)[:LONGEST_VALUE]
