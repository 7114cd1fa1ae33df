"""The record of an account in answers: account, authorities, metadata and votes (spec 05, section 8.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Annotated, NamedTuple

from ledgerd.chain.log.histories import PastAccount
from ledgerd.codec import array_of, record_kind
from ledgerd.codec.json.text import quote
from ledgerd.codec.kinds import Reading
from ledgerd.codec.partial import Pieces, pieces_of
from ledgerd.codec.types.numbers import ShareAmount
from ledgerd.codec.types.records import RecordKind
from ledgerd.protocol.types.arrays import PROXY_DEPTH
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName, text_order
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.shared.kinds import Printed, answer_record
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.accounts import accounts
from ledgerd.state.objects.validators import VALIDATOR_VOTE_BY_ACCOUNT, VALIDATORS, voted_validator
from ledgerd.state.views.view import View

_ORDER = """
    id name master_authority active_authority regular_authority memo_key json_metadata proxy referrer last_master_update
    last_account_update created recovery_account last_account_recovery subcontent_count vote_count content_count
    awarded_rshares custom_sequence custom_sequence_block_num energy last_vote_time balance vesting_shares
    delegated_vesting_shares received_vesting_shares vesting_withdraw_rate next_vesting_withdrawal withdrawn to_withdraw
    withdraw_routes curation_rewards posting_rewards receiver_awards benefactor_awards proxied_vsf_votes
    validators_voted_for validators_vote_weight last_post last_root_post average_bandwidth lifetime_bandwidth
    last_bandwidth_update validator_votes valid account_seller account_offer_price account_on_sale
    account_on_sale_start_time subaccount_seller subaccount_offer_price subaccount_on_sale reserved_balance target_buyer
    account_on_auction current_bid current_bidder current_bidder_key last_bid pm_liquidity_committed pm_bets_staked
    pm_leverage_collateral
"""

AccountRecord = answer_record(
    "AccountRecord",
    "An account with its authorities, metadata and votes.",
    _ORDER.split(),
    accounts.Account,
    master_authority=Authority,
    active_authority=Authority,
    regular_authority=Authority,
    json_metadata=str,
    last_master_update=Time,
    proxied_vsf_votes=Annotated[tuple[ShareAmount, ...], array_of(PROXY_DEPTH)],
    validator_votes=tuple[str, ...],
)
"""The energy is that at `last_vote_time`; what has regenerated since is not included."""

AccountText = Annotated[str, Printed(AccountRecord)]
"""JSON text, joined from the cached texts of the rows without an object for the record."""

_AUTHORITY_FIELDS = {
    "master_authority": "master",
    "active_authority": "active",
    "regular_authority": "regular",
    "last_master_update": "last_master_update",
}

_owner = attrgetter("owner")

_FIELDS_OF_OTHERS = {*_AUTHORITY_FIELDS, "json_metadata", "validator_votes"}


def _runs(names: Callable[[str], bool]) -> list[list[str]]:
    runs: list[list[str]] = []
    for is_one, run in groupby(AccountRecord.__struct_fields__, key=names):
        if is_one:
            runs.append(list(run))
    return runs


class _PrintedAccount(NamedTuple):
    """A row of an account as pieces of text, between which the texts of other rows are inserted."""

    id: int
    votes: int
    name: str
    head: str
    key: str
    relations: str
    activity: str
    market: str


def _printed_as_answered(row: RecordKind) -> RecordKind:
    """The same bytes as the row, with the texts that the answer has: a snapshot prints some fields otherwise."""
    answered = {field.attribute: field.kind for field in record_kind(AccountRecord).fields}
    fields = [field._replace(kind=answered.get(field.attribute, field.kind)) for field in row.fields]
    return RecordKind(row.record, lambda: fields)


@cache
def _account_pieces() -> Pieces:
    runs = _runs(lambda name: name not in _FIELDS_OF_OTHERS)
    return pieces_of(
        _printed_as_answered(record_kind(accounts.Account)),
        ("id", "validators_voted_for"),
        [{"name": "name"}, *({name: name for name in run} for run in runs)],
        usually_empty=(("withdrawn", "proxied_vsf_votes"), ("account_seller", "pm_leverage_collateral")),
    )


@cache
def _authority_pieces() -> Pieces:
    runs = [{_AUTHORITY_FIELDS[name]: name for name in run} for run in _runs(_AUTHORITY_FIELDS.__contains__)]
    return pieces_of(record_kind(accounts.AccountAuthority), (), [{"account": "name"}, *runs])


@cache
def _metadata_pieces() -> Pieces:
    return pieces_of(
        record_kind(accounts.AccountMetadata), (), [{"account": "name"}, {"json_metadata": "json_metadata"}]
    )


def _print_account(packed: bytes) -> _PrintedAccount:
    return _PrintedAccount(*_account_pieces()(packed, 0, Reading()))


def _print_authority(packed: bytes) -> tuple[str, str, str]:
    owner, signers, update = _authority_pieces()(packed, 0, Reading())
    return owner, signers, update


def _print_metadata(packed: bytes) -> tuple[str, str]:
    owner, text = _metadata_pieces()(packed, 0, Reading())
    return owner, text


def account_text(state: View, name: AccountName, *, with_votes: bool = True) -> str | None:
    """The text of an account record; votes are included only where the reference includes them."""
    printed = state.derived_from_bytes(_print_account, accounts.ACCOUNT_BY_NAME, name)
    return None if printed is None else _joined(state, name, printed, with_votes=with_votes)


def changed_account_text(state: View, account: accounts.Account) -> str:
    return _joined(state, account.name, _print_account(accounts.ACCOUNTS.codec.encode(account)), with_votes=True)


def _joined(state: View, name: AccountName, printed: _PrintedAccount, *, with_votes: bool) -> str:
    # The rows of an account are made together, so their ids are the same, unless a snapshot says otherwise: two
    # searches by name are spared.
    authority = state.derived_from_bytes(_print_authority, accounts.ACCOUNT_AUTHORITIES.by_id, printed.id)
    if authority is None or authority[0] != printed.name:
        authority = state.derived_from_bytes(_print_authority, accounts.AUTHORITY_BY_ACCOUNT, name)
    metadata = state.derived_from_bytes(_print_metadata, accounts.ACCOUNT_METADATA.by_id, printed.id)
    if metadata is None or metadata[0] != printed.name:
        metadata = state.derived_from_bytes(_print_metadata, accounts.METADATA_BY_ACCOUNT, name)
    if authority is None or metadata is None:
        raise UnknownKey
    # An account whose count of votes is 0 has none (see `chain.offline.invariants`).
    votes = _votes_of(state, printed.id) if with_votes and printed.votes else ""
    return _record_text(printed, authority, metadata, votes)


def _record_text(
    printed: _PrintedAccount, authority: tuple[str, str, str], metadata: tuple[str, str], votes: str
) -> str:
    _, signers, master_update = authority
    return (
        f"{{{printed.head},{signers},{printed.key},{metadata[1]},{printed.relations},{master_update},{printed.activity},"
        f'"validator_votes":[{votes}],{printed.market}}}'
    )


def past_account_text(past: PastAccount) -> str:
    printed = _print_account(past.account)
    votes = _quoted(past.votes) if printed.votes else ""
    return _record_text(printed, _print_authority(past.authority), _print_metadata(past.metadata), votes)


def _quoted(names: Iterable[AccountName]) -> str:
    return ",".join(map(quote, sorted(names, key=text_order)))


def _votes_of(state: View, account: int) -> str:
    voted = state.peek_all(VALIDATOR_VOTE_BY_ACCOUNT, voted_validator, lower=(account,), upper=(account,))
    names = [name for name in state.derived_all(_owner, VALIDATORS.by_id, list(voted)) if name is not None]
    return _quoted(names)
