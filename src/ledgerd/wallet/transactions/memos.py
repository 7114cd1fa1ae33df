"""Memos that begin with `#`: encrypted from the sender's memo key to the recipient's before the operation is made."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ledgerd.codec.errors import CodecError
from ledgerd.protocol import base58
from ledgerd.protocol.memo import MARK
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.awards import Award, FixedAward
from ledgerd.protocol.operations.bets import PmTransferPosition
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.wallet.errors import KeyNotFound, WalletError
from ledgerd.wallet.keys.session import KeySession
from ledgerd.wallet.node.ledger import LedgerReader

HEAD_SIZE = 33 + 33 + 8 + 4
"""Bytes of an encrypted memo before its text: two keys, a nonce, a check."""


class Ends(NamedTuple):
    """The fields of those whom a memo is from and to."""

    sender: str
    recipient: str


ENDS: dict[type[Operation], Ends] = {
    Transfer: Ends("sender", "recipient"),
    Award: Ends("initiator", "receiver"),
    FixedAward: Ends("initiator", "receiver"),
    PmTransferPosition: Ends("sender", "recipient"),
}
"""Operations with a memo for somebody."""


def with_encrypted_memo(operation: Operation, ledger: LedgerReader, session: KeySession) -> Operation:
    """The operation with its memo encrypted, if that begins with the mark and is not encrypted already."""
    ends, memo = ENDS.get(type(operation)), getattr(operation, "memo", "")
    if ends is None or not memo.startswith(MARK) or is_encrypted(memo):
        return operation
    sender = ledger.account(getattr(operation, ends.sender))
    recipient = ledger.account(getattr(operation, ends.recipient))
    try:
        sealed = session.encrypt_memo(memo[len(MARK) :], sender.memo_key, recipient.memo_key)
    except KeyNotFound as missing:
        raise KeyNotFound(
            f"the memo begins with {MARK}, and to encrypt it the memo key of {sender.name} is needed: {missing}"
        ) from None
    if not sealed.startswith(MARK):
        raise WalletError("the memo was not encrypted: nothing was sent")
    return msgspec.structs.replace(operation, memo=sealed)


def is_encrypted(memo: str) -> bool:
    """Whether a text has the form of an encrypted memo."""
    try:
        return memo.startswith(MARK) and len(base58.decode(memo[len(MARK) :])) > HEAD_SIZE
    except CodecError:
        return False
