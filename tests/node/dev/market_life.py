"""One of each operation of hardforks 14 and 15 that can be sent, in an order that a development chain accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.chain.evaluators.markets.bets import commitment_of
from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.types.names import AccountName
from tests.node.dev.sending import Sending, in_seconds
from tests.node.processes import NodeProcess

AGENT_KEY = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
BETTING = 600
NO_OUTCOME = -1
"""A market of two outcomes is bet on by side, one of more by outcome."""


class Step(NamedTuple):
    """What is sent next and by whose key, after the clock was moved by these seconds."""

    operation: Sending
    key: str = PUBLISHED_ACCOUNTS_KEY
    after: int = 0


def market(node: NodeProcess, creator: str, oracle: str, liquidity: str, resolver: str = "") -> Sending:
    """A market of all fields, with a resolver or with disputes that are voted on."""
    return (
        "pm_create_market",
        {
            "creator": creator,
            "oracle": oracle,
            "market_type": 0,
            "outcomes": ["Yes", "No"],
            "url": "ipfs://rain",
            "oracle_fee_percent": 100,
            "oracle_fixed_fee": "0.000 VIZ",
            "creator_fee_percent": 100,
            "liquidity_fee_percent": 200,
            "liquidity": liquidity,
            "lmsr_b": 0,
            "betting_expiration": in_seconds(node, BETTING),
            "result_expiration": in_seconds(node, 2 * BETTING),
            "time_penalty_type": 0,
            "time_penalty_value": 0,
            "penalty_curve_type": 0,
            "allow_early_resolution": True,
            "allow_cancellation": True,
            "allow_batch": True,
            "allow_instant_bet": True,
            "endogeneity_tier": 2,
            "dispute_mode": 1 if resolver else 0,
            "dispute_resolver": resolver,
            "dispute_penalty_percent": 0,
            "metadata": '{"category":"weather"}',
            "extensions": [],
        },
    )


def of(name: str, **fields: object) -> Sending:
    return name, {**fields, "extensions": []}


def bet(account: str, market_id: int, side: int, amount: str) -> Sending:
    return of(
        "pm_place_bet",
        account=account,
        market_id=market_id,
        side=side,
        outcome_index=NO_OUTCOME,
        amount=amount,
        min_tokens=0,
        mode=0,
    )


def steps(node: NodeProcess) -> Iterator[Step]:
    """Each is to be sent before the next is asked for: times are those of the chain at that moment."""
    yield from _opening(node)
    yield from _betting()
    yield from _lending(node)
    yield from _ending()


def _opening(node: NodeProcess) -> Iterator[Step]:
    """Market 0 waits for its oracle and has a resolver; 1 and 2 are accepted at once."""
    yield Step(
        of(
            "pm_oracle_register",
            owner="dan",
            insurance="5000.000 VIZ",
            fee_percent=100,
            fixed_fee="0.000 VIZ",
            rules_url="https://dan",
            auto_accept_creator="",
            auto_accept_resolver="",
            auto_accept=False,
        )
    )
    yield Step(of("pm_oracle_update", owner="dan", insurance_delta="10.000 VIZ", auto_accept_creator="bob"))
    yield Step(market(node, "alice", "dan", "100.000 VIZ", resolver="frank"))
    yield Step(market(node, "alice", "oracle", "100.000 VIZ"))
    yield Step(market(node, "alice", "oracle", "100.000 VIZ"))
    accept = {"oracle": "dan", "market_id": 0, "accept": True}
    yield Step(of("pm_oracle_accept_market", **accept, oracle_fee_percent=100, oracle_fixed_fee="0.000 VIZ"))


def _betting() -> Iterator[Step]:
    yield Step(bet("bob", 0, 0, "20.000 VIZ"))
    yield Step(bet("charlie", 0, 1, "20.000 VIZ"))
    yield Step(bet("charlie", 1, 1, "20.000 VIZ"))
    hidden = commitment_of(1, AccountName("bob"), 0, NO_OUTCOME, 5_000, 0, "salt").hex()
    put = {"account": "bob", "market_id": 1, "commitment": hidden, "escrow_amount": "6.000 VIZ"}
    yield Step(of("pm_commit_bet", **put, no_reveal_fee_percent=2_000))
    shown = {"account": "bob", "commit_id": 0, "side": 0, "outcome_index": NO_OUTCOME, "amount": "5.000 VIZ"}
    yield Step(of("pm_reveal_bet", **shown, salt="salt", min_tokens=0))
    yield Step(of("pm_cancel_bet", account="bob", bet_id=0, min_return=0))
    moved = {"from": "charlie", "bet_id": 1, "to": "frank", "amount": 0, "memo": "yours", "extensions": []}
    yield Step(("pm_transfer_position", moved))
    yield Step(of("pm_add_liquidity", provider="charlie", market_id=0, amount="130.000 VIZ"))
    yield Step(of("pm_withdraw_liquidity", provider="charlie", liquidity_id=3, amount="0.000 VIZ"))


def _lending(node: NodeProcess) -> Iterator[Step]:
    """Market 3 is large enough for leverage."""
    viz = PUBLISHED_INITIATOR_KEY
    yield Step(of("pm_lazy_deposit", account="viz", amount="3000000.000 VIZ"), viz)
    yield Step(market(node, "viz", "oracle", "100000.000 VIZ"), viz)
    for position in (0, 1):
        lent = {"account": "bob", "market_id": 3, "outcome_index": 0, "collateral": "1000.000 VIZ"}
        yield Step(of("pm_leverage_open", **lent, loan="200.000 VIZ", min_tokens=0, max_slippage_percent=10))
        if position == 0:
            yield Step(of("pm_leverage_close", account="bob", position_id=0, min_return=0))
    yield Step(bet("viz", 3, 0, "20000.000 VIZ"), viz)
    yield Step(of("pm_leverage_convert", account="bob", position_id=1, conversion_profit_cost=50))
    yield Step(of("pm_lazy_withdraw", account="viz", shares=1_000_000, emergency=True), viz)
    yield Step(
        (
            "set_agent_permission",
            {
                "account": "alice",
                "agent_name": "hub",
                "agent_key": AGENT_KEY,
                "operations": ["award"],
                "expiration": "1970-01-01T00:00:00",
                "addons": ["login"],
                "extensions": [],
            },
        )
    )


def _ending() -> Iterator[Step]:
    """Both results are disputed: one is decided by the resolver, the other voted on; market 2 has no result."""
    said = {"winning_outcome": 0, "decision_url": "https://dan/0", "decision_reason": "rain"}
    yield Step(of("pm_resolve_market", oracle="dan", market_id=0, **said), after=BETTING + 60)
    yield Step(of("pm_resolve_market", oracle="oracle", market_id=1, **said))
    yield Step(of("pm_no_contest", oracle="oracle", market_id=2, reason="no rain gauge"))
    for number in (0, 1):
        yield Step(of("pm_dispute_create", disputer="charlie", market_id=number, proposed_outcome=1, reason="dry"))
    yield Step(of("pm_dispute_oracle_respond", oracle="oracle", market_id=1, response="wet"))
    voted = {"voter": "viz", "market_id": 1, "vote_outcome": 1, "vote_percent": 10_000}
    yield Step(of("pm_dispute_vote", **voted), PUBLISHED_INITIATOR_KEY)
    banned = {"ban_oracle": True, "ban_oracle_until": "2037-01-01T00:00:00"}
    spared = {"ban_creator": False, "ban_creator_until": "1970-01-01T00:00:00"}
    decided = {"resolver": "frank", "market_id": 0, "correct_outcome": 1, "penalty_amount": "10.000 VIZ"}
    yield Step(of("pm_dispute_resolve", **decided, **banned, **spared), after=40)
    yield Step(of("pm_unban", resolver="frank", target="dan", unban_oracle=True, unban_creator=False))
