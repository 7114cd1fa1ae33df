"""The scenarios: what PROOFS.md of the specification says that no recording shows yet, each as a program."""

from __future__ import annotations

from typing import Any

from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.recording.markets import API, DATABASE, DAY, ROWS, bets, disputed, now, opened, resolved, shown
from ledgerd.recording.steps import Act, AskFact, Cast, Play, Scenario, SendOperations, WaitUntil

HOUR = 3_600
BETTING = 90
"""Seconds: enough for all bets, of which each transaction waits for a block."""
AWAITED = 90
"""Seconds from a dispute to the end of its vote, in the first act."""
CLOSED = 120
"""Seconds from a dispute to the moment that closes it undecided, in the second act."""
LATER_BLOCKS = 4
"""Blocks that are looked at one by one, while a refund goes on over them."""

COMMON = {
    "pm_oracle_accept_window_sec": 60,
    "pm_dispute_grace_sec": HOUR,
    "pm_dispute_approve_min_percent": 1,
    "pm_settle_rows_per_block": 100,
    "pm_batch_epoch_blocks": 2,
    "pm_reveal_window_blocks": 5,
}


def agents_and_keys(cast: Cast) -> Play:
    """JSON of agents, with and without an end, and of former keys, by account and by key (spec 10, section 10)."""
    name = cast.name("keeper")
    keys = [public_key_text(PrivateKey.from_password(name, f"agent-{each}", "recorded").public) for each in range(3)]
    time = yield from now()
    grants: tuple[tuple[str, int], ...] = (("award", 0), ("transfer", time + DAY))
    for (operation, end), key in zip(grants, keys, strict=False):
        fields = {
            "account": name,
            "agent_name": f"{operation}-bot",
            "agent_key": key,
            "operations": [operation],
            "expiration": time_text(end),
        }
        yield SendOperations((("set_agent_permission", fields),), (name,))
        yield AskFact(DATABASE, "get_agent_permissions", (name,))
    one_key = {"weight_threshold": 1, "account_auths": [], "key_auths": [[keys[2], 1]]}
    memo = public_key_text(PrivateKey.from_password(name, "active", "recorded").public)
    yield SendOperations((("account_update", {"account": name, "regular": one_key, "memo_key": memo}),), (name,))
    yield from _former_keys(name, memo, keys[2])
    revoked = {"account": name, "agent_name": "award-bot", "agent_key": keys[0]}
    yield SendOperations((("set_agent_permission", revoked),), (name,))
    yield AskFact(DATABASE, "get_agent_permissions", (name,))
    yield SendOperations((("account_update", {"account": name, "active": one_key, "memo_key": memo}),), (name,))
    yield AskFact(DATABASE, "get_agent_permissions", (name,))
    yield from _former_keys(name, memo, keys[2])


def _former_keys(name: str, *keys: str) -> Play:
    for start, limit in ((0, 1), (0, 100), (1, 100)):
        yield AskFact(DATABASE, "get_key_history", (name, start, limit))
    for key in keys:
        yield AskFact(DATABASE, "get_key_history_by_key", (key, 100))


def committee_decides(cast: Cast) -> Play:
    """A dispute that a vote overrides, with a penalty: its ballots, its end, its payouts (spec 09, section 5.7)."""
    market: Any = yield from opened(cast, "oracle1", BETTING, dispute_penalty_percent=5_000)
    yield from bets(cast, market)
    yield from resolved(cast, "oracle1", market)
    dispute: Any = yield from disputed(cast, market)
    for who, outcome, percent in (("voter", 1, 10_000), ("doubter", 1, 5_000), ("bettor", 0, -2_500)):
        ballot = {"voter": cast.name(who), "market_id": market, "vote_outcome": outcome, "vote_percent": percent}
        yield SendOperations((("pm_dispute_vote", ballot),), (cast.name(who),))
    yield from shown(cast, "oracle1", market)
    yield WaitUntil(parse_time_text(dispute["voting_end_time"]) + BLOCK_INTERVAL)
    yield from shown(cast, "oracle1", market)


def committee_upholds(cast: Cast) -> Play:
    """A dispute on which the defence has the greater weight (spec 09, section 5.7)."""
    market: Any = yield from opened(cast, "oracle2", BETTING)
    yield from bets(cast, market)
    yield from resolved(cast, "oracle2", market)
    dispute: Any = yield from disputed(cast, market)
    against = {"voter": cast.name("voter"), "market_id": market, "vote_outcome": 1, "vote_percent": -10_000}
    yield SendOperations((("pm_dispute_vote", against),), (cast.name("voter"),))
    yield WaitUntil(parse_time_text(dispute["voting_end_time"]) + BLOCK_INTERVAL)
    yield from shown(cast, "oracle2", market)


def account_decides(cast: Cast) -> Play:
    """A dispute that one account cuts short, with a penalty and with bans (spec 08, section 7.5)."""
    resolver = cast.name("resolver")
    market: Any = yield from opened(cast, "oracle3", BETTING, dispute_mode=1, dispute_resolver=resolver)
    accepted = {"oracle": cast.name("oracle3"), "market_id": market, "accept": True, "oracle_fixed_fee": "0.000 VIZ"}
    yield SendOperations((("pm_oracle_accept_market", accepted),), (cast.name("oracle3"),))
    yield from bets(cast, market)
    yield from resolved(cast, "oracle3", market)
    yield from disputed(cast, market)
    time = yield from now()
    verdict = {
        "resolver": resolver,
        "market_id": market,
        "correct_outcome": 1,
        "penalty_amount": "500.000 VIZ",
        "ban_oracle": True,
        "ban_oracle_until": time_text(time + DAY),
    }
    yield SendOperations((("pm_dispute_resolve", verdict),), (resolver,))
    yield from shown(cast, "oracle3", market)
    unban = {"resolver": resolver, "target": cast.name("oracle3"), "unban_oracle": True}
    yield SendOperations((("pm_unban", unban),), (resolver,))
    yield AskFact(API, "get_oracle", (cast.name("oracle3"),))


def answer_missed(cast: Cast) -> Play:
    """A void refund with a slash, cut over blocks, of bets with a pot of forfeited stakes (spec 09, section 6.2)."""
    market: Any = yield from opened(cast, "oracle4", 240, allow_batch=True)
    yield from bets(cast, market, ROWS)
    properties: Any = yield AskFact(API, "get_pm_chain_properties", ())
    hidden = {
        "account": cast.name("bettor"),
        "market_id": market,
        "commitment": "ab" * 32,
        "escrow_amount": "50.000 VIZ",
        "no_reveal_fee_percent": properties["pm_commit_no_reveal_penalty_percent"],
    }
    yield SendOperations((("pm_commit_bet", hidden),), (cast.name("bettor"),))
    found: Any = yield AskFact(API, "get_market", (market,))
    yield from _over_blocks(cast, "oracle4", market, parse_time_text(found["result_expiration"]) + HOUR)


def closed_by_time(cast: Cast) -> Play:
    """A dispute that nobody decides in time: fee, slash and void refund in one block (spec 09, section 5.6)."""
    market: Any = yield from opened(cast, "oracle5", BETTING)
    yield from bets(cast, market)
    yield from resolved(cast, "oracle5", market)
    dispute: Any = yield from disputed(cast, market)
    yield from _over_blocks(cast, "oracle5", market, parse_time_text(dispute["auto_close_time"]))


def closed_and_cut(cast: Cast) -> Play:
    """The same with more bets than a block has rows for: the refund goes on over blocks (spec 09, section 5.6).

    The dispute is younger than the time in which a result can be disputed. Past that, the settlement of the same block
    takes the market up, and with fees such a block fails on every node: no scenario goes there.
    """
    market: Any = yield from opened(cast, "oracle6", BETTING)
    yield from bets(cast, market, ROWS)
    yield from resolved(cast, "oracle6", market)
    dispute: Any = yield from disputed(cast, market)
    yield from _over_blocks(cast, "oracle6", market, parse_time_text(dispute["auto_close_time"]))


def _over_blocks(cast: Cast, oracle: str, market: int, time: int) -> Play:
    """Look before a moment, and in each of the blocks from it on."""
    yield from shown(cast, oracle, market)
    for each in range(LATER_BLOCKS):
        yield WaitUntil(time + each * BLOCK_INTERVAL)
        yield from shown(cast, oracle, market)


ACTS = (
    Act(
        "votes",
        {
            **COMMON,
            "pm_oracle_dispute_response_sec": 30,
            "pm_dispute_vote_period_sec": AWAITED - 30,
            "pm_dispute_auto_close_sec": 10 * AWAITED,
        },
        (
            Scenario("agents-and-keys", "the JSON of agents and of the history of keys", 60, agents_and_keys),
            Scenario("committee-decides", "a dispute that a vote overrides, with a penalty", 300, committee_decides),
            Scenario("committee-upholds", "a dispute that a vote upholds", 280, committee_upholds),
            Scenario("account-decides", "a dispute that one account cuts short, with bans", 190, account_decides),
            Scenario("answer-missed", "a slash, and a void refund with a pot, over blocks", 4_100, answer_missed),
        ),
    ),
    Act(
        "times",
        {
            **COMMON,
            "pm_oracle_dispute_response_sec": HOUR,
            "pm_dispute_vote_period_sec": HOUR,
            "pm_dispute_auto_close_sec": CLOSED,
        },
        (
            Scenario("closed-by-time", "a dispute that time closes, with slash and refund", 340, closed_by_time),
            Scenario("closed-and-cut", "the same, its refund cut by the rows of a block", 350, closed_and_cut),
        ),
    ),
)
"""The acts, in the order in which they are played."""

ORACLES = tuple(f"oracle{number}" for number in range(1, 7))
PLAYERS = ("maker", "bettor", "doubter", "voter", "resolver", "keeper", *ORACLES)
