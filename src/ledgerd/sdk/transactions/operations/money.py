"""Operations of money as methods: generated from their declarations by `make docs`; not edited by hand."""

# ruff: noqa: PLR0913 - an operation has as many parameters as it has fields, under their names

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.sdk.transactions.operations.parameters import (
    OperationMethods,
    PointInTime,
    SharesAmount,
    SomeKey,
    VizAmount,
)


class MoneyOperations(OperationMethods):
    """Adds operations of money."""

    def award(
        self,
        initiator: str,
        receiver: str,
        energy: int,
        *,
        custom_sequence: int = 0,
        memo: str = "",
        beneficiaries: Iterable[Beneficiary] = (),
    ) -> Self:
        """Awards an account with the worth of a percentage of the initiator's energy."""
        return self._make("award", initiator, receiver, energy, custom_sequence, memo, beneficiaries)

    def fixed_award(
        self,
        initiator: str,
        receiver: str,
        reward_amount: VizAmount,
        max_energy: int,
        *,
        custom_sequence: int = 0,
        memo: str = "",
        beneficiaries: Iterable[Beneficiary] = (),
    ) -> Self:
        """Awards an account with a set amount, for as much energy as it takes."""
        return self._make(
            "fixed_award", initiator, receiver, reward_amount, max_energy, custom_sequence, memo, beneficiaries
        )

    def committee_worker_create_request(
        self,
        *,
        creator: str,
        url: str,
        worker: str,
        required_amount_min: VizAmount,
        required_amount_max: VizAmount,
        duration: int,
    ) -> Self:
        """Asks the committee fund to pay a worker between two amounts, as far as voters agree."""
        return self._make(
            "committee_worker_create_request", creator, url, worker, required_amount_min, required_amount_max, duration
        )

    def committee_worker_cancel_request(self, creator: str, request_id: int) -> Self:
        """Takes a request back."""
        return self._make("committee_worker_cancel_request", creator, request_id)

    def committee_vote_request(self, voter: str, request_id: int, vote_percent: int) -> Self:
        """Votes on a request: how much of the largest amount it should get, below zero against it."""
        return self._make("committee_vote_request", voter, request_id, vote_percent)

    def escrow_transfer(
        self,
        *,
        sender: str,
        recipient: str,
        token_amount: VizAmount,
        agent: str,
        fee: VizAmount,
        ratification_deadline: PointInTime,
        escrow_expiration: PointInTime,
        escrow_id: int = 30,
        json_metadata: str = "",
    ) -> Self:
        """Puts tokens, and the agent's fee, aside until recipient and agent agree."""
        return self._make(
            "escrow_transfer",
            sender,
            recipient,
            token_amount,
            escrow_id,
            agent,
            fee,
            json_metadata,
            ratification_deadline,
            escrow_expiration,
        )

    def escrow_dispute(self, sender: str, recipient: str, agent: str, who: str, *, escrow_id: int = 30) -> Self:
        """Leaves the decision to the agent."""
        return self._make("escrow_dispute", sender, recipient, agent, who, escrow_id)

    def escrow_release(
        self,
        *,
        sender: str,
        recipient: str,
        agent: str,
        who: str,
        receiver: str,
        token_amount: VizAmount,
        escrow_id: int = 30,
    ) -> Self:
        """Pays tokens out of an escrow, to the recipient or back to the sender."""
        return self._make("escrow_release", sender, recipient, agent, who, receiver, escrow_id, token_amount)

    def escrow_approve(
        self, sender: str, recipient: str, agent: str, who: str, *, escrow_id: int = 30, approve: bool = True
    ) -> Self:
        """Agrees to an escrow, or refuses it."""
        return self._make("escrow_approve", sender, recipient, agent, who, escrow_id, approve)

    def create_invite(self, creator: str, balance: VizAmount, invite_key: SomeKey) -> Self:
        """Creates an invite: tokens that the secret of a key can claim."""
        return self._make("create_invite", creator, balance, invite_key)

    def claim_invite_balance(self, initiator: str, receiver: str, invite_secret: str) -> Self:
        """Pays the tokens of an invite out."""
        return self._make("claim_invite_balance", initiator, receiver, invite_secret)

    def invite_registration(
        self, initiator: str, new_account_name: str, invite_secret: str, new_account_key: SomeKey
    ) -> Self:
        """Creates an account, whose shares are the tokens of an invite."""
        return self._make("invite_registration", initiator, new_account_name, invite_secret, new_account_key)

    def use_invite_balance(self, initiator: str, receiver: str, invite_secret: str) -> Self:
        """Turns the tokens of an invite into shares."""
        return self._make("use_invite_balance", initiator, receiver, invite_secret)

    def set_paid_subscription(self, account: str, url: str, levels: int, amount: VizAmount, period: int) -> Self:
        """Offers a subscription of some levels at a price per level and period."""
        return self._make("set_paid_subscription", account, url, levels, amount, period)

    def paid_subscribe(
        self, subscriber: str, account: str, level: int, amount: VizAmount, period: int, *, auto_renewal: bool = True
    ) -> Self:
        """Takes an offer at some level."""
        return self._make("paid_subscribe", subscriber, account, level, amount, period, auto_renewal)

    def transfer(self, sender: str, recipient: str, amount: VizAmount, *, memo: str = "") -> Self:
        """Moves tokens from one account to another."""
        return self._make("transfer", sender, recipient, amount, memo)

    def transfer_to_vesting(self, sender: str, recipient: str, amount: VizAmount) -> Self:
        """Turns tokens into shares, one's own or another's."""
        return self._make("transfer_to_vesting", sender, recipient, amount)

    def withdraw_vesting(self, account: str, vesting_shares: SharesAmount) -> Self:
        """Starts to turn shares back into tokens, or stops it with zero."""
        return self._make("withdraw_vesting", account, vesting_shares)

    def set_withdraw_vesting_route(self, from_account: str, to_account: str, percent: int, *, auto_vest: bool) -> Self:
        """Sends a part of what is withdrawn to another account, as tokens or as shares again."""
        return self._make("set_withdraw_vesting_route", from_account, to_account, percent, auto_vest)

    def delegate_vesting_shares(self, delegator: str, delegatee: str, vesting_shares: SharesAmount) -> Self:
        """Lends shares to another account, or takes them back."""
        return self._make("delegate_vesting_shares", delegator, delegatee, vesting_shares)
