"""The file that takes a transaction from one wallet to another, and who has to sign it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ledgerd.basics.durable import open_file
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.draft import LARGEST_TEXT, AuthoritySet, Draft, Loaded, read, written
from ledgerd.sdk.transactions.errors import ForeignDraft, MixedAuthorities, SignersUnknown
from ledgerd.sdk.transactions.signers import Signers
from ledgerd.wallet.errors import ForeignFile, RuleBroken, WalletError
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.whole_file import replace_whole, write_new


def save(
    path: Path,
    draft: Draft,
    authorities: Mapping[AccountName, AuthoritySet],
    agents: Mapping[str, Mapping[str, list[str]]],
    *,
    replaces: bool = False,
) -> None:
    """Write a transaction to a file; one that exists is replaced only by itself with more signatures."""
    (replace_whole if replaces else write_new)(path, written(draft, authorities, agents))


def load(path: Path) -> Loaded:
    try:
        with open_file(path) as opened:
            return read(opened.read(LARGEST_TEXT + 1))
    except OSError as problem:
        raise WalletError(f"{path} cannot be read: {problem.strerror}") from problem
    except ForeignDraft as foreign:
        raise ForeignFile(f"{path} {foreign.fault}") from None


def signers_online(draft: Draft, ledger: LedgerReader) -> Signers:
    ledger.learn(draft.transaction.required.names)
    with _refused_together():
        return Signers(draft.transaction, ledger.authorities, ledger.agent_keys)


def signers_offline(loaded: Loaded) -> Signers:
    try:
        with _refused_together():
            return loaded.signers()
    except SignersUnknown as unknown:
        raise WalletError(f"{unknown}: choose the key with --key") from None


@contextmanager
def _refused_together() -> Iterator[None]:
    try:
        yield
    except MixedAuthorities as mixed:
        raise RuleBroken(str(mixed)) from None
