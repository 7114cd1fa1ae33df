"""Rules about texts inside operations: lengths in bytes, UTF-8, and what counts as JSON (spec 01, section 6)."""

from __future__ import annotations

from ledgerd.codec.errors import EOF
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.legacy import is_valid
from ledgerd.codec.json.text import text_bytes
from ledgerd.protocol.errors import RuleViolation, require

MAX_MEMO_LENGTH = 2048
MAX_PERMLINK_LENGTH = 256


def byte_length(text: str) -> int:
    """The bytes of a text; all limits of the protocol are in bytes."""
    return len(text) if text.isascii() else len(text_bytes(text))


def is_utf8(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class EndsTooEarly(RuleViolation):
    """A text that is no JSON yet. The reference has an error of its own for it, and refuses the operation too."""

    code, name, what = EOF, "eof_exception", "End Of File"


def is_json(text: str) -> bool:
    """Whether the reference takes the text for JSON (spec 01, section 4).

    Whoever carries out what strangers send expects violations of rules, and no other error.
    """
    try:
        return is_valid(text_bytes(text))
    except JsonError as error:
        fault = error.layers[0]
        raise EndsTooEarly(fault.format, **fault.data) from None


def require_memo(memo: str) -> None:
    require(byte_length(memo) < MAX_MEMO_LENGTH, "memo.size() < CHAIN_MAX_MEMO_LENGTH: Memo is too large")
    require(is_utf8(memo), "fc::is_utf8(memo): Memo is not UTF8")


def require_permlink(permlink: str) -> None:
    require(byte_length(permlink) < MAX_PERMLINK_LENGTH, "permlink.size() < CHAIN_MAX_URL_LENGTH: permlink is too long")
    require(is_utf8(permlink), "fc::is_utf8(permlink): permlink not formatted in UTF8")


def require_json_metadata(text: str) -> None:
    """Metadata is empty, or JSON in UTF-8."""
    if text:
        require(is_utf8(text), "fc::is_utf8(json_metadata): JSON Metadata not formatted in UTF8")
        require(is_json(text), "fc::json::is_valid(json_metadata): JSON Metadata not valid JSON")
