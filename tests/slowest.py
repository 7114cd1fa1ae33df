"""The files whose tests take longest, the longest first: a run begins with them, so that its processes end together."""

from __future__ import annotations

from pathlib import Path

SLOWEST = (
    "sim/test_wedges.py",
    "attack/test_short_form.py",
    "chain/test_recorded_chains.py",
    "node/test_lifecycle.py",
    "node/test_wedge.py",
    "node/parts/test_bootstrap.py",
    "node/parts/test_snapshots.py",
    "rpc/test_worker_restarts.py",
    "docs/test_debugging.py",
    "chain/test_kills.py",
    "sim/test_world.py",
    "producer/test_thousand_slots.py",
    "node/dev/test_development.py",
    "rpc/http/page/test_page_in_chromium.py",
    "chain/steps/markets/test_cuts.py",
    "sim/test_hostiles.py",
    "sim/test_doppelganger.py",
    "packaging/test_entry.py",
    "chain/test_undo_is_identity.py",
    "chain/test_probes.py",
    "state/test_conversion.py",
    "protocol/test_recorded_transactions.py",
    "packaging/test_build.py",
    "rpc/api/test_recorded_answers.py",
    "chain/log/test_repair.py",
    "long_runs/test_command.py",
    "chain/forks/test_choice.py",
    "chain/offline/test_invariants.py",
    "node/testnet/test_five_nodes.py",
    "docs/test_markets.py",
    "chain/test_former_states.py",
    "chain/log/test_rolling.py",
    "snapshot/test_round_trip.py",
    "node/test_operating_document.py",
    "clients/test_examples.py",
    "monitoring/test_scraping.py",
    "p2p/test_beside_the_reference.py",
    "rpc/api/history/test_stream.py",
    "docs/test_validators.py",
    "cli/test_testnet.py",
    "node/datadir/test_opening.py",
    "history/test_rebuild.py",
    "chain/steps/markets/test_interruptions.py",
    "clients/test_viz_python_lib.py",
    "node/test_sync.py",
    "snapshot/test_build.py",
    "node/test_kills.py",
    "node/parts/test_peers.py",
    "clients/test_viz_js_lib.py",
    "snapshot/test_load.py",
    "rpc/test_workers.py",
    "node/metering/test_part.py",
    "snapshot/test_export.py",
    "monitoring/test_rules.py",
    "node/test_logs.py",
    "history/test_every_byte.py",
    "history/test_kills.py",
    "clients/test_viz_js_markets.py",
    "packaging/test_docs.py",
    "rpc/test_api_docs.py",
    "state/test_copying.py",
    "house/test_log_terms.py",
    "cli/test_doctor.py",
    "house/test_used.py",
    "house/test_one_way_in.py",
    "house/test_inner_rooms.py",
    "node/test_supervision.py",
    "docs/test_network.py",
)
"""As measured; a file that is missing here is only run later. What begins with replays stands behind those that make
them."""

_PLACES = {Path(__file__).parent / name: place for place, name in enumerate(SLOWEST)}


def place_of(file: Path) -> int:
    """When the tests of a file are run: those of smaller numbers are run first."""
    return _PLACES.get(file, len(SLOWEST))
