"""Reading encrypted memos."""

from __future__ import annotations

from pathlib import Path

from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.keys.session import session_of
from ledgerd.wallet.transactions.memos import is_encrypted


def read_memo(wallet: Path, memo: str) -> CommandResult:
    if not is_encrypted(memo):
        raise WalletError("this is no encrypted memo: those begin with # and a long word")
    return {"text": session_of(wallet).decrypt_memo(memo)}
