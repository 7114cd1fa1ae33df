"""A state that 4.1.0 wrote comes in, and goes out again as it was: header, order of sections, and every record.

A usual run takes every second or third of the states of three chains;
`EVERY_CHAIN=1 scripts/test tests/snapshot/test_round_trip.py` takes each.
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.offline.audit import tally_of
from ledgerd.codec import codec_of
from ledgerd.projections.kept import KeptProjections
from ledgerd.projections.tables.market_records import PM_LABEL_COUNTS, PM_RECORDS_SINCE
from ledgerd.protocol.blocks.block import Block
from ledgerd.snapshot.file.export import Occasion, export
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from tests.chain.recorded_chains import LATER_STATES, MARKET_STATES, difference, network_of
from tests.recorded import LATER_CHAIN
from tests.snapshot.recorded import market_document, packed, text_of

RESIDUALS = {
    ("open-pm", 60): 291,
    ("open-pm", 300): 21_066,
    ("open-pm", 700): 42_045,
    ("open-pm", 1200): 42_045,
    ("open-pm", 2027): 49_883,
    ("open-pm2", 463): 2_663,
    (LATER_CHAIN, 2742): 788,
    (LATER_CHAIN, 2852): 788,
    (LATER_CHAIN, 3002): 12_325,
    (LATER_CHAIN, 3152): 12_325,
}
"""What fixed awards, and positions that were closed above what they had bet, have made from nothing."""

CUT = "open-big"
STEPS = {} if "EVERY_CHAIN" in os.environ else {CUT: 3, "open-pm": 2, LATER_CHAIN: 3}
STATES = {**MARKET_STATES, LATER_CHAIN: LATER_STATES}
RECORDED = [(name, height) for name, heights in STATES.items() for height in heights[:: STEPS.get(name, 1)]]

CHANGED_BY_AN_IMPORT = (
    "last_irreversible_block_num",
    "last_irreversible_block_id",
    "last_irreversible_block_ref_num",
    "last_irreversible_block_ref_prefix",
    "pm_frozen_counters_seeded",
    "pm_frozen_counters_reseeded_v1",
    "pm_active_markets_seeded",
    "pm_oracle_gauges_seeded",
)
"""Of the global properties: whoever imports stands on the head, and the next block says that markets are counted."""


def compared(document: dict[str, Any]) -> dict[str, Any]:
    """What an import keeps."""
    globals_ = document["state"]["dynamic_global_property"][0]
    for name in CHANGED_BY_AN_IMPORT:
        del globals_[name]
    for name in ("snapshot_creation_time", "payload_checksum", "last_irreversible_block_num"):
        document["header"][name] = ""
    return document


@pytest.mark.parametrize(("name", "height"), RECORDED)
def test_a_recorded_state_goes_out_as_it_came_in(tmp_path: Path, name: str, height: int) -> None:
    document, network = market_document(name, height), network_of(name)
    file, residual = BytesIO(), RESIDUALS.get((name, height), 0)
    header = {"chain_id": network.chain_id.hex(), "object_counts": document["header"]["object_counts"]}
    with Store.open(tmp_path, STORED_TABLES) as store:
        load(store, Snapshot.from_bytes(packed(document["state"], **header)), network, residual)
        block = codec_of(Block).from_json(document["state"]["fork_db_head_block"])
        exported = export(store, file, Occasion(network.chain_id, 0, block))
        assert tally_of(store).terms == exported.tally.terms
    assert exported.tally.excess == residual
    ours = json.loads(text_of(file.getvalue()))
    assert difference(compared(ours), compared(document)) is None


@pytest.mark.parametrize(("name", "height"), [("open-pm", 2027), ("open-main15", 1216)])
def test_the_metadata_of_markets_goes_out_as_it_came_in_where_it_is_kept(
    tmp_path: Path, name: str, height: int
) -> None:
    document, network = market_document(name, height, with_metadata=True), network_of(name)
    header = {"chain_id": network.chain_id.hex(), "object_counts": document["header"]["object_counts"]}
    file, residual = packed(document["state"], **header), RESIDUALS.get((name, height), 0)
    block = codec_of(Block).from_json(document["state"]["fork_db_head_block"])
    sections = {}
    for is_kept in (True, False):
        written = BytesIO()
        folder = tmp_path / str(is_kept)
        with Store.open(folder, STORED_TABLES) as store, KeptProjections(folder) as projections:
            kept = projections if is_kept else None
            load(store, Snapshot.from_bytes(file), network, residual, kept)
            metadata = projections.store if is_kept else None
            export(store, written, Occasion(network.chain_id, 0, block, projections=metadata))
            since = projections.store.find(PM_RECORDS_SINCE, 0)
            assert (since.block if since else None) == (height + 1 if is_kept else None)
            assert projections.store.count(PM_LABEL_COUNTS) > 0 or not is_kept
        sections[is_kept] = json.loads(text_of(written.getvalue()))["state"]
    assert document["state"]["pm_market_meta"]
    assert sections[True]["pm_market_meta"] == document["state"]["pm_market_meta"]
    assert list(sections[True])[-2:] == ["pm_market_meta", "fork_db_head_block"]
    assert "pm_market_meta" not in sections[False]
