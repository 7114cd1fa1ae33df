"""An account as the APIs show it: its row, its authorities, its metadata, its votes (spec 05, section 8.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from ledgerd.codec import array_of
from ledgerd.codec.numbers import Int16, ShareAmount, UInt16, UInt32, UInt64
from ledgerd.protocol.amounts import Shares, Tokens
from ledgerd.protocol.authority import Authority
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName, text_order
from ledgerd.protocol.times import Time
from ledgerd.state.objects.accounts import AUTHORITY_BY_ACCOUNT, METADATA_BY_ACCOUNT, Account
from ledgerd.state.objects.arrays import PROXY_DEPTH
from ledgerd.state.objects.validators import VALIDATOR_VOTE_BY_ACCOUNT, VALIDATORS
from ledgerd.state.tables import ObjectId

if TYPE_CHECKING:
    from ledgerd.state.view import View


class AccountRecord(msgspec.Struct, gc=False):
    """All about an account."""

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
    """As it was stored last; what has come back since is not in it."""
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


def account_record(state: View, account: Account, votes: tuple[str, ...] = ()) -> AccountRecord:
    """The record of an account; whom it votes for is shown where the reference shows it."""
    authority = state.at(AUTHORITY_BY_ACCOUNT, account.name)
    metadata = state.at(METADATA_BY_ACCOUNT, account.name)
    return AccountRecord(
        account.id,
        account.name,
        authority.master,
        authority.active,
        authority.regular,
        account.memo_key,
        metadata.json_metadata,
        account.proxy,
        account.referrer,
        authority.last_master_update,
        account.last_account_update,
        account.created,
        account.recovery_account,
        account.last_account_recovery,
        account.subcontent_count,
        account.vote_count,
        account.content_count,
        account.awarded_rshares,
        account.custom_sequence,
        account.custom_sequence_block_num,
        account.energy,
        account.last_vote_time,
        account.balance,
        account.vesting_shares,
        account.delegated_vesting_shares,
        account.received_vesting_shares,
        account.vesting_withdraw_rate,
        account.next_vesting_withdrawal,
        account.withdrawn,
        account.to_withdraw,
        account.withdraw_routes,
        account.curation_rewards,
        account.posting_rewards,
        account.receiver_awards,
        account.benefactor_awards,
        account.proxied_vsf_votes,
        account.validators_voted_for,
        account.validators_vote_weight,
        account.last_post,
        account.last_root_post,
        account.average_bandwidth,
        account.lifetime_bandwidth,
        account.last_bandwidth_update,
        votes,
        account.valid,
        account.account_seller,
        account.account_offer_price,
        account.account_on_sale,
        account.account_on_sale_start_time,
        account.subaccount_seller,
        account.subaccount_offer_price,
        account.subaccount_on_sale,
        account.reserved_balance,
        account.target_buyer,
        account.account_on_auction,
        account.current_bid,
        account.current_bidder,
        account.current_bidder_key,
        account.last_bid,
    )


def votes_of(state: View, account: Account) -> tuple[str, ...]:
    """The names of the validators that an account votes for itself, in the order of text."""
    votes = state.scan(VALIDATOR_VOTE_BY_ACCOUNT, lower=(account.id,), upper=(account.id,))
    return tuple(sorted((state.get(VALIDATORS, vote.validator).owner for vote in votes), key=text_order))
