"""Modules of the source that have no test module of their own name, with what proves them and why that is right."""

from __future__ import annotations

from tests.house.without_twin_clients import CLIENTS
from tests.house.without_twin_group import Group

GROUPS = (
    *CLIENTS,
    Group(
        "sections of the block's market step: proven by recorded chains that reach them, and by worked settlements",
        (
            "chain/test_recorded_chains.py",
            "chain/steps/markets/test_settling.py",
            "chain/steps/markets/test_refunding.py",
        ),
        """
        chain/steps/markets/missed_resolution chain/steps/markets/payouts chain/steps/markets/settlement
        chain/steps/markets/slashing
        """,
    ),
    Group(
        "the rules that market operations share before any state is known, and the versions of properties: proven by "
        "the operations and properties that have them",
        ("protocol/operations", "protocol/test_properties.py"),
        "protocol/market_rules protocol/property_versions",
    ),
    Group(
        "sums and former layouts: proven by the audit and by the conversion that use them",
        ("chain/offline/test_invariants.py", "chain"),
        "chain/offline/tokens state/objects/former",
    ),
    Group(
        "what a part shows of itself: it is proven with parts that end, since without one there is nothing to show",
        ("supervision/test_work.py", "node/test_supervision.py", "rpc/test_worker_restarts.py"),
        """
        supervision/health supervision/main_loop supervision/part
        """,
    ),
    Group(
        "tables of one shape, which are proven alike for all of them; what their rows mean is proven where rules write",
        ("state/objects/test_declarations.py", "state/objects/test_orders.py", "chain/evaluators"),
        """
        state/objects/awards state/objects/bets state/objects/chain_properties state/objects/commitments
        state/objects/committee state/objects/content state/objects/custom_protocols state/objects/discrepancies
        state/objects/disputes state/objects/escrow state/objects/hardfork state/objects/invites
        state/objects/key_references state/objects/lazy_pool state/objects/leverage state/objects/leverage_ends
        state/objects/liquidity state/objects/oracles state/objects/paid_subscriptions state/objects/proposals
        state/objects/recovery state/objects/reversible state/objects/settlements state/objects/transactions
        state/objects/vesting
        """,
    ),
    Group(
        "options of one shape: names, defaults, errors and records are proven alike for all of them",
        (
            "node/config/options/test_declaration.py",
            "node/config/options/test_sections.py",
            "node/test_wrong_values.py",
        ),
        """
        node/config/options/application node/config/options/chain node/config/options/explorer
        node/config/options/history node/config/options/invocation node/config/options/metrics
        node/config/options/p2p node/config/options/prediction_market node/config/options/snapshot
        node/config/options/testnet_plugin node/config/options/validator node/config/options/validator_guard
        node/config/options/webhooks node/config/options/webserver
        """,
    ),
    Group(
        "the inside of reading a configuration: proven by what comes of files and command lines",
        (
            "node/config/test_configuration.py",
            "node/config/test_templates.py",
            "node/config/values",
            "cli/test_node.py",
        ),
        """
        node/config/given node/config/network node/config/reading node/config/text node/config/values/key_values
        """,
    ),
    Group(
        "parts of the compiler of codecs: no part does anything alone, and the whole is compared with recorded bytes",
        ("codec/test_records.py", "codec/test_limits.py", "codec/test_transcripts.py", "protocol/test_round_trips.py"),
        """
        codec/annotations codec/codec codec/containers codec/kinds codec/lazy codec/numbers codec/source
        codec/strings codec/variants
        """,
    ),
    Group(
        "parts of the grammar of the network's JSON, which is compared with recorded texts as a whole",
        ("codec/test_legacy_json.py", "fuzz"),
        "codec/legacy_reader codec/legacy_words",
    ),
    Group(
        "what the protocol's types are built from: proven by the types, against recorded blocks and transactions",
        (
            "protocol/test_recorded_blocks.py",
            "protocol/test_recorded_transactions.py",
            "protocol/test_spec_vectors.py",
            "protocol/operations",
        ),
        """
        protocol/amounts protocol/authority protocol/block protocol/hashing protocol/identifiers
        protocol/operations/base protocol/texts protocol/times protocol/transaction
        """,
    ),
    Group(
        "rules that evaluators share: each is proven by the operations that ask for it, and by recorded chains",
        ("chain/evaluators", "chain/test_recorded_chains.py", "chain/offline/test_invariants.py"),
        """
        chain/rules/accounts/account_sales chain/rules/accounts/anonymous_accounts chain/rules/accounts/authorities
        chain/rules/accounts/bandwidth chain/rules/accounts/energy chain/rules/accounts/metadata
        chain/rules/accounts/new_accounts chain/rules/money/balances chain/rules/money/content_tree
        chain/rules/money/rewards chain/rules/money/vesting chain/rules/validators/removal
        chain/rules/validators/slots chain/rules/validators/votes
        """,
    ),
    Group(
        "the paying of content: proven by the step that asks for it",
        ("chain/steps/test_content_payout.py", "chain/migrations/test_hf4.py"),
        "chain/rules/money/content_payout",
    ),
    Group(
        "what all rules stand on: proven by every evaluator and step, and by undo and recorded chains",
        ("chain/evaluators", "chain/steps", "chain/test_undo_is_identity.py", "chain/test_recorded_chains.py"),
        """
        chain/ledger/arithmetic chain/ledger/block_context chain/ledger/discrepancies chain/ledger/evaluation
        chain/ledger/ledger chain/ledger/skip chain/rules/transactions/transactions chain/steps/applying
        chain/steps/transactions
        """,
    ),
    Group(
        "the step hands over to the table of hardforks, which is proven",
        ("chain/migrations/test_hardforks.py",),
        "chain/steps/hardforks",
    ),
    Group(
        "the inside of the chain: proven through the chain itself, by its forks and what waits for a block",
        ("chain/test_chain.py", "chain/forks", "chain/test_probes.py", "p2p"),
        """
        chain/forks/blocks chain/forks/trunk chain/pending/generation chain/pending/pending
        """,
    ),
    Group(
        "files of logs: proven by the two logs that are made of them, and by kills",
        (
            "chain/log/test_block_log.py",
            "chain/log/test_rolling.py",
            "chain/log/test_repair.py",
            "chain/test_kills.py",
        ),
        "chain/log/files chain/log/places chain/log/sums",
    ),
    Group(
        "what a state says of its log: proven by the logs that are opened with it",
        ("chain/log/test_opening.py", "chain/log/test_keeping.py"),
        "chain/log/standing",
    ),
    Group(
        "what a history can be asked: an interface, proven by the one that implements it",
        ("history/test_against_model.py", "history/test_recorded_histories.py"),
        "chain/log/histories",
    ),
    Group(
        "the checks and the replay of a whole state: proven by what they find and make",
        ("chain/offline/test_invariants.py", "chain/test_kills.py", "history/test_rebuild.py", "cli"),
        "chain/offline/audit chain/offline/reapply chain/offline/replay",
    ),
    Group(
        "what a signer asks of its operator and of the system: proven with signers that run",
        ("signer/test_process.py", "signer/test_planted_key.py", "docs/test_signer.py"),
        "cli/signer supervision/undumpable",
    ),
    Group(
        "commands: proven as their users run them, several in one test",
        (
            "cli/test_chain_commands.py",
            "cli/test_snapshot_command.py",
            "cli/test_history_command.py",
            "cli/test_markets_command.py",
            "cli/test_main.py",
        ),
        """
        cli/check cli/data_directory cli/dev cli/history cli/markets cli/node_arguments cli/progress cli/rebuilding
        cli/past_state cli/replay cli/snapshot cli/state
        """,
    ),
    Group(
        "the command that makes records of markets again: proven by running it",
        ("cli/test_markets_command.py",),
        "node/datadir/market_rebuild",
    ),
    Group(
        "the state's files of a node: proven by starts, imports and exports of whole nodes",
        ("node/datadir/test_opening.py", "node/parts/test_bootstrap.py", "cli/test_snapshot_command.py"),
        "node/datadir/state_export node/datadir/state_files node/datadir/state_import",
    ),
    Group(
        "parts of a node and their runtime: proven by nodes that run, which is all that they are for",
        ("node/test_parts.py", "node/test_lifecycle.py", "node/test_history.py", "node/test_sync.py", "node/parts"),
        """
        node/parts/past/records node/parts/replaying node/parts/webserver node/runtime node/workers/api_worker
        node/workers/beside/history_feeder node/workers/settings
        """,
    ),
    Group(
        "the part that waits for the assumed block: proven by a node that is killed and goes back",
        ("node/test_assume_valid.py",),
        "node/parts/watching/recovery/assumption_part",
    ),
    Group(
        "the development node: proven as its users run it",
        ("node/dev/test_development.py", "clients/test_examples.py"),
        "node/dev/founding node/dev/snapshots",
    ),
    Group(
        "networks on one machine: proven by networks that run",
        ("node/testnet/test_founding.py", "node/testnet/test_plan.py", "node/testnet/test_five_nodes.py"),
        "node/testnet/files node/testnet/network",
    ),
    Group(
        "one conversation in several files: proven by scripted talks, hostile peers and simulated networks, as peers "
        "see it",
        (
            "p2p/test_conversations.py",
            "p2p/test_blocks_and_transactions.py",
            "p2p/test_connections.py",
            "p2p/test_hostile.py",
            "sim",
        ),
        """
        p2p/dialogue p2p/network_state p2p/shared/bans p2p/shared/batches p2p/shared/core p2p/shared/peer
        p2p/sync/admission p2p/sync/commits p2p/sync/fork_tracking p2p/sync/intake p2p/sync/sync_ranges
        p2p/sync/watch p2p/talk/mempool p2p/talk/peer_exchange p2p/talk/relay p2p/wire/endpoints
        """,
    ),
    Group(
        "what drives the producer's decision: proven by producers in virtual time",
        (
            "producer/test_thousand_slots.py",
            "producer/test_double_sign.py",
            "node/parts/validators/test_guard.py",
            "sim",
        ),
        "producer/clock producer/guard_facts producer/loop",
    ),
    Group(
        "families of the doctor's checks: each prepared fault is named by the whole examination, and nothing else is",
        ("doctor/test_faults.py", "docs/test_doctor.py", "cli/test_doctor.py"),
        """
        doctor/clock doctor/configuration doctor/disk doctor/examination doctor/finding doctor/keys doctor/ledger
        doctor/machine doctor/patient doctor/peers doctor/ports doctor/service node/datadir/patient
        """,
    ),
    Group(
        "their tests stand beside those of what they serve",
        ("producer/test_ntp.py", "producer/test_network_of_one.py"),
        "producer/ntp_client producer/testnet_start",
    ),
    Group(
        "what is kept of markets beside the ledger: proven over recorded chains, forks and kills, and by the answers",
        (
            "projections/markets/test_records.py",
            "projections/markets/test_metadata.py",
            "rpc/api/prediction_market/test_recorded_markets.py",
        ),
        """
        projections/markets/klines projections/markets/open_books
        projections/markets/places state/objects/market_records
        """,
    ),
    Group(
        "client and server of snapshots: proven against each other, over sockets",
        ("snapshot/test_exchange.py", "snapshot/test_peer_table.py"),
        "snapshot/client snapshot/server snapshot/served_file",
    ),
    Group(
        "the steps from a file to a state and back: proven by files that are built, exported and recorded",
        ("snapshot/test_build.py", "snapshot/test_export.py", "snapshot/test_jobs.py", "snapshot/test_read.py"),
        "snapshot/create snapshot/job snapshot/sections",
    ),
    Group(
        "declarations of metrics: proven for all families alike",
        ("metrics/test_families.py", "metrics/test_document.py"),
        """
        metrics/table/chain metrics/table/peers metrics/table/process metrics/table/requests metrics/table/storage
        metrics/table/validators metrics/table/webhooks
        """,
    ),
    Group(
        "what processes count and serve: proven over nodes that run, as who scrapes them meets them",
        ("node/metering/test_part.py", "metrics/test_layout.py"),
        "node/workers/known_methods node/workers/metrics_worker node/workers/worker_metrics",
    ),
    Group(
        "questions to two nodes: proven over nodes of recorded chains, one of which may lie",
        ("compare/test_comparison.py", "compare/test_hostile_nodes.py"),
        """
        cli/compare client/timely compare/asking compare/blocks compare/difference compare/errors compare/heads
        compare/node compare/pace compare/reads compare/seen
        """,
    ),
    Group(
        "moving in: proven by directories that are adopted as a whole",
        ("adopt/test_adoption.py",),
        "adopt/history adopt/vizd_directory cli/adopt",
    ),
    Group(
        "a hand-over over nodes that run: the loop around what is read of them",
        ("sim/test_handovers.py", "adopt/test_handover.py", "docs/test_moving.py"),
        "adopt/handover_walk cli/handover",
    ),
)
