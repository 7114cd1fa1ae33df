"""`ledgerd dev`: a private development chain that starts within seconds, with accounts whose keys are published."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ledgerd.cli.arguments.process_arguments import default_directory, metrics_beside
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.values.endpoints import ENDPOINT
from ledgerd.node.dev.founding import AGENTS, ORACLE_ACCOUNT, dev_accounts
from ledgerd.node.dev.settings import PLUGINS, dev_configuration
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.state.files.lock import lock_writer
from ledgerd.supervision.this_process import lasting_modules

if TYPE_CHECKING:
    from ledgerd.node.runtime import Runtime

MARK = "this-is-a-chain-to-develop-on"
"""A marker file: the directory is that of a development chain and may be emptied."""


def run(chosen: argparse.Namespace) -> int:
    chosen.metrics = chosen.metrics or metrics_beside(chosen.http)
    folder = Path.cwd() / (chosen.data_dir or default_directory())
    _prepare(folder, fresh=chosen.fresh)
    configuration = _configuration(chosen, folder)
    with lasting_modules():
        from ledgerd.node.dev.development import DevOptions, DevRuntime  # noqa: PLC0415 - it loads all of the node
        from ledgerd.node.lifecycle import run_node  # noqa: PLC0415
        from ledgerd.node.parts.watching.metrics import MetricsPart  # noqa: PLC0415

    options = DevOptions(
        chosen.block_time, chosen.fast_forward, ENDPOINT.read(chosen.explorer) if chosen.explorer else None
    )
    shown: ListeningAddresses = []

    def made(each: Configuration) -> DevRuntime:
        nonlocal shown
        runtime = DevRuntime(each, options)
        shown = runtime.explorer_addresses
        return runtime

    def greeted(node: Runtime) -> str:
        return greeting(chosen, node.webserver.addresses, node.part(MetricsPart).addresses, shown)

    return run_node(configuration, made, greeting=greeted)


def _prepare(folder: Path, *, fresh: bool) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise OperatorError(f"{folder} holds something else: choose an empty directory with --data-dir")
    if fresh and folder.exists():
        with lock_writer(folder):
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()


def _configuration(chosen: argparse.Namespace, folder: Path) -> Configuration:
    given = {
        "log-format": [chosen.log_format],
        "webserver-http-endpoint": [chosen.http],
        "webserver-ws-endpoint": [chosen.ws],
        "metrics-endpoint": [chosen.metrics],
        "webserver-thread-pool-size": [str(chosen.workers)],
        "webserver-allowed-origins": chosen.allow_origin,
        "plugin": [PLUGINS, *chosen.plugin],
        **({"history-store": [chosen.history_store]} if chosen.history_store else {}),
    }
    return dev_configuration(folder, given, is_quiet=chosen.quiet)


ListeningAddresses = Sequence[tuple[str, int]]


def greeting(
    chosen: argparse.Namespace,
    listening: ListeningAddresses,
    watched: ListeningAddresses,
    shown: ListeningAddresses = (),
) -> str:
    places = (listening[0], listening[-1], watched[0])
    http, websocket, operator = (f"{host}:{port}" for host, port in places)
    pages = "".join(f"  explorer   http://{host}:{port}/\n" for host, port in shown)
    pace = "a block with each transaction" if chosen.block_time == 0 else f"a block every {chosen.block_time:g} s"
    accounts = (*dev_accounts(TESTNET), ORACLE_ACCOUNT)
    rows = "".join(f"  {each.name:<10} {each.key}  {each.use}\n" for each in accounts)
    agents = "".join(
        f"  {each.account}/{each.name:<10} {each.key.wif}  may sign {', '.join(each.operations)}\n" for each in AGENTS
    )
    question = '{"jsonrpc":"2.0","method":"call","params":["database_api","get_dynamic_global_properties",[]],"id":1}'
    return (
        f"A chain to develop on, with {pace}.\n"
        f"  HTTP       http://{http}\n  WebSocket  ws://{websocket}\n"
        f"  operator   http://{operator}/ and /metrics\n{pages}"
        f"  chain id   {TESTNET.chain_id.hex()}\n\n"
        f"Accounts and their private keys, which everybody knows:\n{rows}\n"
        f"Agents, keys that may sign some operations for an account:\n{agents}\n"
        f"Try it:\n  curl -s http://{http} -d '{question}'\n\n"
    )
