"""What the mathematics of prediction markets costs: a bet, a book, a position, a row of a settlement.

Figures are also in recoveries of the same run; a bet in a full block may cost 5 of them on two outcomes and 7 on eight,
all in all.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from statistics import median

from bench.bench_protocol import Figures, block_of_transfers
from ledgerd.pricing.constant_product import Reserves, cancel, instant_fill
from ledgerd.pricing.fixed_point import ONE, exp_q, ln_q
from ledgerd.pricing.leverage import LeverageLimits, cancel_value, max_loan, worst_value
from ledgerd.pricing.liquidity import Provided, bonus_shares
from ledgerd.pricing.lmsr import depth_of_liquidity, price, prices
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.pricing.parimutuel import Winner, winner_payout

LIQUIDITY = 10_000_000
AMOUNT = 123_456
RESERVES = Reserves(60_000_000, 41_667_000, 2_500_050_000_000_000)
LIMITS = LeverageLimits(profit=10, safety=1, slippage=10, opposing=50)
IMPORTS = 9


def book_of(outcomes: int) -> tuple[list[int], int]:
    """A book in use: as deep as its liquidity allows, all quantities different."""
    depth = depth_of_liquidity(LIQUIDITY, outcomes)
    return [(i * 7919 % outcomes) * 3 * depth // outcomes + i for i in range(outcomes)], depth


def show_books(figures: Figures, outcomes: int, target: float | None) -> None:
    """A book of so many outcomes. The bet that runs into the domain's end is the dearest that is not refused."""
    quantities, depth = book_of(outcomes)
    print(f"a book of {outcomes} outcomes")
    figures.show("  tokens of a bet", partial(tokens_for_amount, quantities, depth, 1, AMOUNT), target)
    figures.show("  tokens of a bet of 12 depths", partial(tokens_for_amount, quantities, depth, 1, 12 * depth), target)
    figures.show("  tokens of a bet of 25 depths", partial(tokens_for_amount, quantities, depth, 1, 25 * depth))
    figures.show("  tokens while nothing is sold", partial(tokens_for_amount, [0] * outcomes, depth, 1, AMOUNT))
    figures.show("  all prices", partial(prices, quantities, depth))
    figures.show("  one price", partial(price, quantities, depth, 1))


def show_curve(figures: Figures) -> None:
    """The binary curve and its positions."""
    print("a binary market")
    figures.show("  tokens of a bet", partial(instant_fill, *RESERVES, AMOUNT, 0), 0.5)
    figures.show("  a bet cancelled", partial(cancel, RESERVES, 0, 8334, 10000, 100001, 200001))
    figures.show("  a position's value", partial(cancel_value, RESERVES, 690_336, 0))
    figures.show("  a position's value at worst", partial(worst_value, RESERVES, 690_336, 0, LIMITS))
    figures.show("  the greatest loan", partial(max_loan, RESERVES, 1_000_000, 0, 10_000_000, LIMITS))


def show_settlement(figures: Figures) -> None:
    """Rows of a settlement."""
    winner = Winner(2_500_000, 1_234_000, 123_456)
    providers = [Provided(1_000_000 + i, 60 * i) for i in range(100)]
    print("a settlement")
    figures.show("  a winner", partial(winner_payout, winner, 1_000_003_000, 456_800_000))
    figures.show("  a bonus for 100 providers", partial(bonus_shares, providers, 51_582))


def show_import() -> None:
    """What a process pays for the tables of the estimates, the interpreter's own start left out."""
    script = "from time import perf_counter as t; a = t(); import ledgerd.pricing.lmsr_fill; print(t() - a)"
    run = [sys.executable, "-c", script]
    taken = [float(subprocess.run(run, capture_output=True, check=True).stdout) for _ in range(IMPORTS)]  # noqa: S603
    print(f"{'import of the room':40}{median(taken):>10.3f} s")


def main() -> None:
    """Print every figure."""
    figures = Figures(block_of_transfers())
    figures.show("recover a key", figures.recovery)
    figures.show("an exponential, exact", partial(exp_q, -ONE // 3))
    figures.show("a logarithm, exact", partial(ln_q, 7 * ONE))
    show_curve(figures)
    show_books(figures, 2, 0.5)
    show_books(figures, 8, 1)
    show_books(figures, 128, None)
    show_settlement(figures)
    show_import()
