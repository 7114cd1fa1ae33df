"""`ledgerd dev`: a private development chain that starts within seconds, with accounts whose keys are published."""

from __future__ import annotations

import argparse
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.loading import lasting_modules

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.node.runtime import Runtime
    from ledgerd.protocol.endpoint import Endpoint

HTTP = "127.0.0.1:8090"
WEBSOCKET = "127.0.0.1:8091"
METRICS_ABOVE_HTTP = 1_100
"""By how much the port of the metrics lies above that of HTTP, unless it is given."""
PORTS = 1 << 16
REAL_TIME = 3.0
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
SHOWN = ("ledgerd.node.dev", "ledgerd.node.lifecycle")
"""Loggers with lines that a developer reads; of all others only warnings are shown."""
MARK = "this-is-a-chain-to-develop-on"
"""A marker file: the directory is that of a development chain and may be emptied."""

PLUGINS = (
    "chain p2p webserver json_rpc database_api network_broadcast_api validator validator_api committee_api invite_api "
    "paid_subscription_api custom_protocol_api prediction_market_api account_by_key block_info raw_block "
    "operation_history account_history"
)


def duration(text: str) -> int:
    parts = re.fullmatch(r"([0-9]{1,9})([smhd]?)", text)
    if parts is None:
        raise argparse.ArgumentTypeError(f"{text}: write a number with s, m, h or d behind it, such as 30d")
    return int(parts[1]) * UNITS[parts[2] or "s"]


def _block_time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.0 <= seconds <= 3_600.0:
        raise argparse.ArgumentTypeError(f"{text}: write seconds, or 0 for a block with each transaction")
    return seconds


def default_directory() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "ledgerd" / "dev"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "dev",
        help="run a private chain for development",
        description="Runs a private testnet on this machine: JSON-RPC as on any node, accounts with known keys, and "
        "dev_api, which moves time, makes blocks, and goes back to snapshots.",
    )
    arguments.add_argument(
        "--data-dir", type=Path, metavar="DIR", help=f"its directory (default: {default_directory()})"
    )
    arguments.add_argument("--fresh", action="store_true", help="replace an existing chain by a new one")
    arguments.add_argument(
        "--block-time",
        type=_block_time,
        default=REAL_TIME,
        metavar="SECONDS",
        help="seconds between blocks (default: 3, as on every network); 0 for a block with each transaction",
    )
    arguments.add_argument(
        "--fast-forward",
        type=duration,
        default=0,
        metavar="TIME",
        help="move the clock forward at the start, such as by 30d",
    )
    arguments.add_argument("--http", default=HTTP, metavar="HOST:PORT", help=f"serve HTTP here (default: {HTTP})")
    arguments.add_argument("--ws", default=WEBSOCKET, metavar="HOST:PORT", help=f"and WebSocket (default: {WEBSOCKET})")
    arguments.add_argument(
        "--metrics", metavar="HOST:PORT", help=f"and metrics (default: {metrics_beside(HTTP)}, or as far above --http)"
    )
    arguments.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="allow requests of web pages with this origin, such as http://localhost:3000 (default: none)",
    )
    arguments.add_argument(
        "--explorer", metavar="HOST:PORT", help="and pages about the chain, as `ledgerd explorer` (default: none)"
    )
    arguments.add_argument("--workers", default="1", metavar="NUMBER", help="number of API workers (default: 1)")
    arguments.add_argument(
        "--history-store",
        metavar="ADDRESS",
        help="feed the history to this PostgreSQL, and answer from there",
    )
    arguments.add_argument("--log-format", choices=("text", "json"), default="text", help="how the log is written")
    arguments.add_argument("--quiet", action="store_true", help="print only warnings, no line for each block")
    arguments.set_defaults(run=run)


def metrics_beside(http: str) -> str:
    """Where metrics are served beside an HTTP endpoint: on this machine alone, and on any port if HTTP is."""
    port = http.rpartition(":")[2]
    above = int(port) + METRICS_ABOVE_HTTP if port.isdecimal() and int(port) else 0
    return f"127.0.0.1:{above if above < PORTS else 0}"


def run(chosen: argparse.Namespace) -> int:
    chosen.metrics = chosen.metrics or metrics_beside(chosen.http)
    folder = Path.cwd() / (chosen.data_dir or default_directory())
    _prepare(folder, fresh=chosen.fresh)
    configuration = _configuration(chosen, folder)
    with lasting_modules():
        from ledgerd.node.dev.development import DevOptions, DevRuntime  # noqa: PLC0415 - it loads all of the node
        from ledgerd.node.lifecycle import run_node  # noqa: PLC0415

    options = DevOptions(chosen.block_time, chosen.fast_forward, _endpoint(chosen.explorer))
    shown: ListeningAddresses = []

    def made(each: Configuration) -> DevRuntime:
        nonlocal shown
        runtime = DevRuntime(each, options)
        shown = runtime.explorer_addresses
        return runtime

    def told(node: Runtime) -> str:
        return greeting(chosen, node.webserver.addresses, node.metrics_addresses, shown)

    return run_node(configuration, made, greeting=told)


def _endpoint(text: str | None) -> Endpoint | None:
    from ledgerd.node.config.values.endpoints import ENDPOINT  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.node.config.values.kind import WrongValue  # noqa: PLC0415

    if text is None:
        return None
    try:
        return ENDPOINT.read(text)
    except WrongValue as problem:
        raise OperatorError(f"--explorer {problem}") from None


def _prepare(folder: Path, *, fresh: bool) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise OperatorError(f"{folder} holds something else: choose an empty directory with --data-dir")
    if fresh and folder.exists():
        from ledgerd.state.lock import lock_writer  # noqa: PLC0415 - not loaded for `--help`

        with lock_writer(folder):
            shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()


def _configuration(chosen: argparse.Namespace, folder: Path) -> Configuration:
    from ledgerd.node.config.configuration import read_configuration  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.node.dev.founding import dev_producers  # noqa: PLC0415
    from ledgerd.protocol.parameters import TESTNET  # noqa: PLC0415

    producers = dev_producers(TESTNET)
    shown = {"default": "warn"} if chosen.quiet else {"default": "warn"} | dict.fromkeys(SHOWN, "info")
    loggers = (f"[logger.{name}]\nlevel = {level}\nappenders = stderr\n" for name, level in shown.items())
    (folder / "config.ini").write_text(
        "# Written again by each start of `ledgerd dev`.\n"
        "chain = testnet\n"
        "[log.console_appender.stderr]\nstream = std_error\n\n" + "\n".join(loggers),
        encoding="utf-8",
    )
    return read_configuration(
        {
            "data-dir": [str(folder)],
            "chain": ["testnet"],
            "log-format": [chosen.log_format],
            "plugin": [PLUGINS],
            "shared-file-size": ["256M"],
            "inc-shared-file-size": ["256M"],
            "min-free-shared-file-size": ["32M"],
            "webserver-http-endpoint": [chosen.http],
            "webserver-ws-endpoint": [chosen.ws],
            "metrics-endpoint": [chosen.metrics],
            "webserver-thread-pool-size": [chosen.workers],
            "webserver-simulate-transactions": ["true"],
            "webserver-allowed-origins": chosen.allow_origin,
            "validator": [f'"{name}"' for name in producers],
            "private-key": sorted(set(producers.values())),
            "enable-stale-production": ["true"],
            "required-participation": ["0"],
            **({"history-store": [chosen.history_store]} if chosen.history_store else {}),
        },
        Path.cwd(),
    )


ListeningAddresses = Sequence[tuple[str, int]]


def greeting(
    chosen: argparse.Namespace,
    listening: ListeningAddresses,
    watched: ListeningAddresses,
    shown: ListeningAddresses = (),
) -> str:
    places = (listening[0], listening[-1], watched[0])
    http, websocket, operator = (f"{host}:{port}" for host, port in places)
    from ledgerd.node.dev.founding import ORACLE_ACCOUNT, dev_accounts  # noqa: PLC0415
    from ledgerd.node.dev.markets import AGENTS  # noqa: PLC0415
    from ledgerd.protocol.parameters import TESTNET  # noqa: PLC0415

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
