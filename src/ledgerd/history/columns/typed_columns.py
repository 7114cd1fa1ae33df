"""The columns that are made of the fields of operations: who acts, from whom, to whom, how much, and the memo."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache, lru_cache
from operator import attrgetter
from typing import NamedTuple

from ledgerd.codec import record_kind
from ledgerd.codec.errors import CodecError
from ledgerd.history.columns.texts import mended, mended_json, name_text
from ledgerd.history.directions import GIVERS
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import (
    Operation,
    account_market,
    accounts,
    awards,
    bets,
    content,
    disputes,
    escrow,
    invites,
    paid_subscriptions,
    transfers,
    validators,
    virtual,
    virtual_markets,
)
from ledgerd.protocol.operations.committee import CommitteeVoteRequest

_FROM_TO = ("sender", "recipient")
_FROM_TO_ACCOUNT = ("from_account", "to_account")

PARTIES: dict[type[Operation], tuple[str, str]] = {
    transfers.Transfer: _FROM_TO,
    transfers.TransferToVesting: _FROM_TO,
    transfers.SetWithdrawVestingRoute: _FROM_TO_ACCOUNT,
    transfers.DelegateVestingShares: ("delegator", "delegatee"),
    accounts.AccountCreate: ("creator", "new_account_name"),
    awards.Award: ("initiator", "receiver"),
    awards.FixedAward: ("initiator", "receiver"),
    escrow.EscrowTransfer: _FROM_TO,
    escrow.EscrowApprove: _FROM_TO,
    escrow.EscrowDispute: _FROM_TO,
    escrow.EscrowRelease: ("sender", "receiver"),
    invites.ClaimInviteBalance: ("initiator", "receiver"),
    invites.UseInviteBalance: ("initiator", "receiver"),
    invites.InviteRegistration: ("initiator", "new_account_name"),
    paid_subscriptions.PaidSubscribe: ("subscriber", "account"),
    account_market.TargetAccountSale: ("account_seller", "target_buyer"),
    bets.PmTransferPosition: _FROM_TO,
    virtual.AuthorReward: ("", "author"),
    virtual.CurationReward: ("", "curator"),
    virtual.ContentBenefactorReward: ("author", "benefactor"),
    virtual.FillVestingWithdraw: _FROM_TO_ACCOUNT,
    virtual.ReturnVestingDelegation: ("", "account"),
    virtual.CommitteePayRequest: ("", "worker"),
    virtual.ValidatorReward: ("", "validator"),
    virtual.StakeholderReward: ("validator", "stakeholder"),
    virtual.ReceiveAward: ("initiator", "receiver"),
    virtual.BenefactorAward: ("initiator", "benefactor"),
    virtual.PaidSubscriptionAction: ("subscriber", "account"),
    virtual.AccountSale: ("buyer", "seller"),
    virtual.ExpireEscrowRatification: _FROM_TO,
    virtual_markets.PmAutoPayout: ("", "account"),
    virtual_markets.PmPayout: ("", "account"),
    virtual_markets.PmEarlyExitClaimPaid: ("", "account"),
}
"""The fields of who gives and who gets."""

AMOUNTS: dict[type[Operation], str] = {
    virtual.FillVestingWithdraw: "deposited",
    virtual_markets.PmPayout: "payout",
    virtual_markets.PmEarlyExitClaimPaid: "paid",
}
"""The field of the amount, where that is not the first one."""


class TypedColumns(NamedTuple):
    """The columns of one operation that are made from its fields."""

    who: str | None
    sender: str | None
    recipient: str | None
    amount: Decimal | None
    symbol: str | None
    memo: str | None
    body: str
    is_mended: bool


class _Shape(NamedTuple):
    """Which fields of a kind of operation go into which columns."""

    who: Callable[[Operation], AccountName | None]
    sender: Callable[[Operation], str] | None
    recipient: Callable[[Operation], str] | None
    amount: Callable[[Operation], Asset | None] | None
    memo: Callable[[Operation], str] | None


@cache
def _shape_of(kind: type[Operation]) -> _Shape:
    assets = [name for name, text in kind.__annotations__.items() if str(text).startswith("Asset")]
    sender, recipient = PARTIES.get(kind, ("", ""))
    amount = AMOUNTS.get(kind, assets[0] if assets else "")
    giver = GIVERS.get(kind)
    who = attrgetter(giver) if giver else _nobody if kind.VIRTUAL else _first_who_agrees
    memo = "memo" if "memo" in kind.__annotations__ else ""
    return _Shape(who, *(attrgetter(field) if field else None for field in (sender, recipient, amount, memo)))


def _nobody(_operation: Operation) -> None:
    pass


def _first_who_agrees(operation: Operation) -> AccountName | None:
    asked = operation.authorities()
    return next((name for names in (asked.active, asked.master, asked.regular) for name in names), None)


def typed_columns(operation: Operation) -> TypedColumns:
    """The columns of an operation. What cannot be printed as JSON is null in `body`."""
    shape, kind = _shape_of(type(operation)), record_kind(type(operation))
    try:
        body, is_mended = mended_json(kind.printer(operation))
    except CodecError:
        body, is_mended = "null", True
    memo, odd_memo = (None, False) if shape.memo is None else mended(shape.memo(operation))
    asset = None if shape.amount is None else shape.amount(operation)
    amount, symbol = (None, None) if asset is None else amount_of(asset)
    return TypedColumns(
        _name(shape.who(operation)),
        None if shape.sender is None else _name(shape.sender(operation)),
        None if shape.recipient is None else _name(shape.recipient(operation)),
        amount,
        symbol,
        memo,
        body,
        is_mended or odd_memo,
    )


def _name(name: str | None) -> str | None:
    return name_text(name) if name else None


def amount_of(asset: Asset) -> tuple[Decimal, str]:
    """An amount in whole units with its decimals, and the symbol."""
    exponent, symbol = _symbol(asset.symbol)
    return Decimal(asset.amount).scaleb(exponent), symbol


def units_of(amount: Decimal, symbol: int) -> int:
    """The amount in the smallest unit of a symbol."""
    return int(amount.scaleb(-_symbol(symbol)[0]))


@lru_cache(256)
def _symbol(symbol: int) -> tuple[int, str]:
    raw = symbol.to_bytes(8, "little")
    return -raw[0], mended(raw[1:].partition(b"\0")[0].decode("utf-8", "surrogateescape"))[0]


class CastVote(NamedTuple):
    """A vote of an account."""

    voter: str
    kind: str
    target: str
    weight: int


def vote_of(operation: Operation) -> CastVote | None:
    """The vote that an operation is, if it is one."""
    match operation:
        case content.Vote(voter=voter, author=author, permlink=permlink, weight=weight):
            return CastVote(name_text(voter), "content", f"{name_text(author)}/{mended(permlink)[0]}", weight)
        case validators.AccountValidatorVote(account=voter, validator=validator, approve=approve):
            return CastVote(name_text(voter), "validator", name_text(validator), int(approve))
        case validators.AccountValidatorProxy(account=voter, proxy=proxy):
            return CastVote(name_text(voter), "proxy", name_text(proxy), int(bool(proxy)))
        case CommitteeVoteRequest(voter=voter, request_id=request, vote_percent=percent):
            return CastVote(name_text(voter), "committee", str(request), percent)
        case disputes.PmDisputeVote(voter=voter, market_id=market, vote_percent=percent):
            return CastVote(name_text(voter), "dispute", str(market), percent)
    return None
