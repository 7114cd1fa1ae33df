"""`ledgerd testnet`: a local network of several nodes on this machine, with a table of their status."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ledgerd.cli.shared.terminal import report, until_asked_to_stop
from ledgerd.node.testnet.network import NAME, LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import FILE, Plan
from ledgerd.node.testnet.table import line, table
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import chain_id_of
from ledgerd.state.files.lock import lock_writer
from ledgerd.supervision.work import PartFailed

WATCH_SECONDS = 1.0
HOST = "127.0.0.1"
QUESTION = '{"jsonrpc":"2.0","method":"call","params":["database_api","get_dynamic_global_properties",[]],"id":1}'
PROGRAM = (sys.executable, "-m", "ledgerd.cli")
FAILED = 1
MARK = "this-is-a-local-network"
"""A marker file, the first that is written: what a start that failed half-way has left is then known as our own."""


def run(chosen: argparse.Namespace) -> int:
    with folder_of(chosen) as folder, until_asked_to_stop() as stopping:
        settings = LocalNetworkSettings(
            chosen.nodes, chosen.validators, chosen.block_time, chosen.base_port, chosen.hardfork_after, chosen.metrics
        )
        plan = prepare(folder, settings)
        _check(chosen, plan)
        with LocalNetwork(plan, PROGRAM) as network:
            network.start()
            sys.stdout.write(greeting(plan, chosen))
            return watch(network, chosen, stopping)


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
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    yield folder


def _clear(folder: Path, *, fresh: bool) -> None:
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not any((folder / name).exists() for name in (MARK, FILE)):
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


def greeting(plan: Plan, chosen: argparse.Namespace) -> str:
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
        while not stopping.wait(WATCH_SECONDS):
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

    console = Console()
    if not console.is_terminal:
        last = ""

        def show(network: LocalNetwork) -> None:
            nonlocal last
            if (text := line(network)) != last:
                report(text)
                last = text

        yield show
        return
    with Live(console=console, auto_refresh=False) as live:
        yield lambda network: live.update(table(network), refresh=True)


def _verdict(network: LocalNetwork, last: int | None) -> int:
    faults = list(network.watch.faults)
    dead = [each for each in network.processes if each.has_died]
    faults += [f"{each.member.name} died ({each.exit_code}):\n{each.last_words()}" for each in dead]
    if last is not None and network.watch.head < last:
        faults.append(f"block {last} was not reached")
    for fault in faults:
        sys.stderr.write(f"ledgerd: {fault}\n")
    return FAILED if faults else 0
