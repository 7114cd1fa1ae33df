"""Modules without a test module of their own name: of history, archives, replicas, RPC, explorer, wallet and signer."""

from __future__ import annotations

from tests.house.without_twin_group import Group

CLIENTS = (
    Group(
        "a history of the past, recorded beside a node that takes it: proven by recorded answers",
        ("history/past",),
        "cli/past_history history/past/copying history/past/recording",
    ),
    Group(
        "the history as Parquet files: exported as a whole and by its command, and asked the questions of its document",
        ("history/parquet/test_export.py", "cli/test_history_command.py", "docs/test_export.py"),
        "cli/history_export history/parquet/folder",
    ),
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
        node/workers/beside/replica_follower node/workers/beside/replica_server
        replica/conversation replica/hub replica/logged replica/node_digest
        replica/order replica/ownership replica/server replica/source replica/state_copy
        """,
    ),
    Group(
        "pages of the explorer: each is drawn over recorded chains, and its figures are compared with the answers",
        ("explorer/test_recorded_pages.py", "explorer/pages/test_answering.py", "explorer/test_in_chromium.py"),
        """
        explorer/pages/assets_served explorer/pages/betting/markets explorer/pages/betting/pictures
        explorer/pages/community/committee explorer/pages/community/invites explorer/pages/community/proposals
        explorer/pages/community/subscriptions explorer/pages/community/validators
        explorer/pages/every explorer/pages/ledger/blocks explorer/pages/ledger/front explorer/pages/ledger/search
        explorer/pages/people/accounts explorer/pages/people/history explorer/pages/view
        """,
    ),
    Group(
        "what browsers meet: proven over connections of a whole site",
        ("explorer/serving/test_connection.py",),
        "explorer/serving/bounds explorer/serving/headers explorer/serving/operator explorer/serving/plain "
        "explorer/serving/visitors",
    ),
    Group(
        "declarations without a rule, and what starts them: the command is run as a process",
        ("cli/test_explorer.py", "node/parts/clients/test_explorer.py"),
        "explorer/settings explorer/process node/workers/beside/explorer_worker",
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
        "the process that holds a wallet's keys, and what goes to and from it: proven with such processes",
        ("wallet/keys/test_session.py", "wallet/keys/test_wallet_file.py", "wallet/test_command_line.py"),
        """
        wallet/arguments/keys wallet/commands/keys wallet/keys/contents wallet/keys/entry
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
        history/columns/rows history/columns/source
        """,
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
)
