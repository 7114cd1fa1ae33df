"""Bans that are over (spec 09, section 5.13)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.virtual_markets import PmBanExpired
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.markets.disputes import PM_CREATOR_BANS, PmCreatorBan
from ledgerd.state.objects.markets.oracles import PmOracle
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, set_median
from tests.chain.market_scenes import ORACLE, create_market, create_oracle
from tests.chain.steps.markets.market_blocks import next_block, this_block


def ban_creator(ledger: Ledger, until: int) -> PmCreatorBan:
    return ledger.store.create(PM_CREATOR_BANS, PmCreatorBan(creator=ALICE, banned_until=until, banned_by=BOB))


def banned_oracles(ledger: Ledger) -> list[PmOracle]:
    return [create_oracle(ledger, name, banned_until=NOW, banned_by=CAROL) for name in (ORACLE, BOB, ALICE)]


def test_oracles_come_before_creators_and_of_equal_times_the_first_to_have_it(markets: Ledger) -> None:
    create_market(markets)
    ban = ban_creator(markets, NOW - 5)
    first, second, _ = banned_oracles(markets)
    for oracle in (first, second):
        change(markets, oracle, banned_until=LATEST)
        change(markets, oracle, banned_until=NOW)

    assert this_block(markets) == [
        PmBanExpired(ALICE, oracle=True, creator=False),
        PmBanExpired(ORACLE, oracle=True, creator=False),
        PmBanExpired(BOB, oracle=True, creator=False),
        PmBanExpired(ALICE, oracle=False, creator=True),
    ]
    assert (first.banned_until, first.banned_by, ban.banned_until, ban.banned_by) == (0, NO_NAME, 0, NO_NAME)
    assert this_block(markets) == []


def test_a_ban_ends_at_its_time_and_one_for_ever_does_not(markets: Ledger) -> None:
    create_market(markets)
    ban_creator(markets, NOW + 1)
    create_oracle(markets, banned_until=LATEST)

    assert this_block(markets) == []
    assert next_block(markets, 1) == [PmBanExpired(ALICE, oracle=False, creator=True)]


def test_bans_have_turns_of_their_own_which_both_kinds_share(markets: Ledger) -> None:
    for _ in range(2):
        create_market(markets, status=0, accept_deadline=1)
    ban_creator(markets, NOW)
    banned_oracles(markets)
    set_median(markets, pm_processing_cap_per_block=2)

    lifted = [
        [each for each in block if isinstance(each, PmBanExpired)]
        for block in (this_block(markets), next_block(markets))
    ]

    assert [[(each.oracle, each.creator) for each in block] for block in lifted] == [
        [(True, False), (True, False)],
        [(True, False), (False, True)],
    ]
