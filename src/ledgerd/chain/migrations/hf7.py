"""Hardfork 7: accounts with invalid names go, and what they had is the committee's (spec 03, section 21).

They were made by transfers to the anonymous account. Here is also the first half of putting delegations right
after hardfork 6; the second is hardfork 8.
"""

from __future__ import annotations

from typing import Any

from ledgerd.chain.ledger.discrepancies import note
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.removal import remove_penalties, remove_votes_for
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes_by_depth, adjust_validator_vote, votes_of
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.names import NO_NAME
from ledgerd.state.objects.accounts import ACCOUNTS, AUTHORITY_BY_ACCOUNT, METADATA_BY_ACCOUNT, Account
from ledgerd.state.objects.committee import COMMITTEE_VOTE_BY_VOTER, REQUEST_BY_CREATOR, REQUEST_BY_WORKER
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.escrow import ESCROW_BY_AGENT, ESCROW_BY_RECIPIENT, ESCROW_BY_SENDER
from ledgerd.state.objects.invites import INVITE_BY_CREATOR, INVITE_BY_RECEIVER
from ledgerd.state.objects.paid_subscriptions import (
    SUBSCRIBE_BY_CREATOR,
    SUBSCRIBE_BY_SUBSCRIBER,
    SUBSCRIPTION_BY_CREATOR,
)
from ledgerd.state.objects.proposals import PROPOSAL_BY_AUTHOR, REQUIRED_APPROVAL_BY_ACCOUNT
from ledgerd.state.objects.recovery import (
    CHANGE_RECOVERY_BY_ACCOUNT,
    MASTER_HISTORY_BY_ACCOUNT,
    RECOVERY_REQUEST_BY_ACCOUNT,
)
from ledgerd.state.objects.validators import VALIDATORS, Validator
from ledgerd.state.objects.vesting import (
    DELEGATION_BY_DELEGATEE,
    DELEGATION_BY_DELEGATOR,
    FIX_VESTING_DELEGATIONS,
    RETURN_BY_DELEGATOR,
    ROUTE_BY_ACCOUNTS,
    VestingDelegation,
)
from ledgerd.state.tables import Index

BY_NAME_FIRST: tuple[Index[Any], ...] = (MASTER_HISTORY_BY_ACCOUNT, METADATA_BY_ACCOUNT, AUTHORITY_BY_ACCOUNT)
BY_NAME_REQUESTS: tuple[Index[Any], ...] = (RECOVERY_REQUEST_BY_ACCOUNT, CHANGE_RECOVERY_BY_ACCOUNT)
BY_NAME_COMMITTEE: tuple[Index[Any], ...] = (COMMITTEE_VOTE_BY_VOTER, REQUEST_BY_CREATOR, REQUEST_BY_WORKER)
BY_NAME_LAST: tuple[Index[Any], ...] = (
    SUBSCRIBE_BY_SUBSCRIBER,
    SUBSCRIBE_BY_CREATOR,
    SUBSCRIPTION_BY_CREATOR,
    PROPOSAL_BY_AUTHOR,
    REQUIRED_APPROVAL_BY_ACCOUNT,
)
"""What is removed with an account, by the account's name, in this order."""


def remove_invalid_accounts(ledger: Ledger) -> None:
    """First the delegations of hardfork 6, then one account after the other."""
    _take_off_noted_delegations(ledger)
    for account in ledger.store.scan(ACCOUNTS):
        if not account.valid:
            _remove_account(ledger, account)


def _take_off_noted_delegations(ledger: Ledger) -> None:
    """The amounts are wrong, for they are in the shares of before hardfork 6; hardfork 8 puts that right."""
    for noted in ledger.store.scan(FIX_VESTING_DELEGATIONS):
        if noted.delegator:
            _give_back_delegated(ledger, ledger.account(noted.delegator), noted.vesting_shares)
        if noted.delegatee:
            _take_back_received(ledger, ledger.account(noted.delegatee), noted.vesting_shares)
        ledger.store.remove(noted)


def _give_back_delegated(ledger: Ledger, delegator: Account, amount: int) -> None:
    with ledger.editing(delegator):
        delegator.delegated_vesting_shares = fits_int64(delegator.delegated_vesting_shares - amount)


def _take_back_received(ledger: Ledger, delegatee: Account, amount: int) -> None:
    with ledger.editing(delegatee):
        delegatee.received_vesting_shares = fits_int64(delegatee.received_vesting_shares - amount)


def _remove_account(ledger: Ledger, account: Account) -> None:
    if account.proxy:
        own = (account.vesting_shares, *account.proxied_vsf_votes)
        adjust_proxied_votes_by_depth(ledger, account, [fits_int64(-amount) for amount in own])
    _give_to_committee(ledger, account)
    _remove_by_name(ledger, account, BY_NAME_FIRST)
    _remove_delegations(ledger, account)
    _remove_by_name(ledger, account, BY_NAME_REQUESTS)
    _remove_votes(ledger, account)
    validator = ledger.find_validator(account.name)
    if validator is not None:
        _remove_validator(ledger, validator)
    _remove_by_name(ledger, account, BY_NAME_COMMITTEE)
    _remove_routes(ledger, account)
    _pass_on_escrows(ledger, account)
    _pass_on_invites(ledger, account)
    _remove_by_name(ledger, account, BY_NAME_LAST)
    ledger.store.remove(account)


def _remove_by_name(ledger: Ledger, account: Account, indexes: tuple[Index[Any], ...]) -> None:
    for index in indexes:
        for record in ledger.store.scan(index, lower=(account.name,), upper=(account.name,)):
            ledger.store.remove(record)


def _give_to_committee(ledger: Ledger, account: Account) -> None:
    committee = ledger.account(COMMITTEE_ACCOUNT)
    with ledger.editing(committee):
        committee.vesting_shares = fits_int64(committee.vesting_shares + account.vesting_shares)
        committee.balance = fits_int64(committee.balance + account.balance)


def _remove_delegations(ledger: Ledger, account: Account) -> None:
    store, own = ledger.store, (account.name,)
    for returning in store.scan(RETURN_BY_DELEGATOR, lower=own, upper=own):
        _give_back_delegated(ledger, account, returning.vesting_shares)
        store.remove(returning)
    for index in (DELEGATION_BY_DELEGATOR, DELEGATION_BY_DELEGATEE):
        for delegation in store.scan(index, lower=own, upper=own):
            _remove_delegation(ledger, delegation)


def _remove_delegation(ledger: Ledger, delegation: VestingDelegation) -> None:
    _give_back_delegated(ledger, ledger.account(delegation.delegator), delegation.vesting_shares)
    _take_back_received(ledger, ledger.account(delegation.delegatee), delegation.vesting_shares)
    ledger.store.remove(delegation)


def _remove_votes(ledger: Ledger, account: Account) -> None:
    """The weight is taken off twice (spec 03, section 21, quirk)."""
    store = ledger.store
    for vote in votes_of(ledger, account):
        adjust_validator_vote(ledger, store.get(VALIDATORS, vote.validator), -account.validators_vote_weight)
    for vote in votes_of(ledger, account):
        adjust_validator_vote(ledger, store.get(VALIDATORS, vote.validator), -account.validators_vote_weight)
        note(ledger, Sum.VOTES, -account.validators_vote_weight, vote.validator)
        with ledger.editing(account):
            account.validators_voted_for = account.validators_voted_for - 1 & 0xFFFF
        store.remove(vote)
    with ledger.editing(account):
        account.validators_vote_weight = account.fair_vote_weight


def _remove_validator(ledger: Ledger, validator: Validator) -> None:
    """Its places in the round are left empty."""
    remove_penalties(ledger, validator)
    schedule = ledger.schedule
    scheduled = (NO_NAME if name == validator.owner else name for name in schedule.scheduled)
    rest = schedule.current_shuffled_validators[schedule.num_scheduled_validators :]
    with ledger.editing(schedule):
        schedule.current_shuffled_validators = (*scheduled, *rest)
    remove_votes_for(ledger, validator, marks_voters=False)
    ledger.store.remove(validator)


def _remove_routes(ledger: Ledger, account: Account) -> None:
    """Those from the account; then those to it, but only where the first account's are meant (spec 03, section 21)."""
    store = ledger.store
    for route in store.scan(ROUTE_BY_ACCOUNTS, lower=(account.id,), upper=(account.id,)):
        store.remove(route)
    for route in store.scan(ROUTE_BY_ACCOUNTS, lower=(0, account.id)):
        if route.to_account != account.id:
            break
        note(ledger, Sum.ROUTES, 1, route.from_account)
        store.remove(route)


def _pass_on_escrows(ledger: Ledger, account: Account) -> None:
    """The committee takes the account's place in its escrows."""
    store, own = ledger.store, (account.name,)
    for escrow in store.scan(ESCROW_BY_SENDER, lower=own, upper=own):
        with ledger.editing(escrow):
            escrow.sender = COMMITTEE_ACCOUNT
    for escrow in store.scan(ESCROW_BY_RECIPIENT, lower=own, upper=own):
        with ledger.editing(escrow):
            escrow.recipient = COMMITTEE_ACCOUNT
    for escrow in store.scan(ESCROW_BY_AGENT, lower=own, upper=own):
        with ledger.editing(escrow):
            escrow.agent = COMMITTEE_ACCOUNT


def _pass_on_invites(ledger: Ledger, account: Account) -> None:
    store, own = ledger.store, (account.name,)
    for invite in store.scan(INVITE_BY_CREATOR, lower=own, upper=own):
        with ledger.editing(invite):
            invite.creator = COMMITTEE_ACCOUNT
    for invite in store.scan(INVITE_BY_RECEIVER, lower=own, upper=own):
        with ledger.editing(invite):
            invite.receiver = COMMITTEE_ACCOUNT
