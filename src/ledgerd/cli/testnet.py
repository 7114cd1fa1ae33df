"""`ledgerd testnet`: a local network of several nodes on this machine, with a table of their status."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.errors import OperatorError

if TYPE_CHECKING:
    from ledgerd.node.testnet.network import LocalNetwork, Wishes
    from ledgerd.node.testnet.plan import Plan

REAL_TIME = 3.0
LOOK_SECONDS = 1.0
HOST = "127.0.0.1"
QUESTION = '{"jsonrpc":"2.0","method":"call","params":["database_api","get_dynamic_global_properties",[]],"id":1}'
PROGRAM = (sys.executable, "-m", "ledgerd.cli")
FAILED = 1

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


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text}: write a number from {least} to {most}")
        return int(text)

    return read


def _block_time(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.25 <= seconds <= 60.0:
        raise argparse.ArgumentTypeError(f"{text}: write seconds, from 0.25 to 60")
    return seconds


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "testnet",
        help="run a private network of several nodes on this machine",
        description="Starts nodes as processes that connect only to each other, with validators that are declared and "
        "voted for; shows the status of the nodes, and stops all of them with Ctrl-C.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument(
        "--nodes",
        type=_number(2, 50),
        default=5,
        metavar="N",
        help="number of nodes (default: 5); for one node: ledgerd dev",
    )
    arguments.add_argument(
        "--validators", type=_number(1, 100), default=21, metavar="N", help="number of validators (default: 21)"
    )
    arguments.add_argument(
        "--data-dir", type=Path, metavar="DIR", help="the network's directory, which is kept for later starts"
    )
    arguments.add_argument("--fresh", action="store_true", help="replace an existing network by a new one")
    arguments.add_argument(
        "--keep", action="store_true", help="without --data-dir: do not delete the folder at the end"
    )
    arguments.add_argument(
        "--base-port", type=_number(1024, 65_000), metavar="PORT", help="the first port (default: free ports)"
    )
    arguments.add_argument(
        "--block-time",
        type=_block_time,
        default=REAL_TIME,
        metavar="SECONDS",
        help="seconds between blocks (default: 3)",
    )
    arguments.add_argument("--blocks", type=_number(1, 10**6), metavar="N", help="stop after this many blocks")
    arguments.add_argument("--restart", action="store_true", help="restart nodes that end")
    arguments.add_argument(
        "--hardfork-after",
        type=_number(1, 86_400),
        default=0,
        metavar="SECONDS",
        help="seconds from the start to the last hardfork, by the network's clock (default: before the start)",
    )
    arguments.add_argument("--metrics", action="store_true", help="serve metrics of each node, for Prometheus")
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.node.testnet.network import LocalNetwork, prepare  # noqa: PLC0415 - it loads all of the node

    stopping = threading.Event()
    with folder_of(chosen) as folder, _until_asked_to_stop(stopping):
        plan = prepare(folder, _wishes(chosen))
        _check(chosen, plan)
        with LocalNetwork(plan, PROGRAM) as network:
            network.start()
            sys.stdout.write(greeting(plan, chosen))
            return watch(network, chosen, stopping)


def _wishes(chosen: argparse.Namespace) -> Wishes:
    from ledgerd.node.testnet.network import Wishes  # noqa: PLC0415

    return Wishes(
        chosen.nodes, chosen.validators, chosen.block_time, chosen.base_port, chosen.hardfork_after, chosen.metrics
    )


@contextlib.contextmanager
def folder_of(chosen: argparse.Namespace) -> Iterator[Path]:
    if chosen.data_dir is None:
        if chosen.keep:
            yield Path(tempfile.mkdtemp(prefix="ledgerd-testnet-"))
            return
        with tempfile.TemporaryDirectory(prefix="ledgerd-testnet-") as folder:
            yield Path(folder)
        return
    folder = Path.cwd() / chosen.data_dir
    _clear(folder, fresh=chosen.fresh)
    yield folder


def _clear(folder: Path, *, fresh: bool) -> None:
    from ledgerd.node.testnet.plan import FILE  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.state.lock import lock_writer  # noqa: PLC0415

    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / FILE).exists():
        raise OperatorError(f"{folder} holds something else: choose an empty directory with --data-dir")
    if fresh:
        with lock_writer(folder):
            shutil.rmtree(folder)


def _check(chosen: argparse.Namespace, plan: Plan) -> None:
    kept = (len(plan.members), len(plan.keys.validators))
    if kept != (chosen.nodes, chosen.validators):
        sys.stderr.write(
            f"the network in {plan.folder} has {kept[0]} nodes and {kept[1]} validators, and goes on with them; "
            "--fresh begins another one\n"
        )


@contextlib.contextmanager
def _until_asked_to_stop(stopping: threading.Event) -> Iterator[None]:
    """Set the event at Ctrl-C or SIGTERM, for a clean stop; further signals have no effect."""

    def ask(*_: object) -> None:
        stopping.set()

    before = {each: signal.signal(each, ask) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def greeting(plan: Plan, chosen: argparse.Namespace) -> str:
    from ledgerd.node.testnet.files import NAME  # noqa: PLC0415
    from ledgerd.protocol.parameters import chain_id_of  # noqa: PLC0415

    first = plan.members[0]
    endpoints = "".join(
        f"  {each.name:<8} http://{HOST}:{each.http_port}  ws://{HOST}:{each.websocket_port}  "
        f"peers {HOST}:{each.p2p_port}{f'  metrics {HOST}:{each.metrics_port}' if chosen.metrics else ''}\n"
        for each in plan.members
    )
    return (
        f"\n{len(plan.members)} nodes, {len(plan.keys.validators)} validators, a block every {chosen.block_time:g} s.\n"
        f"{endpoints}"
        f"  chain id {chain_id_of(NAME).hex()}\n"
        f"  folder   {plan.folder}: a configuration, a log and the data of each node\n\n"
        f"Accounts and keys are those of `ledgerd dev`, without its oracle and agents.\n"
        f"The key of each validator is in the configuration of its node.\n"
        f"Try it:\n  curl -s http://{HOST}:{first.http_port} -d '{QUESTION}'\n\n"
    )


def watch(network: LocalNetwork, chosen: argparse.Namespace, stopping: threading.Event) -> int:
    last: int | None = None
    with _shown() as show:
        while not stopping.wait(LOOK_SECONDS):
            network.watch.inspect()
            if chosen.restart and not _restart(network):
                return FAILED
            show(network)
            head = network.watch.head
            if last is None and head and chosen.blocks:
                last = head + chosen.blocks
            if (last is not None and head >= last) or all(each.has_died for each in network.processes):
                break
    return _verdict(network, last)


def _restart(network: LocalNetwork) -> bool:
    from ledgerd.supervision.work import PartFailed  # noqa: PLC0415

    try:
        network.restart_dead()
    except PartFailed as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return False
    return True


@contextlib.contextmanager
def _shown() -> Iterator[Callable[[LocalNetwork], None]]:
    """Show a table that is updated in place, or without a terminal a line for each new block."""
    from rich.console import Console  # noqa: PLC0415 - slow to load, and only for this
    from rich.live import Live  # noqa: PLC0415

    from ledgerd.node.testnet.table import line, table  # noqa: PLC0415

    console = Console()
    if not console.is_terminal:
        told = [""]

        def tell(network: LocalNetwork) -> None:
            text = line(network)
            if text != told[0]:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
                told[0] = text

        yield tell
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda network: live.update(table(network), refresh=True)


def _verdict(network: LocalNetwork, last: int | None) -> int:
    """The exit code: whether the asked blocks were made, and no node failed or disagreed."""
    faults = list(network.watch.faults)
    dead = [each for each in network.processes if each.has_died]
    faults += [f"{each.member.name} died ({each.exit_code}):\n{each.last_words()}" for each in dead]
    if last is not None and network.watch.head < last:
        faults.append(f"block {last} was not reached")
    for fault in faults:
        sys.stderr.write(f"ledgerd: {fault}\n")
    return FAILED if faults else 0
