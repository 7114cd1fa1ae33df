"""The record of an account in answers: account, authorities, metadata and votes (spec 05, section 8.6)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec

from ledgerd.codec import array_of, record_kind
from ledgerd.codec.json_text import quote
from ledgerd.codec.numbers import Int16, ShareAmount, UInt16, UInt32, UInt64
from ledgerd.codec.records import RecordKind
from ledgerd.protocol.amounts import Shares, Tokens
from ledgerd.protocol.authority import Authority
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName, text_order
from ledgerd.protocol.times import Time
from ledgerd.rpc.api.kinds import Printed
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.accounts import (
    ACCOUNT_BY_NAME,
    AUTHORITY_BY_ACCOUNT,
    METADATA_BY_ACCOUNT,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from ledgerd.state.objects.arrays import PROXY_DEPTH
from ledgerd.state.objects.validators import VALIDATOR_VOTE_BY_ACCOUNT, VALIDATORS
from ledgerd.state.tables import ObjectId

if TYPE_CHECKING:
    from ledgerd.state.view import View


class AccountRecord(msgspec.Struct, gc=False):
    """An account with its authorities, metadata and votes."""

    id: ObjectId
    name: AccountName
    master_authority: Authority
    active_authority: Authority
    regular_authority: Authority
    memo_key: PublicKey
    json_metadata: str
    proxy: AccountName
    referrer: AccountName
    last_master_update: Time
    last_account_update: Time
    created: Time
    recovery_account: AccountName
    last_account_recovery: Time
    subcontent_count: UInt32
    vote_count: UInt32
    content_count: UInt32
    awarded_rshares: UInt64
    custom_sequence: UInt64
    custom_sequence_block_num: UInt64
    energy: Int16
    """At `last_vote_time`; what has regenerated since is not included."""
    last_vote_time: Time
    balance: Tokens
    vesting_shares: Shares
    delegated_vesting_shares: Shares
    received_vesting_shares: Shares
    vesting_withdraw_rate: Shares
    next_vesting_withdrawal: Time
    withdrawn: ShareAmount
    to_withdraw: ShareAmount
    withdraw_routes: UInt16
    curation_rewards: ShareAmount
    posting_rewards: ShareAmount
    receiver_awards: ShareAmount
    benefactor_awards: ShareAmount
    proxied_vsf_votes: Annotated[tuple[ShareAmount, ...], array_of(PROXY_DEPTH)]
    validators_voted_for: UInt16
    validators_vote_weight: ShareAmount
    last_post: Time
    last_root_post: Time
    average_bandwidth: ShareAmount
    lifetime_bandwidth: ShareAmount
    last_bandwidth_update: Time
    validator_votes: tuple[str, ...]
    valid: bool
    account_seller: AccountName
    account_offer_price: Tokens
    account_on_sale: bool
    account_on_sale_start_time: Time
    subaccount_seller: AccountName
    subaccount_offer_price: Tokens
    subaccount_on_sale: bool
    reserved_balance: Tokens
    target_buyer: AccountName
    account_on_auction: bool
    current_bid: Tokens
    current_bidder: AccountName
    current_bidder_key: PublicKey
    last_bid: Tokens
    pm_liquidity_committed: Tokens
    pm_bets_staked: Tokens
    pm_leverage_collateral: Tokens


AccountText = Annotated[str, Printed(AccountRecord)]
"""The JSON text of an account record. It is joined from the cached texts of its rows, without an object for the
record.
"""

_AUTHORITY_FIELDS = {
    "master_authority": "master",
    "active_authority": "active",
    "regular_authority": "regular",
    "last_master_update": "last_master_update",
}
"""The fields that come from the row of the authorities, and their names there."""

_FIELDS_OF_OTHERS = {*_AUTHORITY_FIELDS, "json_metadata", "validator_votes"}

TextPieces = tuple[str, ...]


def _runs(names: Callable[[str], bool]) -> list[list[str]]:
    """Runs of neighbouring fields that satisfy a condition, in the order of the record."""
    runs: list[list[str]] = []
    for is_one, run in groupby(AccountRecord.__struct_fields__, key=names):
        if is_one:
            runs.append(list(run))
    return runs


def _printers(runs: list[list[str]]) -> list[Callable[[Any], str]]:
    """For each run of fields, the function that prints them from their row."""
    fields = {field.name: field for field in record_kind(AccountRecord).fields}
    renamed = {name: field._replace(attribute=_AUTHORITY_FIELDS.get(name, name)) for name, field in fields.items()}
    return [RecordKind(AccountRecord, partial(list, map(renamed.__getitem__, run))).printer for run in runs]


@cache
def _account_printers() -> list[Callable[[Account], str]]:
    return _printers(_runs(lambda name: name not in _FIELDS_OF_OTHERS))


@cache
def _authority_printers() -> list[Callable[[AccountAuthority], str]]:
    return _printers(_runs(_AUTHORITY_FIELDS.__contains__))


class _PrintedAccount(NamedTuple):
    """A row of an account as pieces of text, between which the texts of other rows are inserted."""

    id: int
    votes: int
    pieces: TextPieces


def _print_account(account: Account) -> _PrintedAccount:
    pieces = tuple(printer(account)[1:-1] for printer in _account_printers())
    return _PrintedAccount(account.id, account.validators_voted_for, pieces)


def _print_authority(authority: AccountAuthority) -> TextPieces:
    return tuple(printer(authority)[1:-1] for printer in _authority_printers())


def _print_metadata(metadata: AccountMetadata) -> str:
    return quote(metadata.json_metadata)


def account_text(state: View, name: AccountName, *, with_votes: bool = True) -> str | None:
    """The text of an account record; votes are included only where the reference includes them."""
    printed = state.derived(_print_account, ACCOUNT_BY_NAME, name)
    return None if printed is None else _joined(state, name, printed, with_votes=with_votes)


def changed_account_text(state: View, account: Account) -> str:
    """The text of an account that was changed for this answer only."""
    return _joined(state, account.name, _print_account(account), with_votes=True)


def _joined(state: View, name: AccountName, printed: _PrintedAccount, *, with_votes: bool) -> str:
    authority = state.derived(_print_authority, AUTHORITY_BY_ACCOUNT, name)
    metadata = state.derived(_print_metadata, METADATA_BY_ACCOUNT, name)
    if authority is None or metadata is None:
        raise UnknownKey
    # An account whose count of votes is 0 has none (see `chain.offline.invariants`).
    votes = _votes_of(state, printed.id) if with_votes and printed.votes else ""
    head, key, relations, activity, market = printed.pieces
    signers, master_update = authority
    return (
        f'{{{head},{signers},{key},"json_metadata":{metadata},{relations},{master_update},{activity},'
        f'"validator_votes":[{votes}],{market}}}'
    )


def _votes_of(state: View, account: int) -> str:
    """The names of the validators that an account votes for itself, in the order of text."""
    votes = state.scan(VALIDATOR_VOTE_BY_ACCOUNT, lower=(account,), upper=(account,))
    names = sorted((state.get(VALIDATORS, vote.validator).owner for vote in votes), key=text_order)
    return ",".join(map(quote, names))
