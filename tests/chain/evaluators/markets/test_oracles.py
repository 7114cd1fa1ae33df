from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.oracles import PmOracleAcceptMarket, PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.markets.markets import ACTIVE, WAITING
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER, PmOracle
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.market_scenes import (
    NOBODY,
    ORACLE,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_market,
    create_oracle,
)

INSURANCE, FEE = 5_000_000, 10_000

REGISTER = PmOracleRegister(
    owner=BOB,
    insurance=tokens(INSURANCE),
    fee_percent=500,
    fixed_fee=tokens(7),
    rules_url="https://rules.test",
    auto_accept_creator=NOBODY,
    auto_accept_resolver=NO_NAME,
    auto_accept=True,
    extensions=(),
)

UPDATE = PmOracleUpdate(
    owner=ORACLE,
    insurance_delta=None,
    fee_percent=None,
    fixed_fee=None,
    rules_url=None,
    auto_accept_creator=None,
    auto_accept_resolver=None,
    auto_accept=None,
    extensions=(),
)

UNSETTLED = (
    "mit->status < 1: Cannot withdraw insurance while this oracle has unsettled markets (awaiting resolution "
    "or still in the dispute window); settle them first (top-ups are always allowed)"
)


def update(**fields: Any) -> PmOracleUpdate:
    return replace(UPDATE, **fields)


def oracle_of(ledger: Ledger, name: AccountName = ORACLE) -> PmOracle:
    return ledger.store.at(ORACLE_BY_OWNER, name)


def test_registering_asks_in_this_order(markets: Ledger) -> None:
    create_oracle(markets)
    scene = Scene(markets, REGISTER, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"owner": NOBODY}}, {"operation": {"owner": BOB}}),
            Rule(
                "o.insurance.symbol == TOKEN_SYMBOL: Insurance must be VIZ",
                {"operation": {"insurance": shares(INSURANCE)}},
            ),
            Rule(
                "o.insurance.amount >= mp.pm_min_oracle_insurance.amount: Insurance below minimum",
                {"operation": {"insurance": tokens(INSURANCE - 1)}},
                {"operation": {"insurance": tokens(INSURANCE)}},
            ),
            Rule(
                "o.fee_percent <= mp.pm_max_oracle_fee_percent: fee_percent exceeds maximum",
                {"operation": {"fee_percent": 501}},
                {"operation": {"fee_percent": 500}},
            ),
            Rule("o.fixed_fee.symbol == TOKEN_SYMBOL: fixed_fee must be VIZ", {"operation": {"fixed_fee": shares(0)}}),
            Rule(
                "o.fixed_fee.amount >= 0: fixed_fee cannot be negative",
                {"operation": {"fixed_fee": tokens(-1)}},
                {"operation": {"fixed_fee": tokens(0)}},
            ),
            Rule(
                "o.rules_url.size() <= MAX_PM_PROFILE_URL_LEN: rules_url too long",
                {"operation": {"rules_url": "ж" * 128 + "a"}},
                {"operation": {"rules_url": "ж" * 128}},
            ),
            Rule(
                "oidx.find(o.owner) == oidx.end(): Oracle already registered",
                {"operation": {"owner": ORACLE}},
                {"operation": {"owner": BOB}},
            ),
            Rule(
                "owner.balance >= mp.pm_oracle_registration_fee: Insufficient balance for registration fee",
                {"bob": {"balance": FEE - 1}},
                {"bob": {"balance": FEE}},
            ),
            Rule(
                "owner.balance >= o.insurance: Insufficient balance for insurance",
                {"bob": {"balance": FEE + INSURANCE - 1}},
                {"bob": {"balance": FEE + INSURANCE}},
            ),
        ]
    )

    assert caused == []
    assert (markets.account(BOB).balance, markets.globals.committee_fund) == (0, FEE)


def test_an_oracle_begins_with_what_it_says_of_itself(markets: Ledger) -> None:
    assert carry_out(markets, REGISTER) == []

    assert oracle_of(markets, BOB) == PmOracle(
        id=0,
        owner=BOB,
        insurance=INSURANCE,
        fee_percent=500,
        fixed_fee=7,
        rules_url="https://rules.test",
        active_since=NOW,
        last_active_time=NOW,
        auto_accept_creator=NOBODY,
        auto_accept=True,
    )
    bob = markets.account(BOB)
    assert bob.balance == RICH - FEE - INSURANCE
    assert (bob.pm_liquidity_committed, bob.pm_bets_staked, bob.pm_leverage_collateral) == (0, 0, 0)


def test_who_has_the_fee_alone_lacks_the_insurance(markets: Ledger) -> None:
    bob = markets.account(BOB)
    change(markets, bob, balance=FEE - 1)
    refuses(
        markets,
        REGISTER,
        "owner.balance >= mp.pm_oracle_registration_fee: Insufficient balance for registration fee",
    )

    change(markets, bob, balance=FEE)
    refuses(markets, REGISTER, "owner.balance >= o.insurance: Insufficient balance for insurance")


def test_registering_may_be_free(markets: Ledger) -> None:
    set_median(markets, pm_oracle_registration_fee=tokens(0))
    change(markets, markets.account(BOB), balance=INSURANCE)

    carry_out(markets, REGISTER)

    assert markets.globals.committee_fund == 0


def test_the_greatest_insurance_of_all(markets: Ledger) -> None:
    most = 2**63 - 1
    set_median(markets, pm_oracle_registration_fee=tokens(0))
    change(markets, markets.account(BOB), balance=most - 1)

    refuses(
        markets,
        replace(REGISTER, insurance=tokens(most)),
        "owner.balance >= o.insurance: Insufficient balance for insurance",
    )
    change(markets, markets.account(BOB), balance=most)
    carry_out(markets, replace(REGISTER, insurance=tokens(most)))
    assert (oracle_of(markets, BOB).insurance, markets.account(BOB).balance) == (most, 0)


def test_an_update_asks_in_this_order(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=INSURANCE + 5)
    market = create_market(markets, status=ACTIVE)
    scene = Scene(markets, update(), oracle=oracle, market=market, owner=markets.account(ORACLE))

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"owner": NOBODY}}),
            Rule("it != oidx.end(): Oracle not found", {"operation": {"owner": BOB}}, {"operation": {"owner": ORACLE}}),
            Rule(
                "*o.fee_percent <= mp.pm_max_oracle_fee_percent: fee_percent exceeds maximum",
                {"operation": {"fee_percent": 501}},
                {"operation": {"fee_percent": 500}},
            ),
            Rule("o.fixed_fee->symbol == TOKEN_SYMBOL: fixed_fee must be VIZ", {"operation": {"fixed_fee": shares(0)}}),
            Rule(
                "o.fixed_fee->amount >= 0: fixed_fee cannot be negative",
                {"operation": {"fixed_fee": tokens(-1)}},
                {"operation": {"fixed_fee": tokens(0)}},
            ),
            Rule(
                "o.rules_url->size() <= MAX_PM_PROFILE_URL_LEN: rules_url too long",
                {"operation": {"rules_url": "a" * 257}},
                {"operation": {"rules_url": "a" * 256}},
            ),
            Rule(
                "delta.symbol == TOKEN_SYMBOL: insurance_delta must be VIZ",
                {"operation": {"insurance_delta": shares(-6)}},
            ),
            Rule(
                UNSETTLED,
                {"operation": {"insurance_delta": tokens(-6)}, "market": {"status": ACTIVE}},
                {"market": {"status": WAITING}},
            ),
            Rule(
                "oracle.insurance.value - withdraw.value >= mp.pm_min_oracle_insurance.amount.value: "
                "Withdrawal would push insurance below minimum",
                {"operation": {"insurance_delta": tokens(-6)}},
                {"operation": {"insurance_delta": tokens(-5)}},
            ),
        ]
    )

    assert (oracle.insurance, markets.account(ORACLE).balance) == (INSURANCE, RICH + 5)


def test_insurance_is_added_at_any_time(markets: Ledger) -> None:
    """Below the minimum too, with markets open, and while banned."""
    oracle = create_oracle(markets, insurance=1, banned_until=LATEST)
    create_market(markets)
    change(markets, markets.account(ORACLE), balance=9)

    refuses(
        markets,
        update(insurance_delta=tokens(10)),
        "owner.balance >= delta: Insufficient balance for insurance top-up",
    )
    carry_out(markets, update(insurance_delta=tokens(9)))

    assert (oracle.insurance, oracle.last_active_time, markets.account(ORACLE).balance) == (10, NOW, 0)


@pytest.mark.parametrize(("status", "finalized", "is_free"), [(1, 0, False), (3, 0, False), (0, 0, True), (3, 9, True)])
def test_insurance_leaves_only_beside_settled_markets(
    markets: Ledger, status: int, finalized: int, *, is_free: bool
) -> None:
    create_oracle(markets, insurance=INSURANCE + 1)
    create_market(markets, oracle=ALICE, status=ACTIVE)
    create_market(markets, status=WAITING)
    create_market(markets, status=status, finalized_time=finalized)

    if is_free:
        carry_out(markets, update(insurance_delta=tokens(-1)))
    else:
        refuses(markets, update(insurance_delta=tokens(-1)), UNSETTLED)


def test_no_insurance_goes_beyond_the_width_of_amounts(markets: Ledger) -> None:
    create_oracle(markets)

    refusal = refuses(markets, update(insurance_delta=tokens(-(2**63))), "")

    assert refusal.code == 19


def test_an_update_changes_what_it_gives(markets: Ledger) -> None:
    oracle = create_oracle(markets, fee_percent=1, fixed_fee=2, rules_url="before", auto_accept_creator=BOB)
    pass_time(markets, 3)

    assert carry_out(markets, update(insurance_delta=tokens(0), auto_accept=True, auto_accept_creator=NO_NAME)) == []

    assert (oracle.insurance, oracle.fee_percent, oracle.fixed_fee, oracle.rules_url) == (INSURANCE, 1, 2, "before")
    assert (oracle.auto_accept, oracle.auto_accept_creator, oracle.last_active_time) == (True, NO_NAME, NOW + 3)

    carry_out(markets, update(fee_percent=0, fixed_fee=tokens(8), rules_url="", auto_accept_resolver=ALICE))

    assert (oracle.fee_percent, oracle.fixed_fee, oracle.rules_url, oracle.auto_accept_resolver) == (0, 8, "", ALICE)
    assert markets.account(ORACLE).balance == RICH


ACCEPT = PmOracleAcceptMarket(
    oracle=ORACLE, market_id=0, accept=True, oracle_fee_percent=300, oracle_fixed_fee=tokens(40), extensions=()
)
