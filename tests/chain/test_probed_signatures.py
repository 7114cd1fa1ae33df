"""Of the transactions that were sent to recording nodes which stood still, ours refuses those for their signatures
that they refused, in the same words. What operations of markets would change, and proposals of them, is left out.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.pending.pending import Pending
from ledgerd.chain.rules.transactions.transactions import check_transaction
from ledgerd.codec import codec_of
from ledgerd.codec.legacy_json import parse
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.base import tag_of
from ledgerd.protocol.properties import json_defaults_of
from ledgerd.protocol.transaction import Transaction
from tests.chain.imported import imported_state
from tests.chain.recorded_chains import difference
from tests.recorded import recorded_probe

NOT_CARRIED_OUT = {*range(22, 25), *range(66, 105)}
"""The tags of operations on proposals and markets."""

SIGNATURES = range(3_000_000, 3_100_000)
"""The codes of what can be wrong with signatures."""

PROBES = ("open-pm/probe-1200", "open-pm/probe-2027", "open-main15/probe-1216")


def refusal(ledger: Ledger, pending: Pending, transaction: Transaction) -> dict[str, object] | None:
    """What the chain has against a transaction, which takes effect if it may."""
    try:
        if any(tag_of(type(each)) in NOT_CARRIED_OUT for each in transaction.operations):
            check_transaction(ledger, transaction, Skip.NOTHING)
        else:
            pending.push(transaction, Skip.NOTHING)
    except RuleViolation as broken:
        return {"code": broken.code, "name": broken.name, "what": broken.what, "message": broken.message}
    return None


def is_of_signatures(refused: dict[str, object] | None) -> bool:
    return refused is not None and refused["code"] in SIGNATURES


@pytest.mark.parametrize("probe", PROBES)
def test_the_recorded_transactions_are_refused_for_their_signatures(probe: str, tmp_path: Path) -> None:
    name, _, height = probe.partition("/probe-")
    met: Counter[object] = Counter()
    with imported_state(name, int(height), tmp_path) as ledger:
        pending = Pending(ledger, time.monotonic)
        for place, fact in enumerate(recorded_probe(probe)):
            # Of what a node could not even write down there is no transaction.
            if "trx" not in fact:
                continue
            ours, refused = refusal(ledger, pending, read(ledger, fact["trx"])), fact["refused"]
            if is_of_signatures(ours) or is_of_signatures(refused):
                met[(refused or {}).get("code")] += 1
                found = difference(ours, refused, f"{probe}, line {place + 1}: ")
                assert found is None, f"{found}\nof {json.dumps(fact['trx']['operations']):.1000}"
    assert met.keys() == {3_010_000, 3_020_000, 3_030_000, 3_050_000}


def read(ledger: Ledger, sent: dict[str, Any]) -> Transaction:
    with json_defaults_of(ledger.network):
        transaction: Transaction = codec_of(Transaction).from_json(parse(json.dumps(sent, ensure_ascii=False).encode()))
    return transaction
