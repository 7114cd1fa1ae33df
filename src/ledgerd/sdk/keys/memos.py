"""Memos that begin with `#`: encrypted from the sender's memo key to the recipient's, and read by either."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from ledgerd.codec.errors import CodecError, DecodeError
from ledgerd.protocol.crypto import base58, memo
from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey, PublicKey
from ledgerd.protocol.crypto.memo import MARK
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Meaning, Role, field_marked

HEAD_SIZE = 33 + 33 + 8 + 4
"""Bytes of an encrypted memo before its text: two keys, a nonce, a check."""


class MemoFields(NamedTuple):
    """The fields of an operation with a memo from one account to another."""

    memo: str
    sender: str
    recipient: str


@cache
def memo_fields(operation: type[Operation]) -> MemoFields | None:
    fields = [field_marked(operation, mark) for mark in (Meaning.MEMO, Role.SENDER, Role.RECIPIENT)]
    found = MemoFields(*("" if field is None else field.attribute for field in fields))
    return None if operation.VIRTUAL or not all(found) else found


def fields_to_encrypt(operation: Operation) -> MemoFields | None:
    """The fields of an operation whose text has to be encrypted: it begins with the mark, and is still plain."""
    fields = memo_fields(type(operation))
    if fields is None:
        return None
    text = getattr(operation, fields.memo)
    return fields if text.startswith(MARK) and not is_encrypted(text) else None


def is_encrypted(text: str) -> bool:
    try:
        return text.startswith(MARK) and len(base58.decode(text[len(MARK) :])) > HEAD_SIZE
    except CodecError:
        return False


def encrypt_memo(text: str, sender: PrivateKey, recipient: PublicKey) -> str:
    """A text, without the mark, as a memo that sender and recipient alone can read."""
    return memo.encode(text, sender, recipient, secrets.randbits(64))


def decrypt_memo(text: str, keys: Iterable[PrivateKey]) -> str | None:
    """The text of an encrypted memo, by whichever of the keys can read it; none of them may."""
    for key in keys:
        with suppress(DecodeError, InvalidKey):
            return memo.decode(text, key)
    return None
