from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.codec import codec_of
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets import bets, disputes, leverage, liquidity, markets, oracles
from ledgerd.protocol.operations.variant import declared_in
from tests.chain.ledgers import refuses
from tests.chain.market_scenes import NOT_ENABLED, market_ledger

FAMILIES = (oracles, markets, bets, disputes, liquidity, leverage)
OPERATIONS = [kind for family in FAMILIES for kind in declared_in(family)]


@pytest.mark.parametrize("kind", OPERATIONS)
def test_there_are_no_markets_before_hardfork_14(kind: type[Operation], tmp_path: Path) -> None:
    """That is the first thing that is asked, whatever else is wrong."""
    nothing = codec_of(kind).from_json({})

    refuses(market_ledger(tmp_path / "13", hardfork=13), nothing, NOT_ENABLED)
    message = refusal_of(market_ledger(tmp_path / "14", hardfork=14), nothing)
    assert message != NOT_ENABLED


def refusal_of(ledger: Ledger, operation: Operation) -> str:
    with ledger.store.begin(), pytest.raises(RuleViolation) as refusal:
        apply_operation(ledger, operation)
    return refusal.value.message


def test_these_are_all_of_their_families() -> None:
    assert len(OPERATIONS) == 23
