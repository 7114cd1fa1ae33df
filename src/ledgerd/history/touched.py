"""The accounts that an operation touches, whose histories have it (spec 05, section 13.1; spec 07, section 13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import (
    OPERATIONS,
    Operation,
    account_market,
    accounts,
    bets,
    content,
    disputes,
    escrow,
    invites,
    markets,
    oracles,
    paid_subscriptions,
    proposals,
    recovery,
    transfers,
    validators,
    virtual,
    virtual_markets,
)

AccountNames = Iterable[AccountName]

FIELDS: dict[type[Operation], tuple[str, ...]] = {
    accounts.AccountCreate: ("new_account_name", "creator"),
    accounts.AccountUpdate: ("account",),
    accounts.AccountMetadata: ("account",),
    content.DeleteContent: ("author",),
    content.Vote: ("voter", "author"),
    transfers.Transfer: ("sender", "recipient"),
    transfers.WithdrawVesting: ("account",),
    transfers.DelegateVestingShares: ("delegator", "delegatee"),
    validators.ValidatorUpdate: ("owner",),
    validators.AccountValidatorVote: ("account", "validator"),
    validators.AccountValidatorProxy: ("account", "proxy"),
    recovery.RequestAccountRecovery: ("account_to_recover",),
    recovery.RecoverAccount: ("account_to_recover",),
    recovery.ChangeRecoveryAccount: ("account_to_recover",),
    escrow.EscrowTransfer: ("sender", "recipient", "agent"),
    escrow.EscrowApprove: ("sender", "recipient", "agent"),
    escrow.EscrowDispute: ("sender", "recipient", "agent"),
    escrow.EscrowRelease: ("sender", "recipient", "agent"),
    proposals.ProposalCreate: ("author",),
    proposals.ProposalDelete: ("requester",),
    paid_subscriptions.SetPaidSubscription: ("account",),
    paid_subscriptions.PaidSubscribe: ("subscriber",),
    account_market.SetAccountPrice: ("account", "account_seller"),
    account_market.TargetAccountSale: ("account", "account_seller", "target_buyer"),
    account_market.SetSubaccountPrice: ("account", "subaccount_seller"),
    account_market.BuyAccount: ("account", "buyer"),
    invites.CreateInvite: ("creator",),
    invites.ClaimInviteBalance: ("receiver",),
    invites.UseInviteBalance: ("receiver",),
    invites.InviteRegistration: ("new_account_name",),
    virtual.AuthorReward: ("author",),
    virtual.CurationReward: ("curator",),
    virtual.FillVestingWithdraw: ("from_account", "to_account"),
    virtual.ShutdownValidator: ("owner",),
    virtual.ContentBenefactorReward: ("benefactor", "author"),
    virtual.ReturnVestingDelegation: ("account",),
    virtual.CommitteePayRequest: ("worker",),
    virtual.ValidatorReward: ("validator",),
    virtual.ReceiveAward: ("receiver",),
    virtual.BenefactorAward: ("benefactor",),
    virtual.PaidSubscriptionAction: ("subscriber", "account"),
    virtual.CancelPaidSubscription: ("subscriber", "account"),
    virtual.AccountSale: ("buyer", "seller", "account"),
    virtual.ExpireEscrowRatification: ("sender", "recipient", "agent"),
    virtual.Bid: ("account", "bidder"),
    virtual.Outbid: ("account", "bidder"),
    virtual.StakeholderReward: ("validator", "stakeholder"),
    bets.PmTransferPosition: ("sender", "recipient"),
    disputes.PmUnban: ("resolver", "target"),
    virtual_markets.PmCommitForfeit: ("account",),
    virtual_markets.PmAutoPayout: ("account",),
    virtual_markets.PmDisputeFinalize: ("oracle",),
    virtual_markets.PmDisputeAutoClose: ("oracle",),
    virtual_markets.PmOracleMissedPenalty: ("oracle",),
    virtual_markets.PmLeverageLiquidate: ("account",),
    virtual_markets.PmLeverageResolve: ("account",),
    virtual_markets.PmMarketAccepted: ("oracle", "creator"),
    virtual_markets.PmPayout: ("account",),
    virtual_markets.PmBanExpired: ("account",),
    virtual_markets.PmMarketExpired: ("oracle", "creator"),
    virtual_markets.PmDisputeOpened: ("oracle", "disputer"),
    virtual_markets.PmEarlyExitClaimPaid: ("account",),
}
"""Operations that touch the accounts of these fields, empty names included."""

FIELDS_THAT_NAME_SOMEBODY: dict[type[Operation], tuple[str, ...]] = {
    oracles.PmOracleRegister: ("owner", "auto_accept_creator", "auto_accept_resolver"),
    markets.PmCreateMarket: ("creator", "oracle", "dispute_resolver"),
    virtual_markets.PmLpPayout: ("account",),
}
"""Operations that touch the accounts of these fields, but for empty names (spec 07, section 13)."""


def _of_content(operation: content.Content) -> AccountNames:
    return (operation.author, operation.parent_author) if operation.parent_author else (operation.author,)


def _of_transfer_to_vesting(operation: transfers.TransferToVesting) -> AccountNames:
    return (operation.sender, operation.recipient) if operation.recipient else (operation.sender,)


def _of_proposal_update(operation: proposals.ProposalUpdate) -> AccountNames:
    return (
        *operation.active_approvals_to_add,
        *operation.active_approvals_to_remove,
        *operation.master_approvals_to_add,
        *operation.master_approvals_to_remove,
        *operation.regular_approvals_to_add,
        *operation.regular_approvals_to_remove,
    )


def _of_any_other(operation: Operation) -> AccountNames:
    """The accounts whose authority it requires."""
    asked = operation.authorities()
    return (*asked.active, *asked.master, *asked.regular)


def _of_fields(fields: tuple[str, ...]) -> Callable[..., AccountNames]:
    return lambda operation: [getattr(operation, field) for field in fields]


def _of_named_fields(fields: tuple[str, ...]) -> Callable[..., AccountNames]:
    return lambda operation: [name for field in fields if (name := getattr(operation, field))]


_RULES: dict[type[Operation], Callable[..., AccountNames]] = {
    **dict.fromkeys(OPERATIONS, _of_any_other),
    **{kind: _of_fields(fields) for kind, fields in FIELDS.items()},
    **{kind: _of_named_fields(fields) for kind, fields in FIELDS_THAT_NAME_SOMEBODY.items()},
    content.Content: _of_content,
    transfers.TransferToVesting: _of_transfer_to_vesting,
    proposals.ProposalUpdate: _of_proposal_update,
}


def touched(operation: Operation) -> Collection[AccountName]:
    """The accounts that an operation touches, each once."""
    return dict.fromkeys(_RULES[type(operation)](operation))
