"""Changing who may sign for an account (spec 02, sections 4.9, 4.14); whether signatures suffice is not asked here."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.agents import wipe_agents
from ledgerd.protocol.authority import Authority, authority_of
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.accounts import AUTHORITY_BY_ACCOUNT
from ledgerd.state.objects.recovery import MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory


def require_members(ledger: Ledger, *authorities: Authority) -> None:
    """Every account that an authority names exists; keys are taken as they are."""
    for authority in authorities:
        for name in authority.account_auths:
            ledger.account(name)


def update_master_authority(ledger: Ledger, name: AccountName, master: Authority) -> None:
    """Replace the master authority of an account, and remember the one before, by which it can be recovered.

    The same authority again counts as a new one, also for the account's agents.
    """
    authority = ledger.store.at(AUTHORITY_BY_ACCOUNT, name)
    if ledger.head_number >= 1:
        ledger.store.create(
            MASTER_AUTHORITY_HISTORY,
            MasterAuthorityHistory(
                account=name, previous_master_authority=authority.master, last_valid_time=ledger.now
            ),
        )
    with ledger.editing(authority):
        authority.master = master
        authority.last_master_update = ledger.now
    wipe_agents(ledger, name)


def hand_over(ledger: Ledger, name: AccountName, key: PublicKey) -> None:
    """Make one key all authorities of an account that was sold.

    The master authority of before is not remembered: a seller cannot recover what was sold (spec 02, section 4.14,
    quirk).
    """
    authority = ledger.store.at(AUTHORITY_BY_ACCOUNT, name)
    with ledger.editing(authority):
        authority.master = authority.active = authority.regular = authority_of(key)
        authority.last_master_update = ledger.now
