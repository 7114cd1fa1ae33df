"""Modules of the source that have no test module of their own name, with what proves them and why that is right."""

from __future__ import annotations

from typing import NamedTuple


class Group(NamedTuple):
    """Modules that are without a twin for one reason."""

    why: str
    proven_by: tuple[str, ...]
    """Tests or folders of tests, below `tests/`."""
    modules: str
    """Paths below `src/ledgerd/`, without their ending."""


GROUPS = (
    Group(
        "an API node as processes: run behind nginx, with a node that it sends broadcasts to",
        ("docs/test_api_nodes.py", "cli/test_api.py"),
        "node/workers/api_node/process node/workers/api_node/settings",
    ),
    Group(
        "the history of a directory, missing and there: asked through the service of a worker",
        ("node/workers/api_node/test_worker.py",),
        "node/workers/api_node/past",
    ),
    Group(
        "the subscribers of a worker: proven through its link, and through what follows a directory",
        ("rpc/link/test_link.py", "node/workers/api_node/test_following.py"),
        "rpc/link/subscribers",
    ),
    Group(
        "the two ends of a replica's connection, and what they write: proven with recorded chains, by states that are "
        "equal byte for byte, by strangers and by nonsense",
        ("replica/test_following.py", "replica/test_serving.py", "replica/test_process.py"),
        """
        node/workers/beside/replica_server replica/conversation replica/hub replica/logged replica/node_digest
        replica/order replica/part replica/server replica/source replica/state_copy
        """,
    ),
    Group(
        "pages of the explorer: each is drawn over recorded chains, and its figures are compared with the answers",
        ("explorer/test_recorded_pages.py", "explorer/pages/test_answering.py", "explorer/test_in_chromium.py"),
        """
        explorer/pages/assets_served explorer/pages/betting/markets explorer/pages/betting/pictures
        explorer/pages/community/committee explorer/pages/community/invites explorer/pages/community/proposals
        explorer/pages/community/subscriptions explorer/pages/community/validators explorer/pages/drawing
        explorer/pages/every explorer/pages/ledger/blocks explorer/pages/ledger/front explorer/pages/ledger/search
        explorer/pages/people/accounts explorer/pages/people/history explorer/pages/view
        """,
    ),
    Group(
        "what browsers meet: proven over connections of a whole site",
        ("explorer/serving/test_connection.py",),
        "explorer/serving/bounds explorer/serving/headers explorer/serving/plain explorer/serving/visitors",
    ),
    Group(
        "declarations without a rule, and what starts them: the command is run as a process",
        ("cli/test_explorer.py", "node/parts/clients/test_explorer.py"),
        "explorer/settings explorer/process node/workers/beside/explorer_worker",
    ),
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
        "records, errors and words alone: there is nothing in them to call but what reads and writes them",
        ("codec/test_records.py", "node/config/options/test_declaration.py", "p2p/wire/test_messages.py", "rpc"),
        """
        codec/errors codec/json_errors history/errors history/interface history/settings metrics/settings
        node/config/values/kind node/config/values/public_nodes p2p/shared/actions p2p/shared/settings
        p2p/wire/faults pricing/errors producer/outcome producer/peers producer/settings protocol/block_exceptions
        protocol/endpoint protocol/errors protocol/extensions rpc/api/database_api/declared rpc/call/asker
        rpc/call/limits rpc/link/topics rpc/settings snapshot/errors snapshot/settings snapshot/terms
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
        "the process that holds a wallet's keys, and what goes to and from it: proven with such processes",
        ("wallet/keys/test_session.py", "wallet/keys/test_wallet_file.py", "wallet/test_command_line.py"),
        """
        wallet/arguments/keys wallet/commands/keys wallet/keys/contents wallet/keys/entry wallet/keys/hardening
        wallet/keys/keeper wallet/keys/messages wallet/keys/secret_input
        """,
    ),
    Group(
        "what commands do, and their arguments: proven by commands, on a chain and in processes of their own",
        ("wallet/test_on_a_chain.py", "wallet/test_command_line.py", "wallet/test_exit_codes.py"),
        """
        cli/wallet wallet/arguments/common wallet/arguments/every_command wallet/arguments/outcome
        wallet/arguments/transactions wallet/commands/agents wallet/commands/asking wallet/commands/files
        wallet/commands/memos wallet/commands/proposals wallet/commands/result wallet/commands/show wallet/errors
        wallet/transactions/memos
        """,
    ),
    Group(
        "the arguments of these commands: proven by the guide for validators, which is done as it says",
        ("docs/test_validators.py", "wallet/commands/test_validators.py"),
        "wallet/arguments/validators",
    ),
    Group(
        "what is remembered of a chain: proven by the checks that compare nodes with it",
        ("wallet/node/test_checks.py",),
        "wallet/node/seen",
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
        cli/replay cli/snapshot cli/state
        """,
    ),
    Group(
        "parts of the embedded history: proven by a model of plain lists that they are compared with",
        (
            "history/test_against_model.py",
            "history/test_soundness.py",
            "history/test_reader.py",
            "history/test_kills.py",
        ),
        """
        history/account_rows history/block_rows history/embedded history/former_pieces history/log_bytes
        history/pieces history/selection history/tables history/view history/walks
        """,
    ),
    Group(
        "the history in PostgreSQL: proven by the same model, and by the recorded answers of all chains",
        (
            "history/postgres/test_feeder.py",
            "history/postgres/test_recorded_chains.py",
            "history/postgres/test_balances.py",
        ),
        """
        history/balances history/kept_facts history/postgres/errors history/postgres/news history/postgres/queries
        history/postgres/rows history/postgres/source
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
        "an archive: proven by directories that fetch theirs from a server or a peer, and by nodes that write one",
        ("archive/test_fetching.py", "archive/test_serving.py", "archive/test_writer.py"),
        """
        archive/checking archive/errors archive/known archive/listing archive/peers archive/sealed archive/web
        cli/archive node/parts/past/archiving
        """,
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
        "methods of APIs: proven by recorded answers and errors of the reference, all methods in one place",
        (
            "rpc/api/test_recorded_answers.py",
            "rpc/api/test_recorded_errors.py",
            "rpc/api/test_small_ledgers.py",
            "rpc/api/test_unrecorded.py",
            "rpc/api/test_agent_answers.py",
            "rpc/api/test_former_keys.py",
        ),
        """
        rpc/api/account_by_key rpc/api/block_info rpc/api/committee_api rpc/api/custom_protocol_api
        rpc/api/database_api/account_sales rpc/api/database_api/accounts rpc/api/database_api/agents
        rpc/api/database_api/authorities rpc/api/database_api/blocks rpc/api/database_api/escrow
        rpc/api/database_api/globals rpc/api/database_api/key_history rpc/api/database_api/proposals
        rpc/api/database_api/recovery rpc/api/database_api/vesting rpc/api/invite_api rpc/api/paid_subscription_api
        rpc/api/properties rpc/api/raw_block rpc/api/validator_api
        """,
    ),
    Group(
        "methods about markets: proven by every recorded answer, by odd arguments, and by worked cases",
        (
            "rpc/api/prediction_market/test_recorded_markets.py",
            "rpc/api/prediction_market/test_market_arguments.py",
            "rpc/api/prediction_market/test_worked_cases.py",
        ),
        """
        rpc/api/prediction_market/categories rpc/api/prediction_market/declared rpc/api/prediction_market/disputes
        rpc/api/prediction_market/klines rpc/api/prediction_market/lazy_pool rpc/api/prediction_market/leverage
        rpc/api/prediction_market/markets rpc/api/prediction_market/oracles rpc/api/prediction_market/overview
        rpc/api/prediction_market/shared/cards rpc/api/prediction_market/shared/id_lists
        rpc/api/prediction_market/shared/remembered rpc/api/prediction_market/shared/risk
        rpc/api/prediction_market/shared/sorting rpc/api/prediction_market/stakes
        """,
    ),
    Group(
        "what is kept of markets beside the ledger: proven over recorded chains, forks and kills, and by the answers",
        (
            "chain/rules/market_records/test_following.py",
            "chain/rules/market_records/test_metadata.py",
            "rpc/api/prediction_market/test_recorded_markets.py",
        ),
        """
        chain/rules/market_records/klines chain/rules/market_records/labels chain/rules/market_records/open_books
        chain/rules/market_records/places state/objects/market_records
        """,
    ),
    Group(
        "methods of our own APIs: proven over nodes that run, and by the pages of a history",
        ("rpc/test_node_pages.py", "rpc/api/test_history_api.py", "node/dev/test_development.py"),
        "rpc/api/dev_api rpc/api/history/filter rpc/api/history/pages rpc/api/node_api rpc/blocks/storage",
    ),
    Group(
        "how a node stands, for the page: proven by what is told and by what Chromium shows of it",
        ("node/parts/watching/test_status.py", "rpc/http/page/test_page_in_chromium.py"),
        "rpc/api/node_status rpc/api/operator_api",
    ),
    Group(
        "what a call goes through: proven by requests and their answers",
        ("rpc/call/test_dispatch.py", "rpc/api/test_recorded_errors.py", "rpc/describe/test_openrpc.py"),
        "rpc/call/errors rpc/call/view rpc/describe/schemas",
    ),
    Group(
        "the server: proven over sockets, as clients meet it",
        ("rpc/http/test_connection.py", "rpc/http/test_websocket.py", "rpc/test_workers.py"),
        "rpc/http/listeners rpc/http/responses rpc/worker",
    ),
    Group(
        "both ends of one link: proven together",
        ("rpc/link/test_link.py", "rpc/test_workers.py", "rpc/api/test_network_broadcast_api.py"),
        "rpc/link/switchboard rpc/link/waiting",
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
