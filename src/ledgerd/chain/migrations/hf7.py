"""Hardfork 7: accounts with invalid names go to the committee, delegations are half put right (spec 03, section 21)."""

from __future__ import annotations

from typing import Any

from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_delegated, adjust_received
from ledgerd.chain.rules.validators import votes
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.accounts import recovery
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, AUTHORITY_BY_ACCOUNT, METADATA_BY_ACCOUNT, Account
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_AUTHOR, REQUIRED_APPROVAL_BY_ACCOUNT
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.money import paid_subscriptions, vesting
from ledgerd.state.objects.money.committee import COMMITTEE_VOTE_BY_VOTER, REQUEST_BY_CREATOR, REQUEST_BY_WORKER
from ledgerd.state.objects.money.escrow import ESCROW_BY_AGENT, ESCROW_BY_RECIPIENT, ESCROW_BY_SENDER
from ledgerd.state.objects.money.invites import INVITE_BY_CREATOR, INVITE_BY_RECEIVER
from ledgerd.state.objects.validators import VALIDATORS, Validator
from ledgerd.state.tables.tables import Index

BY_NAME_FIRST: tuple[Index[Any], ...] = (recovery.MASTER_HISTORY_BY_ACCOUNT, METADATA_BY_ACCOUNT, AUTHORITY_BY_ACCOUNT)
BY_NAME_REQUESTS: tuple[Index[Any], ...] = (recovery.RECOVERY_REQUEST_BY_ACCOUNT, recovery.CHANGE_RECOVERY_BY_ACCOUNT)
BY_NAME_COMMITTEE: tuple[Index[Any], ...] = (COMMITTEE_VOTE_BY_VOTER, REQUEST_BY_CREATOR, REQUEST_BY_WORKER)
BY_NAME_LAST: tuple[Index[Any], ...] = (
    paid_subscriptions.SUBSCRIBE_BY_SUBSCRIBER,
    paid_subscriptions.SUBSCRIBE_BY_CREATOR,
    paid_subscriptions.SUBSCRIPTION_BY_CREATOR,
    PROPOSAL_BY_AUTHOR,
    REQUIRED_APPROVAL_BY_ACCOUNT,
)
"""What is removed with an account, by the account's name, in this order."""

PASSED_ON: tuple[tuple[Index[Any], str], ...] = (
    (ESCROW_BY_SENDER, "sender"),
    (ESCROW_BY_RECIPIENT, "recipient"),
    (ESCROW_BY_AGENT, "agent"),
    (INVITE_BY_CREATOR, "creator"),
    (INVITE_BY_RECEIVER, "receiver"),
)
"""Escrows and invites in which the committee takes an account's place."""


def remove_invalid_accounts(ledger: Ledger) -> None:
    """First the delegations of hardfork 6, then one account after the other."""
    _subtract_recorded_delegations(ledger)
    for account in ledger.store.scan(ACCOUNTS):
        if not account.valid:
            _remove_account(ledger, account)


def _subtract_recorded_delegations(ledger: Ledger) -> None:
    """The amounts are wrong, for they are in the shares of before hardfork 6; hardfork 8 puts that right."""
    for recorded in ledger.store.scan(vesting.FIX_VESTING_DELEGATIONS):
        if recorded.delegator:
            adjust_delegated(ledger, ledger.account(recorded.delegator), -recorded.vesting_shares)
        if recorded.delegatee:
            adjust_received(ledger, ledger.account(recorded.delegatee), -recorded.vesting_shares)
        ledger.store.remove(recorded)


def _remove_account(ledger: Ledger, account: Account) -> None:
    if account.proxy:
        own = (account.vesting_shares, *account.proxied_vsf_votes)
        votes.adjust_proxied_votes_by_depth(ledger, account, [fits_int64(-amount) for amount in own])
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
    _pass_on_to_committee(ledger, account)
    _remove_by_name(ledger, account, BY_NAME_LAST)
    ledger.store.remove(account)


def _remove_by_name(ledger: Ledger, account: Account, indexes: tuple[Index[Any], ...]) -> None:
    for index in indexes:
        for record in ledger.store.under(index, account.name):
            ledger.store.remove(record)


def _give_to_committee(ledger: Ledger, account: Account) -> None:
    committee = ledger.account(COMMITTEE_ACCOUNT)
    ledger.remember(committee)
    committee.vesting_shares = fits_int64(committee.vesting_shares + account.vesting_shares)
    committee.balance = fits_int64(committee.balance + account.balance)


def _remove_delegations(ledger: Ledger, account: Account) -> None:
    store, own = ledger.store, (account.name,)
    for returning in store.scan(vesting.RETURN_BY_DELEGATOR, lower=own, upper=own):
        adjust_delegated(ledger, account, -returning.vesting_shares)
        store.remove(returning)
    for index in (vesting.DELEGATION_BY_DELEGATOR, vesting.DELEGATION_BY_DELEGATEE):
        for delegation in store.scan(index, lower=own, upper=own):
            _remove_delegation(ledger, delegation)


def _remove_delegation(ledger: Ledger, delegation: vesting.VestingDelegation) -> None:
    adjust_delegated(ledger, ledger.account(delegation.delegator), -delegation.vesting_shares)
    adjust_received(ledger, ledger.account(delegation.delegatee), -delegation.vesting_shares)
    ledger.store.remove(delegation)


def _remove_votes(ledger: Ledger, account: Account) -> None:
    """The weight is taken off twice (spec 03, section 21, quirk)."""
    store = ledger.store
    votes.adjust_each_vote(ledger, account, -account.validators_vote_weight)
    for vote in votes.votes_of(ledger, account):
        votes.adjust_validator_vote(ledger, store.get(VALIDATORS, vote.validator), -account.validators_vote_weight)
        record_discrepancy(ledger, Sum.VOTES, -account.validators_vote_weight, vote.validator)
        ledger.remember(account)
        account.validators_voted_for = account.validators_voted_for - 1 & 0xFFFF
        store.remove(vote)
    ledger.remember(account)
    account.validators_vote_weight = account.fair_vote_weight


def _remove_validator(ledger: Ledger, validator: Validator) -> None:
    """Its places in the round are left empty."""
    votes.remove_penalties(ledger, validator)
    schedule = ledger.schedule
    scheduled = (NO_NAME if name == validator.owner else name for name in schedule.scheduled)
    rest = schedule.current_shuffled_validators[schedule.num_scheduled_validators :]
    ledger.remember(schedule)
    schedule.current_shuffled_validators = (*scheduled, *rest)
    votes.remove_votes_for(ledger, validator, marks_voters=False)
    ledger.store.remove(validator)


def _remove_routes(ledger: Ledger, account: Account) -> None:
    """Those from the account; then those to it, but only where the first account's are meant (spec 03, section 21)."""
    store = ledger.store
    for route in store.under(vesting.ROUTE_BY_ACCOUNTS, account.id):
        store.remove(route)
    for route in store.scan(vesting.ROUTE_BY_ACCOUNTS, lower=(0, account.id)):
        if route.to_account != account.id:
            break
        record_discrepancy(ledger, Sum.ROUTES, 1, route.from_account)
        store.remove(route)


def _pass_on_to_committee(ledger: Ledger, account: Account) -> None:
    store, own = ledger.store, (account.name,)
    for index, field in PASSED_ON:
        for record in store.scan(index, lower=own, upper=own):
            with ledger.editing(record):
                setattr(record, field, COMMITTEE_ACCOUNT)
