"""What a single bet gets when its market is settled (spec 09, section 6.1, phase 4)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.frozen import STAKES, move_balance
from ledgerd.chain.steps.markets.refunding import give_stake_back
from ledgerd.pricing.parimutuel import Winner, pot_share, winner_payout
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.operations.markets import MULTI
from ledgerd.protocol.operations.virtual_markets import PmPayout
from ledgerd.state.objects.bets import RESOLVED, PmBet
from ledgerd.state.objects.markets import PmMarket
from ledgerd.state.objects.settlements import PmSettlement


def is_winner(market: PmMarket, bet: PmBet) -> bool:
    return (bet.outcome_index if market.market_type == MULTI else bet.side) == market.resolved_outcome


def pay_bet(ledger: Ledger, market: PmMarket, state: PmSettlement, bet: PmBet) -> None:
    """A winner gets its stake and its part of the pool, a loser nothing."""
    payout = 0
    if is_winner(market, bet):
        won = winner_payout(Winner(bet.amount, bet.weight, bet.time_penalty), state.winners_pool, state.weight_total)
        payout = won.payout
        state.distributed = fits_int64(state.distributed + won.profit)
        state.lp_bonus = fits_int64(state.lp_bonus + won.penalty)
    state.escrow = fits_int64(state.escrow + bet.amount - payout)
    move_balance(ledger, ledger.account(bet.account), max(0, payout), STAKES, -bet.amount)
    with ledger.editing(bet):
        bet.status = RESOLVED
        bet.resolved_amount = payout
    ledger.emit(
        PmPayout(bet.account, market.id, bet.id, bet.side, bet.outcome_index, tokens(bet.amount), tokens(payout))
    )


def return_bet(ledger: Ledger, _market: PmMarket, state: PmSettlement, bet: PmBet) -> None:
    """A stake in a market without a contest comes back, with its parts of both pots."""
    is_last = state.rows_done == state.rows_total
    of_oracle = pot_share(state.winners_pool, state.distributed, bet.amount, state.stake_total, is_last=is_last)
    of_forfeits = pot_share(state.uncovered, state.lp_bonus, bet.amount, state.stake_total, is_last=is_last)
    state.distributed = fits_int64(state.distributed + of_oracle)
    state.lp_bonus = fits_int64(state.lp_bonus + of_forfeits)
    state.escrow = fits_int64(state.escrow - of_oracle - of_forfeits)
    give_stake_back(ledger, bet, of_oracle + of_forfeits)
