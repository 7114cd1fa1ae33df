"""Prediction markets in a test: opened, bet on, decided and paid, a call each. `docs/markets.md` explains them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol.types.assets import Asset, tokens
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.testing.sending import Sending

if TYPE_CHECKING:
    from ledgerd.sdk.amounts import Viz

BINARY, MULTI = 0, 1
TWO = 2
"""Outcomes of a binary market."""
LIQUIDITY = "100.000 VIZ"
PAID = 3
MOST_BLOCKS = 1_000
"""The most blocks that a settlement may take: large ones are divided over several."""
API = "prediction_market_api"

OutcomeChoice = int | str
"""The number of an outcome, from 0, or its label."""


class MarketChain(Protocol):
    """The methods of a chain that a market uses."""

    def call(self, api: str, method: str, *arguments: object) -> Any: ...  # noqa: ANN401 - JSON of the API

    def send(self, *operations: Sending) -> Any: ...  # noqa: ANN401 - nobody asks here what became of it

    def operations(self, block: int) -> list[tuple[str, dict[str, Any]]]: ...

    @property
    def head(self) -> Any: ...  # noqa: ANN401 - its number and time are asked for

    def travel(self, *, seconds: float) -> object: ...

    def produce(self) -> object: ...


class Market:
    """One market of a chain."""

    def __init__(self, chain: MarketChain, number: int, oracle: str, outcomes: Sequence[str]) -> None:
        self._chain = chain
        self.number, self.oracle, self.outcomes = number, oracle, tuple(outcomes)

    def __repr__(self) -> str:
        return f"Market({self.number}, {self.outcomes})"

    @property
    def record(self) -> Any:  # noqa: ANN401 - JSON of the API
        """The market as `prediction_market_api.get_market` gives it."""
        return self._chain.call(API, "get_market", self.number)

    def bet(self, account: str, outcome: OutcomeChoice, amount: Viz | str) -> int:
        """Bet on an outcome; the number of the bet."""
        place = "side" if len(self.outcomes) == TWO else "outcome_index"
        fields = {"account": account, "market_id": self.number, "amount": str(amount), place: self._index(outcome)}
        self._chain.send(("pm_place_bet", fields))
        bets = self._chain.call(API, "get_market_bets", self.number, 0, 1, "newest")
        return int(bets[0]["id"])

    def cancel_bet(self, account: str, bet: int) -> None:
        self._chain.send(("pm_cancel_bet", {"account": account, "bet_id": bet}))

    def end_betting(self) -> None:
        """Let the time pass until no more bets are taken."""
        left = parse_time_text(self.record["betting_expiration"]) - self._chain.head.time
        if left > 0:
            self._chain.travel(seconds=left)

    def resolve(self, outcome: OutcomeChoice, reason: str = "it is so") -> None:
        """Let the oracle say which outcome is right, after the end of betting."""
        self.end_betting()
        fields = {"oracle": self.oracle, "market_id": self.number, "winning_outcome": self._index(outcome)}
        self._chain.send(("pm_resolve_market", fields | {"decision_reason": reason}))

    def cancel(self, reason: str = "nobody knows") -> None:
        """Let the oracle say that there is no answer: bets and liquidity go back."""
        self.end_betting()
        fields = {"oracle": self.oracle, "market_id": self.number, "reason": reason}
        self._chain.send(("pm_no_contest", fields))

    def settle(self) -> dict[str, str]:
        """Let the time for disputes pass, until all are paid; what each account got for its bets, all together."""
        first = self._chain.head.number
        grace = self._chain.call(API, "get_pm_chain_properties")["pm_dispute_grace_sec"]
        self._chain.travel(seconds=grace)
        for _ in range(MOST_BLOCKS):
            if self.record["payout_status"] == PAID:
                break
            self._chain.produce()
        else:
            raise AssertionError(f"market {self.number} is not settled: {self.record}")
        paid: dict[str, Asset] = {}
        for account, payout in self._payouts(first, self._chain.head.number):
            paid[account] = paid.get(account, tokens(0)) + payout
        return {account: str(payout) for account, payout in paid.items()}

    def _payouts(self, first: int, last: int) -> Iterator[tuple[str, Asset]]:
        for block in range(first, last + 1):
            for name, fields in self._chain.operations(block):
                if name == "pm_payout" and fields["market_id"] == self.number:
                    yield fields["account"], Asset.from_json(fields["payout"])

    def _index(self, outcome: OutcomeChoice) -> int:
        if isinstance(outcome, int):
            return outcome
        if outcome not in self.outcomes:
            raise ValueError(f"{outcome!r} is none of the outcomes {self.outcomes}")
        return self.outcomes.index(outcome)


def open_market(
    chain: MarketChain, whose: tuple[str, str], outcomes: Sequence[str], betting: int, fields: Mapping[str, object]
) -> Market:
    """Open a market of a creator and an oracle, whose betting lasts so many seconds, with other fields as given."""
    now, count, (creator, oracle) = chain.head.time, len(outcomes), whose
    wanted = chain.call(API, "get_oracle", oracle)["oracle"]
    liquidity = str(fields.get("liquidity", LIQUIDITY))
    whole = {
        "creator": creator,
        "oracle": oracle,
        "market_type": BINARY if count == TWO else MULTI,
        "outcomes": list(outcomes),
        "liquidity": liquidity,
        "lmsr_b": 0 if count == TWO else depth_of_liquidity(Asset.from_json(liquidity).amount, count),
        "oracle_fee_percent": wanted["fee_percent"],
        "oracle_fixed_fee": str(tokens(wanted["fixed_fee"])),
        "betting_expiration": time_text(now + betting),
        "result_expiration": time_text(now + 2 * betting),
        "allow_early_resolution": True,
        "allow_cancellation": True,
        **fields,
    }
    chain.send(("pm_create_market", whole))
    (newest,) = chain.call(API, "list_markets_by_creator", creator, 0, 1, "newest")
    return Market(chain, newest["id"], oracle, outcomes)
