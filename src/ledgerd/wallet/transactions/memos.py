"""Memos that begin with `#`: encrypted from the sender's memo key to the recipient's before the operation is made."""

from __future__ import annotations

from functools import cache

import msgspec

from ledgerd.codec.errors import CodecError
from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.memo import MARK
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Meaning, Role, field_marked
from ledgerd.wallet.errors import KeyNotFound, WalletError
from ledgerd.wallet.keys.session import KeySession
from ledgerd.wallet.node.ledger import LedgerReader

HEAD_SIZE = 33 + 33 + 8 + 4
"""Bytes of an encrypted memo before its text: two keys, a nonce, a check."""


@cache
def ends_of(operation: type[Operation]) -> tuple[str, str, str] | None:
    fields = [field_marked(operation, mark) for mark in (Meaning.MEMO, Role.SENDER, Role.RECIPIENT)]
    memo, sender, recipient = ("" if field is None else field.attribute for field in fields)
    return None if operation.VIRTUAL or not (memo and sender and recipient) else (memo, sender, recipient)


def with_encrypted_memo(operation: Operation, ledger: LedgerReader, session: KeySession) -> Operation:
    """The operation with its memo encrypted, if that begins with the mark and is not encrypted already."""
    ends = ends_of(type(operation))
    if ends is None:
        return operation
    memo, *names = (getattr(operation, field) for field in ends)
    if not memo.startswith(MARK) or is_encrypted(memo):
        return operation
    sender, recipient = map(ledger.account, names)
    try:
        sealed = session.encrypt_memo(memo[len(MARK) :], sender.memo_key, recipient.memo_key)
    except KeyNotFound as missing:
        raise KeyNotFound(
            f"the memo begins with {MARK}, and to encrypt it the memo key of {sender.name} is needed: {missing}"
        ) from None
    if not sealed.startswith(MARK):
        raise WalletError("the memo was not encrypted: nothing was sent")
    return msgspec.structs.replace(operation, **{ends[0]: sealed})


def is_encrypted(memo: str) -> bool:
    try:
        return memo.startswith(MARK) and len(base58.decode(memo[len(MARK) :])) > HEAD_SIZE
    except CodecError:
        return False
