"""docs/markets.md, done as it says: the life of a market, and where the numbers of the page come from."""

from __future__ import annotations

import json
from math import floor, log
from pathlib import Path

from ledgerd.pricing.constant_product import Reserves, cancel, instant_fill, opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity, prices
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.pricing.parimutuel import FeeRates, PenaltyTerms, Winner, fees, time_penalty, winner_payout, winners_pool
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.properties import default_properties
from tests.docs.guides import DOCUMENTS, Reader, Step, lessons_of
from tests.docs.tutorials import DevPorts, go_through, program
from tests.pricing.settlements import settle

DOCUMENT = (DOCUMENTS / "markets.md").read_text(encoding="utf-8")
LIQUIDITY, BOB, DAN, CHARLIE, LATE = 200_000, 20_000, 10_000, 30_000, 2_000
"""The amounts of the page, in thousandths."""
DAY = 86_400
PENALTY = time_penalty(PenaltyTerms(0, 30 * DAY, 1, 50, 0), 30 * DAY * 3 // 4, 1_000_000)
BETS = FeeRates(100, 100, 100, 0)


def test_the_page_leads_from_an_oracle_to_a_settled_market(tmp_path: Path) -> None:
    ports = DevPorts()
    with Reader(tmp_path) as reader:
        go_through(reader, lessons_of("markets.md", ports.running))

        market = ports.ask("prediction_market_api.get_market", 0)
        assert (market["status"], market["payout_status"], market["resolved_outcome"]) == (3, 3, 0)
        oracle = ports.ask("prediction_market_api.get_oracle", "frank")["oracle"]
        assert (oracle["insurance"], oracle["disputes_lost"], oracle["resolved_late_count"]) == (4_000_000, 1, 0)


def test_texts_of_strangers_are_escaped_in_answers_in_the_log_and_in_the_prices(tmp_path: Path) -> None:
    ports = DevPorts()
    evil = "<b>\u001b]0;x\u0007\u009b31m\u202e\u0000"
    fields = {
        "creator": "alice",
        "oracle": "oracle",
        "outcomes": [f"{evil}1", f"{evil}2"],
        "url": evil,
        "metadata": json.dumps({"title": evil, "category": evil}, ensure_ascii=False),
        "liquidity": "100.000 VIZ",
        "oracle_fee_percent": 100,
        "betting_expiration": "+60",
        "result_expiration": "+120",
    }
    with Reader(tmp_path) as reader:
        for name in ("send.py", "prices.py"):
            reader.take(program(name, ports))
        chain = next(step for step, _ in lessons_of("markets.md", ports.running) if step.kind == "sh background")
        log_of_node = reader.take(chain)
        reader.wait_for(log_of_node, "Try it:")
        reader.take(Step("sh", f"python3 send.py pm_create_market '{json.dumps(fields)}'"))
        answers = [ports.answer(f"prediction_market_api.{each}", 0) for each in ("get_market_full", "get_market_meta")]
        printed = reader.take(Step("sh", "python3 prices.py 0"))

        assert json.loads(answers[0])["result"]["market"]["url"] == evil
        assert all(is_printable(each) for each in answers)
        assert is_printable(printed)
        assert printed.isascii()
        assert is_printable((tmp_path / log_of_node).read_text(encoding="utf-8"))


def is_printable(text: str) -> bool:
    """Whether no control character that JSON escapes stands in it."""
    return all(each >= " " or each == "\n" for each in text)


def amount(thousandths: int) -> str:
    return f"{thousandths / 1000:.3f}"


def row(title: str, a: int, b: int, weight: int | None) -> str:
    shown = "" if weight is None else f"{amount(weight)} "
    return f"| {title} | {amount(a)} | {amount(b)} | {shown}| {a / (a + b):.1%}".replace("%", " % |")


def test_the_reserves_weights_and_prices_are_those_of_the_rules() -> None:
    start = opening_reserves(LIQUIDITY)
    bob = instant_fill(*start, BOB, 0)
    dan = instant_fill(bob.reserve_a, bob.reserve_b, start.k, DAN, 0)
    charlie = instant_fill(dan.reserve_a, dan.reserve_b, start.k, CHARLIE, 1)
    left = cancel(Reserves(charlie.reserve_a, charlie.reserve_b, start.k), 0, dan.tokens, DAN, LIQUIDITY, LIQUIDITY)
    late = instant_fill(left.reserve_a, left.reserve_b, start.k, LATE, 0)

    for line in (
        row("at first", start.a, start.b, None),
        row('bob bets 20 on "Yes"', bob.reserve_a, bob.reserve_b, bob.tokens),
        row('dan bets 10 on "Yes"', dan.reserve_a, dan.reserve_b, dan.tokens),
        row('charlie bets 30 on "No"', charlie.reserve_a, charlie.reserve_b, charlie.tokens),
        row("dan leaves", left.reserve_a, left.reserve_b, None),
        row('bob bets 2 on "Yes"', late.reserve_a, late.reserve_b, late.tokens),
    ):
        assert line in DOCUMENT
    assert f"gets back {amount(left.paid)} of his 10 VIZ. The other {amount(left.residual)} VIZ" in DOCUMENT

    weight = instant_fill(charlie.reserve_a, charlie.reserve_b, start.k, 1_000, 0).tokens
    won = winners_pool(fees(CHARLIE, BETS), 0, 0).winners * weight / (bob.tokens + dan.tokens + weight) / 1000
    assert (
        f'"Yes": {charlie.reserve_a / (charlie.reserve_a + charlie.reserve_b):.1%}, 1 VIZ would win {won:.3f}'
        in DOCUMENT
    )
    assert f"1/(1 + {won:.3f}) = {1 / (1 + won):.1%}".replace("%", " %") in DOCUMENT


def test_the_payouts_are_those_of_the_rules() -> None:
    bets = (Winner(BOB, 16_667, 0), Winner(LATE, 2_512, PENALTY))
    forfeited = 4_710
    settled = settle(CHARLIE, forfeited, BETS, bets)
    taken = fees(CHARLIE, BETS)
    pool = winners_pool(taken, forfeited, 0).winners
    total = sum(each.weight for each in bets)
    first, second = (winner_payout(each, pool, total) for each in bets)

    assert (PENALTY, amount(total)) == (500_000, "19.179")
    assert f"30 - {amount(CHARLIE - taken.left)} + {amount(forfeited)} = {amount(pool)} VIZ" in DOCUMENT
    assert (
        f"16.667 of 19.179: {amount(first.profit)} VIZ. His second has 2.512:\n  {amount(second.profit)} VIZ"
        in DOCUMENT
    )
    assert f"half of {amount(second.profit)} is lost: {amount(second.penalty)} VIZ" in DOCUMENT
    assert f"{amount(taken.liquidity)} + {amount(second.penalty)} + 0.001 = {amount(settled.bonus)} VIZ" in DOCUMENT
    assert f"| bob | {amount(settled.payouts[0])} + {amount(settled.payouts[1])}; bet 22 |" in DOCUMENT
    assert f"200 back, {amount(settled.creator)} as creator, {amount(settled.bonus)} as lender" in DOCUMENT
    assert f"| frank | {amount(settled.oracle)} as oracle |" in DOCUMENT
    out = LIQUIDITY + sum(settled.payouts) + settled.oracle + settled.creator + settled.bonus + DAN - forfeited
    assert out == LIQUIDITY + BOB + LATE + CHARLIE + DAN == 262_000


def test_three_outcomes_are_priced_by_the_rules() -> None:
    depth = depth_of_liquidity(100_000, 3)
    weight = tokens_for_amount((0, 0, 0), depth, 2, 12_345)
    shares = prices((0, 0, weight), depth)

    assert depth == floor(100_000 / log(3)) == 91_023
    assert f'"lmsr_b": {depth}' in DOCUMENT
    assert f'"label":"Blue" "q":{weight}' in DOCUMENT
    for label, share in zip(("Red", "Green", "Blue"), shares, strict=True):
        assert f'"{label}": {share / 1_000_000:.1%}' in DOCUMENT


def test_the_figures_of_the_main_network_are_its_defaults() -> None:
    usual = default_properties(MAINNET)
    assert (usual.pm_oracle_registration_fee.amount, usual.pm_market_creation_fee.amount) == (10_000, 5_000)
    assert (usual.pm_dispute_fee.amount, usual.pm_dispute_vote_min_vesting.amount) == (1_000_000, 1_000_000)
    assert usual.pm_dispute_grace_sec == 12 * 3_600
    assert usual.pm_oracle_dispute_response_sec + usual.pm_dispute_vote_period_sec == DAY * 7 // 2
    assert (usual.pm_dispute_approve_min_percent, usual.pm_dispute_reward_multiplier) == (1_000, 30_000)
    assert (usual.pm_oracle_penalty_percent, usual.pm_no_contest_penalty_percent) == (500, 5_000)
    assert usual.pm_early_exit_reward_cap_percent == 3_300
    for words in ("costs 1,000 VIZ", "twelve", "3.5 days", "a tenth of all shares", "5 % of its insurance", "33 %"):
        assert words in DOCUMENT
