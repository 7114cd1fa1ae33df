"""The arguments of the commands that run until they are stopped: nodes, explorers, signers."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands, add_data_directory

HTTP, WS, METRICS = "webserver-http-endpoint", "webserver-ws-endpoint", "metrics-endpoint"
DEV_HTTP, DEV_WEBSOCKET = "127.0.0.1:8090", "127.0.0.1:8091"
METRICS_ABOVE_HTTP = 1_100
"""The port of the metrics is that of HTTP plus this, unless it is given."""
LISTEN, NODE = "127.0.0.1:8092", "http://127.0.0.1:8090"
PORTS = 1 << 16
REAL_TIME = 3.0
UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

SHORT = {
    "http": (HTTP, "HOST:PORT", "serve HTTP here"),
    "ws": (WS, "HOST:PORT", "serve WebSocket here; both on one port where it is that of --http"),
    "workers": ("webserver-thread-pool-size", "N", "processes that answer requests (default: 2)"),
    "history": ("history-store", "postgresql://...", "the database of the history, instead of the one in DIR"),
}

OTHER_OPTIONS = ("plugin", METRICS, "shared-file-dir", "block-archive-dir", "log-format")

FOLLOWED_FILES = {
    "certificate": "the certificate that is shown to the followed node",
    "certificate-key": "the key of that certificate; only its owner may be able to read it",
    "authority": "the certificate that the followed node must show, or that of the authority which has signed it",
}


def add_api(commands: Commands) -> None:
    from ledgerd.cli.arguments.node_arguments import add_option  # noqa: PLC0415 - not loaded for other commands
    from ledgerd.node.config.options.sections import BY_NAME  # noqa: PLC0415
    from ledgerd.node.config.options.webserver import WEBSERVER  # noqa: PLC0415

    arguments = commands.add_parser(
        "api",
        help="answer requests from a data directory that a running node writes",
        description="Serves the API of a data directory which another process writes: a node, or what follows one. "
        "It only reads. Any number may run beside one node. docs/api-nodes.md says how they stand behind nginx or "
        "HAProxy, and what they answer otherwise than a node.",
    )
    add = arguments.add_argument
    add_data_directory(arguments)
    for name, (long, takes, does) in SHORT.items():
        add(f"--{name}", dest=long, action="append", metavar=takes, help=does)
    add("--node", default="", metavar="URL", help="the HTTP endpoint of the node that broadcasts are sent on to")
    following = arguments.add_argument_group("another machine", "A copy of a node's state is kept in DIR.")
    following.add_argument(
        "--follow",
        default="",
        metavar="PLACE",
        help="follow the node whose state-stream-endpoint this is: tcp://HOST:PORT or unix:/PATH",
    )
    for name, does in FOLLOWED_FILES.items():
        following.add_argument(f"--follow-{name}", type=Path, metavar="FILE", help=does)
    group = arguments.add_argument_group("options of the node", "They may stand in the file of --config-file too.")
    for option in (*WEBSERVER.with_meaning, *(BY_NAME[name] for name in OTHER_OPTIONS)):
        add_option(group, option)


def duration(text: str) -> int:
    parts = re.fullmatch(r"([0-9]{1,9})([smhd]?)", text)
    if parts is None:
        raise argparse.ArgumentTypeError(f"{text}: write a number with s, m, h or d after it, such as 30d")
    return int(parts[1]) * UNITS[parts[2] or "s"]


def _seconds(least: float, most: float, words: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        with suppress(ValueError):
            if least <= float(text) <= most:
                return float(text)
        raise argparse.ArgumentTypeError(f"{text}: write seconds, {words}")

    return read


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: write a number from {least} to {most}")
        return int(text)

    return read


def _as_in_a_file(kind: str) -> Callable[[str], str]:
    """Texts as an option of the node takes them, so that a wrong one is told under the name that was typed."""

    def read(text: str) -> str:
        from ledgerd.node.config.values import endpoints  # noqa: PLC0415 - not loaded for other commands
        from ledgerd.node.config.values.kind import OptionKind, WrongValue  # noqa: PLC0415

        of: OptionKind[object] = getattr(endpoints, kind)
        try:
            of.read(text)
        except WrongValue as problem:
            raise argparse.ArgumentTypeError(f"{problem}. It takes {of.takes}, for example {of.example}") from None
        return text

    return read


PLACE, PROXY = _as_in_a_file("ENDPOINT"), _as_in_a_file("NETWORK")


def _add_repeated(
    arguments: argparse.ArgumentParser, name: str, metavar: str, does: str, read: Callable[[str], str] = str
) -> None:
    words = f"{does}; may be repeated"
    arguments.add_argument(name, action="append", default=[], type=read, metavar=metavar, help=words)


def default_directory() -> Path:
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "ledgerd" / "dev"


def metrics_beside(http: str) -> str:
    """The endpoint of the metrics beside one of HTTP: on this machine only, and on any port if HTTP is."""
    port = http.rpartition(":")[2]
    above = int(port) + METRICS_ABOVE_HTTP if port.isdecimal() and int(port) else 0
    return f"127.0.0.1:{above if above < PORTS else 0}"


def add_dev(commands: Commands) -> None:
    arguments = commands.add_parser(
        "dev",
        help="run a private chain for development",
        description="Runs a private testnet on this machine: JSON-RPC as on any node, accounts with known keys, and "
        "dev_api, which moves time, makes blocks, and goes back to snapshots.",
    )
    add = arguments.add_argument
    add("--data-dir", type=Path, metavar="DIR", help=f"its directory (default: {default_directory()})")
    add("--fresh", action="store_true", help="replace an existing chain by a new one")
    add(
        "--block-time",
        type=_seconds(0.0, 3_600.0, "or 0 for a block with each transaction"),
        default=REAL_TIME,
        metavar="SECONDS",
        help="seconds between blocks (default: 3, as on every network); 0 for a block with each transaction",
    )
    add(
        "--fast-forward",
        type=duration,
        default=0,
        metavar="TIME",
        help="move the clock forward at the start, such as by 30d",
    )
    add("--http", type=PLACE, default=DEV_HTTP, metavar="HOST:PORT", help=f"serve HTTP here (default: {DEV_HTTP})")
    add("--ws", type=PLACE, default=DEV_WEBSOCKET, metavar="HOST:PORT", help=f"WebSocket (default: {DEV_WEBSOCKET})")
    add(
        "--metrics",
        type=PLACE,
        metavar="HOST:PORT",
        help=f"metrics, and the page of the operator (default: {METRICS_ABOVE_HTTP} ports above --http)",
    )
    _add_repeated(
        arguments,
        "--allow-origin",
        "ORIGIN",
        "allow requests of web pages with this origin, such as http://localhost:3000 (default: none)",
    )
    add(
        "--explorer",
        type=PLACE,
        metavar="HOST:PORT",
        help="pages about the chain, as `ledgerd explorer` serves them (default: none)",
    )
    _add_repeated(arguments, "--plugin", "NAME", "also run this installed plugin (docs/plugins.md)")
    add("--workers", type=_number(1, 1_000), default=1, metavar="NUMBER", help="number of API workers (default: 1)")
    add("--history-store", metavar="ADDRESS", help="feed the history to this PostgreSQL, and answer from there")
    add("--log-format", choices=("text", "json"), default="text", help="how the log is written")
    add("--quiet", action="store_true", help="print only warnings, no line for each block")


EXAMPLES = """\
examples:
  ledgerd testnet                                five nodes and 21 validators, in a folder that is deleted afterwards
  ledgerd testnet --data-dir ~/net               the same, kept: run it again to continue the network
  ledgerd testnet --block-time 1                 three times as fast, the network's clock included
  ledgerd testnet --nodes 3 --validators 7 --blocks 50
                                                 stop after 50 blocks, and fail if the nodes disagree
  ledgerd testnet --hardfork-after 120           apply the last hardfork by votes, 120 s after the start
  ledgerd testnet --base-port 20000 --restart    peers on 20000.., HTTP on 20100.., WebSocket on 20200..
"""


def add_testnet(commands: Commands) -> None:
    arguments = commands.add_parser(
        "testnet",
        help="run a private network of several nodes on this machine",
        description="Starts nodes as processes that connect only to each other, with validators that are\n"
        "declared and voted for; shows the status of the nodes, and stops all of them with Ctrl-C.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = arguments.add_argument
    add(
        "--nodes",
        type=_number(2, 50),
        default=5,
        metavar="N",
        help="number of nodes (default: 5); for one node: ledgerd dev",
    )
    add("--validators", type=_number(1, 100), default=21, metavar="N", help="number of validators (default: 21)")
    add("--data-dir", type=Path, metavar="DIR", help="the network's directory, which is kept for later starts")
    add("--fresh", action="store_true", help="replace an existing network by a new one")
    add("--keep", action="store_true", help="without --data-dir: do not delete the folder at the end")
    add("--base-port", type=_number(1024, 65_000), metavar="PORT", help="the first port (default: free ports)")
    add(
        "--block-time",
        type=_seconds(0.25, 60.0, "from 0.25 to 60"),
        default=REAL_TIME,
        metavar="SECONDS",
        help="seconds between blocks (default: 3)",
    )
    add("--blocks", type=_number(1, 10**6), metavar="N", help="stop after this many blocks")
    add("--restart", action="store_true", help="restart nodes that end")
    add(
        "--hardfork-after",
        type=_number(1, 86_400),
        default=0,
        metavar="SECONDS",
        help="seconds from the start to the last hardfork, by the network's clock (default: before the start)",
    )
    add("--metrics", action="store_true", help="serve metrics of each node, for Prometheus")


def add_explorer(commands: Commands) -> None:
    arguments = commands.add_parser(
        "explorer",
        help="serve pages about the chain: blocks, accounts, validators, markets",
        description="Serves pages about the chain, live, in English and Russian. It asks a node or a replica by its "
        "public API, and may run on another machine. docs/explorer.md says how it is set up for others to see.",
    )
    add = arguments.add_argument
    add("--node", default=NODE, metavar="URL", help=f"the HTTP endpoint of a node (default: {NODE})")
    add(
        "--live",
        default="",
        metavar="URL",
        help="its WebSocket endpoint, such as ws://127.0.0.1:8091, to be told of blocks; without one, the node is "
        "asked for its head five times a second",
    )
    add("--listen", type=PLACE, default=LISTEN, metavar="HOST:PORT", help=f"serve browsers here (default: {LISTEN})")
    _add_repeated(
        arguments,
        "--trusted-proxy",
        "ADDRESS",
        "an address or network whose X-Forwarded-For names the visitor; this machine is one",
        PROXY,
    )


def add_signer(commands: Commands) -> None:
    arguments = commands.add_parser(
        "signer",
        help="hold a validator's signing key apart from its node, and sign its blocks",
        description="Holds the signing key of validators, so that their node has none (validator-signer). It signs "
        "block headers only, never two for one slot, whatever it is asked. docs/signer.md tells how to set it up.",
    )
    add = arguments.add_argument
    place = "unix:/PATH, or tls://HOST:PORT where both sides show a certificate"
    add("--data-dir", type=Path, metavar="DIR", help="the folder of what was signed last")
    add("--key-file", type=Path, metavar="FILE", help="the private keys, in WIF, one on each line")
    _add_repeated(arguments, "--validator", "NAME", "a validator to sign for")
    add("--listen", metavar="PLACE", help=place)
    _add_repeated(arguments, "--allow-user", "USER", "another user of this machine that may ask over the Unix socket")
    add("--certificate", type=Path, metavar="FILE", help="our certificate, for tls://")
    add("--certificate-key", type=Path, metavar="FILE", help="the key of our certificate")
    add(
        "--authority",
        type=Path,
        metavar="FILE",
        help="the certificates of the other side, or of the authority that has signed them",
    )
    _add_repeated(
        arguments,
        "--time-server",
        "HOST",
        "a time server to check the clock by; nothing is signed before one has answered",
    )
    add("--ask", metavar="PLACE", help="print how the signer at this place is, and end")
