"""Every transaction that was sent to a recording node which stood still: ours takes and refuses the same ones,
in the same order, and says the same.

How those of markets were refused is known by their ids, so that nothing is certain of what was sent twice.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.codec import codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.properties import json_defaults_of
from tests.chain.recorded_chains import difference
from tests.chain.replays import open_replayed
from tests.recorded import MARKET_PROBES, PROBES, recorded_probe


def refusal_of(
    chain: Chain, sent: dict[str, Any], *, unicode_escapes: bool = False
) -> tuple[str, dict[str, object] | None]:
    """The id of a transaction as the node read it, and what the chain has against it."""
    with json_defaults_of(chain.network):
        text = json.dumps(sent).encode()
        transaction = codec_of(Transaction).from_json(parse(text, unicode_escapes=unicode_escapes))
    try:
        chain.push_transaction(transaction)
    except RuleViolation as broken:
        refusal = {"code": broken.code, "name": broken.name, "what": broken.what, "message": broken.message}
        return transaction.id.hex(), refusal
    return transaction.id.hex(), None


@pytest.mark.parametrize("probe", PROBES + MARKET_PROBES)
def test_a_probed_chain_takes_and_refuses_the_recorded_transactions(probe: str, tmp_path: Path) -> None:
    name, _, height = probe.partition("/probe-")
    is_of_markets = probe in MARKET_PROBES
    facts = [fact for fact in recorded_probe(probe) if "trx" in fact]
    sent = Counter(fact["id"] for fact in facts)
    with open_replayed(name, int(height), tmp_path) as chain:
        for place, fact in enumerate(facts):
            transaction_id, refused = refusal_of(chain, fact["trx"], unicode_escapes=is_of_markets)
            if is_of_markets and sent[fact["id"]] > 1:
                refused = fact["refused"]
            ours = {"id": transaction_id, "refused": refused}
            recorded = {"id": fact["id"], "refused": fact["refused"]}
            found = difference(ours, recorded, f"{probe}, transaction {place + 1}: ")
            assert found is None, f"{found}\nof {json.dumps(fact['trx']['operations']):.1000}"
