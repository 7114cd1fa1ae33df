"""Memos that begin with `#`: encrypted from the sender's memo key to the recipient's before the operation is made."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.crypto.memo import MARK
from ledgerd.protocol.operations import Operation
from ledgerd.sdk.keys.memos import fields_to_encrypt
from ledgerd.wallet.errors import KeyNotFound, WalletError
from ledgerd.wallet.keys.session import KeySession
from ledgerd.wallet.node.ledger import LedgerReader


def with_encrypted_memo(operation: Operation, ledger: LedgerReader, session: KeySession) -> Operation:
    """The operation with its memo encrypted, if that begins with the mark and is not encrypted already."""
    fields = fields_to_encrypt(operation)
    if fields is None:
        return operation
    memo, *names = (getattr(operation, field) for field in fields)
    sender, recipient = map(ledger.account, names)
    try:
        sealed = session.encrypt_memo(memo[len(MARK) :], sender.memo_key, recipient.memo_key)
    except KeyNotFound as missing:
        raise KeyNotFound(
            f"the memo begins with {MARK}, and to encrypt it the memo key of {sender.name} is needed: {missing}"
        ) from None
    if not sealed.startswith(MARK):
        raise WalletError("the memo was not encrypted: nothing was sent")
    return msgspec.structs.replace(operation, **{fields.memo: sealed})
