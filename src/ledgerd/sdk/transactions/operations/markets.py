"""Operations of markets as methods: generated from their declarations by `make docs`; not edited by hand."""

# ruff: noqa: PLR0913 - an operation has as many parameters as it has fields, under their names

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ledgerd.sdk.transactions.operations.parameters import OperationMethods, PointInTime, VizAmount


class MarketOperations(OperationMethods):
    """Adds operations of markets."""

    def pm_place_bet(
        self,
        account: str,
        market_id: int,
        amount: VizAmount,
        *,
        side: int = -1,
        outcome_index: int = -1,
        min_tokens: int = 0,
        mode: int = 0,
    ) -> Self:
        """Bets on an outcome, at once or in the batch of this epoch."""
        return self._make("pm_place_bet", account, market_id, side, outcome_index, amount, min_tokens, mode)

    def pm_cancel_bet(self, account: str, bet_id: int, *, min_return: int = 0) -> Self:
        """Takes a bet back for what the market gives for it now, but not for less than asked."""
        return self._make("pm_cancel_bet", account, bet_id, min_return)

    def pm_transfer_position(self, sender: str, bet_id: int, recipient: str, amount: int, *, memo: str = "") -> Self:
        """Transfers a bet, or a part of it, to another account; no amount means all of it."""
        return self._make("pm_transfer_position", sender, bet_id, recipient, amount, memo)

    def pm_commit_bet(
        self,
        account: str,
        market_id: int,
        commitment: bytes | str,
        escrow_amount: VizAmount,
        no_reveal_fee_percent: int,
    ) -> Self:
        """Puts tokens aside for a bet of which only the hash is public."""
        return self._make("pm_commit_bet", account, market_id, commitment, escrow_amount, no_reveal_fee_percent)

    def pm_reveal_bet(
        self,
        account: str,
        commit_id: int,
        amount: VizAmount,
        salt: str,
        *,
        side: int = -1,
        outcome_index: int = -1,
        min_tokens: int = 0,
    ) -> Self:
        """Reveals a hidden bet: the chain compares its hash, and the bet joins the batch."""
        return self._make("pm_reveal_bet", account, commit_id, side, outcome_index, amount, salt, min_tokens)

    def pm_dispute_create(self, disputer: str, market_id: int, reason: str, *, proposed_outcome: int = -1) -> Self:
        """Disputes an oracle's decision and names the right outcome; `-1` means that the market cannot be
        decided.
        """
        return self._make("pm_dispute_create", disputer, market_id, proposed_outcome, reason)

    def pm_dispute_vote(self, voter: str, market_id: int, vote_percent: int, *, vote_outcome: int = -1) -> Self:
        """Votes on a dispute: how much for an outcome, below zero against it."""
        return self._make("pm_dispute_vote", voter, market_id, vote_outcome, vote_percent)

    def pm_dispute_resolve(
        self,
        resolver: str,
        market_id: int,
        penalty_amount: VizAmount,
        *,
        correct_outcome: int = -1,
        ban_oracle: bool,
        ban_oracle_until: PointInTime = 0,
        ban_creator: bool,
        ban_creator_until: PointInTime = 0,
    ) -> Self:
        """The account that a market names for it decides a dispute, with a penalty and with bans."""
        return self._make(
            "pm_dispute_resolve",
            resolver,
            market_id,
            correct_outcome,
            penalty_amount,
            ban_oracle,
            ban_oracle_until,
            ban_creator,
            ban_creator_until,
        )

    def pm_dispute_oracle_respond(self, oracle: str, market_id: int, response: str) -> Self:
        """The oracle answers a dispute."""
        return self._make("pm_dispute_oracle_respond", oracle, market_id, response)

    def pm_unban(self, resolver: str, target: str, *, unban_oracle: bool, unban_creator: bool) -> Self:
        """Lifts a ban that this account has placed on an oracle, on a creator, or on both."""
        return self._make("pm_unban", resolver, target, unban_oracle, unban_creator)

    def pm_leverage_open(
        self,
        *,
        account: str,
        market_id: int,
        outcome_index: int,
        collateral: VizAmount,
        loan: VizAmount,
        max_slippage_percent: int,
        min_tokens: int = 0,
    ) -> Self:
        """Bets with own tokens and borrowed ones."""
        return self._make(
            "pm_leverage_open", account, market_id, outcome_index, collateral, loan, min_tokens, max_slippage_percent
        )

    def pm_leverage_close(self, account: str, position_id: int, *, min_return: int = 0) -> Self:
        """Sells the position, pays the loan back, and keeps the rest, but not less than asked."""
        return self._make("pm_leverage_close", account, position_id, min_return)

    def pm_leverage_convert(self, account: str, position_id: int, conversion_profit_cost: int) -> Self:
        """Turns the position into a bet without a loan, which the profit pays back."""
        return self._make("pm_leverage_convert", account, position_id, conversion_profit_cost)

    def pm_add_liquidity(self, provider: str, market_id: int, amount: VizAmount) -> Self:
        """Puts tokens into a market, for a part of its fees."""
        return self._make("pm_add_liquidity", provider, market_id, amount)

    def pm_withdraw_liquidity(self, provider: str, liquidity_id: int, amount: VizAmount) -> Self:
        """Takes tokens out of a market; no amount means all that this provider put in."""
        return self._make("pm_withdraw_liquidity", provider, liquidity_id, amount)

    def pm_lazy_deposit(self, account: str, amount: VizAmount) -> Self:
        """Puts tokens into the pool, for shares of it."""
        return self._make("pm_lazy_deposit", account, amount)

    def pm_lazy_withdraw(self, account: str, shares: int, *, emergency: bool) -> Self:
        """Takes tokens out of the pool for shares of it; no shares means all. In an emergency at once, for a
        penalty.
        """
        return self._make("pm_lazy_withdraw", account, shares, emergency)

    def pm_create_market(
        self,
        *,
        creator: str,
        oracle: str,
        market_type: int,
        url: str,
        oracle_fee_percent: int,
        oracle_fixed_fee: VizAmount,
        liquidity_fee_percent: int,
        liquidity: VizAmount,
        betting_expiration: PointInTime,
        result_expiration: PointInTime,
        outcomes: Iterable[str] = (),
        creator_fee_percent: int = 0,
        lmsr_b: int = 0,
        time_penalty_type: int = 0,
        time_penalty_value: int = 0,
        penalty_curve_type: int = 0,
        allow_early_resolution: bool,
        allow_cancellation: bool,
        allow_batch: bool,
        allow_instant_bet: bool = True,
        endogeneity_tier: int = 2,
        dispute_mode: int = 0,
        dispute_resolver: str = "",
        dispute_penalty_percent: int = 0,
        metadata: str = "",
    ) -> Self:
        """Creates a market: its outcomes, oracle, first liquidity, and rules, which cannot be changed later."""
        return self._make(
            "pm_create_market",
            creator,
            oracle,
            market_type,
            outcomes,
            url,
            oracle_fee_percent,
            oracle_fixed_fee,
            creator_fee_percent,
            liquidity_fee_percent,
            liquidity,
            lmsr_b,
            betting_expiration,
            result_expiration,
            time_penalty_type,
            time_penalty_value,
            penalty_curve_type,
            allow_early_resolution,
            allow_cancellation,
            allow_batch,
            allow_instant_bet,
            endogeneity_tier,
            dispute_mode,
            dispute_resolver,
            dispute_penalty_percent,
            metadata,
        )

    def pm_resolve_market(
        self,
        oracle: str,
        market_id: int,
        *,
        winning_outcome: int = -1,
        decision_url: str = "",
        decision_reason: str = "",
    ) -> Self:
        """The oracle says which outcome came true."""
        return self._make("pm_resolve_market", oracle, market_id, winning_outcome, decision_url, decision_reason)

    def pm_no_contest(self, oracle: str, market_id: int, reason: str) -> Self:
        """The oracle says that the market cannot be decided: all get their stakes back."""
        return self._make("pm_no_contest", oracle, market_id, reason)

    def pm_oracle_register(
        self,
        owner: str,
        insurance: VizAmount,
        fee_percent: int,
        fixed_fee: VizAmount,
        rules_url: str,
        *,
        auto_accept_creator: str = "",
        auto_accept_resolver: str = "",
        auto_accept: bool,
    ) -> Self:
        """Makes an account an oracle: its fees, its insurance, and the markets that it takes on without being
        asked.
        """
        return self._make(
            "pm_oracle_register",
            owner,
            insurance,
            fee_percent,
            fixed_fee,
            rules_url,
            auto_accept_creator,
            auto_accept_resolver,
            auto_accept,
        )

    def pm_oracle_update(
        self,
        owner: str,
        *,
        insurance_delta: VizAmount | None = None,
        fee_percent: int | None = None,
        fixed_fee: VizAmount | None = None,
        rules_url: str | None = None,
        auto_accept_creator: str | None = None,
        auto_accept_resolver: str | None = None,
        auto_accept: bool | None = None,
    ) -> Self:
        """Changes the terms of an oracle; fields that are left out stay."""
        return self._make(
            "pm_oracle_update",
            owner,
            insurance_delta,
            fee_percent,
            fixed_fee,
            rules_url,
            auto_accept_creator,
            auto_accept_resolver,
            auto_accept,
        )

    def pm_oracle_accept_market(
        self, oracle: str, market_id: int, oracle_fee_percent: int, oracle_fixed_fee: VizAmount, *, accept: bool = True
    ) -> Self:
        """The oracle's answer to a market that names it: it takes it on for these fees, or does not."""
        return self._make("pm_oracle_accept_market", oracle, market_id, accept, oracle_fee_percent, oracle_fixed_fee)
