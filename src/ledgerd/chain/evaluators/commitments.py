"""The rules of hidden bets: tokens put aside under a hash, and what it stood for (spec 08, sections 5.2 and 5.3).

What becomes of a bet that was shown, and of one that was not, is up to the step of the block.
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.commitments import commitment_of
from ledgerd.chain.rules.markets.curve import time_penalty_of
from ledgerd.chain.rules.markets.frozen import STAKES, move_balance
from ledgerd.chain.rules.markets.market import market_of, require_active, require_betting_open, require_markets_enabled
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import BLOCK_INTERVAL, MAX_PM_OPEN_COMMITS_PER_MARKET
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.bets import BATCH
from ledgerd.protocol.operations.commitments import PmCommitBet, PmRevealBet
from ledgerd.state.objects.bets import PM_BETS, QUEUED, PmBet
from ledgerd.state.objects.commitments import COMMITTED, PM_COMMITS, REVEALED, PmCommit
from ledgerd.state.objects.markets import PmMarket


@evaluates(PmCommitBet)
def pm_commit_bet(ledger: Ledger, operation: PmCommitBet) -> None:
    """Put tokens aside under a hash. A market of any type may take hidden bets (spec 08, section 5.2)."""
    require_markets_enabled(ledger)
    median = ledger.median
    require(median.pm_commit_reveal_enabled, "mp.pm_commit_reveal_enabled: Commit-reveal not enabled")
    market = market_of(ledger, operation.market_id)
    require_active(market)
    require(market.allow_batch, "mkt.allow_batch: Batch mode not enabled")
    require_betting_open(ledger, market, "Betting period ended")
    escrow = operation.escrow_amount
    require(escrow.is_token, "o.escrow_amount.symbol == TOKEN_SYMBOL: Escrow must be VIZ")
    require(
        escrow.amount >= median.pm_min_batch_bet.amount,
        "o.escrow_amount.amount >= mp.pm_min_batch_bet.amount: Escrow below minimum batch bet",
    )
    require(
        operation.no_reveal_fee_percent == median.pm_commit_no_reveal_penalty_percent,
        "o.no_reveal_fee_percent == mp.pm_commit_no_reveal_penalty_percent: "
        "no_reveal_fee_percent must equal current consensus value",
    )
    require(
        market.open_commits < MAX_PM_OPEN_COMMITS_PER_MARKET,
        "mkt.open_commits < MAX_PM_OPEN_COMMITS_PER_MARKET: Open commit cap reached for this market",
    )
    account = ledger.account(operation.account)
    require(account.balance >= escrow.amount, "acct.balance >= o.escrow_amount: Insufficient balance for escrow")
    adjust_balance(ledger, account, -escrow.amount)
    ledger.store.create(
        PM_COMMITS,
        PmCommit(
            market=market.id,
            account=account.name,
            commitment=operation.commitment,
            escrow_amount=escrow.amount,
            no_reveal_fee_percent=operation.no_reveal_fee_percent,
            commit_time=ledger.now,
            reveal_deadline=_reveal_deadline(ledger),
        ),
    )
    with ledger.editing(market):
        market.open_commits += 1


def _reveal_deadline(ledger: Ledger) -> int:
    """So many blocks after the end of the epoch, both counted from the block before."""
    median, head = ledger.median, ledger.head_number
    length = median.pm_batch_epoch_blocks
    epoch_end = uint32((head // length + 1) * length)
    blocks = uint32(epoch_end - head + median.pm_reveal_window_blocks)
    return uint32(ledger.now + blocks * BLOCK_INTERVAL)


@evaluates(PmRevealBet)
def pm_reveal_bet(ledger: Ledger, operation: PmRevealBet) -> None:
    """Show a hidden bet, which waits for the end of its epoch then (spec 08, section 5.3).

    Whether the outcome exists is seen when the bet is carried out.
    """
    require_markets_enabled(ledger)
    commit = ledger.store.get(PM_COMMITS, operation.commit_id)
    require(commit.account == operation.account, "commit.account == o.account: Not your commitment")
    require(commit.status == COMMITTED, "commit.status == 0: Already revealed or forfeited")
    require(ledger.now <= commit.reveal_deadline, "now <= commit.reveal_deadline: Reveal window passed")
    amount = operation.amount
    require(amount.is_token, "o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ")
    require(
        0 < amount.amount <= commit.escrow_amount,
        "o.amount.amount > 0 && o.amount.amount <= commit.escrow_amount: Invalid reveal amount",
    )
    require(
        _hash_of(commit, operation) == commit.commitment,
        "verify_commit(commit, o.side, o.outcome_index, o.amount.amount, o.min_tokens, o.salt): "
        "Commitment hash mismatch",
    )
    market = market_of(ledger, commit.market)
    require_active(market)
    require_betting_open(ledger, market, "Betting period ended")
    surplus = fits_int64(commit.escrow_amount - amount.amount)
    move_balance(ledger, ledger.account(operation.account), surplus, STAKES, amount.amount)
    with ledger.editing(commit, market):
        commit.status = REVEALED
        market.open_commits = max(0, market.open_commits - 1)
    _queue(ledger, operation, commit, market)


def _hash_of(commit: PmCommit, operation: PmRevealBet) -> bytes:
    return commitment_of(
        commit.market,
        commit.account,
        operation.side,
        operation.outcome_index,
        operation.amount.amount,
        operation.min_tokens,
        operation.salt,
    )


def _queue(ledger: Ledger, operation: PmRevealBet, commit: PmCommit, market: PmMarket) -> None:
    """The bet joins the market's epoch; its risk began when it was hidden."""
    ledger.store.create(
        PM_BETS,
        PmBet(
            market=market.id,
            account=operation.account,
            side=operation.side,
            outcome_index=operation.outcome_index,
            amount=operation.amount.amount,
            min_tokens=operation.min_tokens,
            mode=BATCH,
            epoch=market.current_epoch,
            status=QUEUED,
            created_time=ledger.now,
            time_penalty=time_penalty_of(ledger, market, commit.commit_time),
        ),
    )
