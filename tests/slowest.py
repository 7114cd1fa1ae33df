"""The files and folders whose tests take longest, the longest first: a run begins with them, so that its processes end
together.
"""

from __future__ import annotations

from pathlib import Path

SLOWEST = (
    "docs/test_wallet.py",
    "packaging/",
    "sim/test_wedges.py",
    "docs/test_signer.py",
    "chain/test_recorded_chains.py",
    "node/test_wedge.py",
    "attack/test_short_form.py",
    "node/test_lifecycle.py",
    "sim/test_world.py",
    "adopt/test_adoption.py",
    "house/",
    "chain/test_undo_is_identity.py",
    "chain/test_kills.py",
    "sim/test_signers.py",
    "docs/test_validators.py",
    "node/metering/test_part.py",
    "node/datadir/test_opening.py",
    "sim/test_doppelganger.py",
    "node/parts/test_snapshots.py",
    "snapshot/test_export.py",
    "snapshot/test_round_trip.py",
    "sim/test_hostiles.py",
    "rpc/api/test_recorded_answers.py",
    "history/test_kills.py",
    "monitoring/test_rules.py",
    "rpc/test_worker_restarts.py",
    "protocol/test_recorded_transactions.py",
    "producer/test_thousand_slots.py",
    "bench/test_market_rows.py",
    "node/dev/test_development.py",
    "node/test_kills.py",
    "rpc/test_workers.py",
    "chain/steps/markets/test_interruptions.py",
    "rpc/http/page/test_page_in_chromium.py",
    "snapshot/test_load.py",
    "node/test_operating_document.py",
    "node/parts/test_bootstrap.py",
    "rpc/test_api_docs.py",
    "docs/test_debugging.py",
    "chain/steps/markets/test_cuts.py",
    "docs/test_markets.py",
    "node/parts/test_peers.py",
    "node/dev/test_markets.py",
    "p2p/test_beside_the_reference.py",
    "chain/offline/test_invariants.py",
    "node/testnet/test_five_nodes.py",
    "history/test_every_byte.py",
    "docs/test_agents.py",
    "cli/test_testnet.py",
    "cli/debug/test_states.py",
    "chain/test_probes.py",
    "node/test_supervision.py",
    "chain/forks/test_choice.py",
    "chain/test_former_states.py",
    "fuzz/test_targets.py",
    "fuzz/test_corpus.py",
    "doctor/test_faults.py",
    "node/parts/watching/recovery/test_replacement.py",
    "monitoring/test_scraping.py",
    "compare/test_comparison.py",
    "history/test_soundness.py",
    "chain/rules/market_records/test_following.py",
    "node/test_logs.py",
    "cli/test_chain_commands.py",
    "node/parts/watching/recovery/test_audit_part.py",
    "cli/test_snapshot_command.py",
    "sim/test_activations.py",
    "rpc/api/history/test_stream.py",
    "snapshot/test_build.py",
    "history/test_full_disk.py",
    "chain/offline/test_market_books.py",
    "chain/log/test_rolling.py",
    "docs/test_network.py",
    "chain/log/test_repair.py",
    "long_runs/test_simulations.py",
    "long_runs/test_command.py",
    "clients/test_viz_js_lib.py",
    "cli/test_doctor.py",
    "history/test_recorded_histories.py",
    "node/test_sync.py",
    "docs/test_agent_endings.py",
    "clients/test_examples.py",
    "clients/test_viz_python_lib.py",
    "history/test_rebuild.py",
    "clients/test_viz_js_markets.py",
    "state/test_copying.py",
    "state/test_conversion.py",
)
"""As measured; a file that is missing here is only run later. What begins with replays stands behind those that make
them."""

_PLACES = {name: place for place, name in enumerate(SLOWEST)}
_TESTS = Path(__file__).parent


def place_of(file: Path) -> int:
    """When the tests of a file are run: those of smaller numbers are run first."""
    name = file.relative_to(_TESTS).as_posix()
    return _PLACES.get(f"{name.partition('/')[0]}/", _PLACES.get(name, len(SLOWEST)))
