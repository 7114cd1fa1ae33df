"""The process around a node: logging, banner, signals, exit code (spec 06, sections 2.2, 2.3 and 22.1)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.network import network_of
from ledgerd.node.datadir.opening import is_unusable
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.runtime import Runtime
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.versions import version_text
from ledgerd.snapshot.exchange.peer_table import run_probe
from ledgerd.supervision.tasks import Tasks, first_of
from ledgerd.supervision.this_process import files_allowed, on_a_loop, search_rarely
from ledgerd.supervision.threads import begin_thread
from ledgerd.supervision.work import PartFailed

BASE_FILES = 256
"""Files and sockets of the main process beside those of its peers: state, logs, workers, snapshots, early clients."""

log = logging.getLogger(__name__)

STOPPED = 0
FATAL = 255
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
STOP_SECONDS = 15.0
"""Seconds that a stop may take, besides what the validator guard is configured to wait. After that the process exits
without finishing (a snapshot that is being read or written is lost): service managers kill after 30 seconds."""
SYSTEM_REMEDY = "see to the disk, its free space and the permissions, then start again"
Greeting = Callable[[Runtime], str]

DASHES = "-" * 52


def banner(network: ChainParameters) -> str:
    return (
        f"{DASHES}\n\n            STARTING VIZ NETWORK\n\n{DASHES}\n"
        f"initiator public key: {public_key_text(network.initiator_key)}\n"
        f"committee public key: {public_key_text(network.committee_key)}\n"
        f"chain id: {network.chain_id.hex()}\n"
        f"blockchain version: {version_text(network.version)}\n{DASHES}\n"
    )


def run_node(
    configuration: Configuration,
    make: Callable[[Configuration], Runtime] = Runtime,
    *,
    greeting: Greeting | None = None,
) -> int:
    """Run a node to its end; returns the exit code. With a greeting, which replaces the banner, log lines are short."""
    set_up_logging(configuration.logging, configuration.application.log_format, is_for_person=greeting is not None)
    for remark in configuration.remarks:
        log.warning("%s", remark)
    if configuration.without_meaning:
        named = {"options": ", ".join(configuration.without_meaning)}
        log.warning("options without meaning to this node: %(options)s", named)
    require_files(configuration)
    if configuration.snapshot.test_trusted_seeds:
        sys.stderr.write(run_probe(configuration.snapshot.trusted_peers, network_of(configuration).chain_id))
        return STOPPED
    search_rarely()
    return on_a_loop(lambda: live(configuration, make, greeting))


def require_files(configuration: Configuration) -> None:
    """Refuse to start where the system would end the node for want of files, once all its peers are there."""
    peers = configuration.p2p.max_connections
    allowed = files_allowed(peers + BASE_FILES)
    if allowed < peers + BASE_FILES:
        raise OperatorError(
            f"ulimit -n is {allowed}, and p2p-max-connections = {peers} needs {peers + BASE_FILES}: raise the limit "
            f"(LimitNOFILE in a systemd unit), or lower p2p-max-connections"
        )


async def live(
    configuration: Configuration, make: Callable[[Configuration], Runtime], greeting: Greeting | None
) -> int:
    stopping, tasks = asyncio.Event(), Tasks(_log_failure)
    _stop_on_signals(stopping)
    if configuration.invocation.stop_with_stdin:
        _stop_at_end_of_input(stopping)
    try:
        while True:
            runtime = make(configuration)
            _read_keys_on_signal(runtime, tasks)
            if greeting is None:
                _announce_start(configuration, runtime.chain.network)
            starting = tasks.begin(runtime.start(), "start")
            await first_of(asyncio.wait([starting]), runtime.ended(), stopping.wait())
            if starting.done():
                await starting
                sys.stderr.write("" if greeting is None else greeting(runtime))
                if not runtime.is_one_shot:
                    await first_of(runtime.ended(), stopping.wait())
            reason = runtime.failure
            if is_unusable(reason):
                runtime.chain.files.mark_damaged()
            await _stop(runtime, starting, tasks)
            if reason is not None or stopping.is_set() or not runtime.newer_state.is_set():
                break
    except Exception as problem:  # noqa: BLE001 - any failure ends the process and is reported
        return _fatal(problem, configuration)
    if reason is not None:
        return _fatal(reason, configuration)
    log.info("exited cleanly")
    return STOPPED


async def _stop(runtime: Runtime, starting: asyncio.Task[None], tasks: Tasks) -> None:
    async def stopped() -> None:
        starting.cancel()
        await asyncio.wait([starting])
        await runtime.stop()

    ending = tasks.begin(stopped(), "stop")
    _, late = await asyncio.wait([ending], timeout=STOP_SECONDS + runtime.stop_seconds)
    if late:
        log.error("the stop takes too long, so the process exits now; the state is that of the last commit")
        logging.shutdown()
        os._exit(STOPPED if runtime.failure is None else FATAL)
    await ending


def _log_failure(problem: BaseException) -> None:
    """Log the failure as a debug line only: the caller that awaits the start or the stop handles it."""
    log.debug("a start or a stop has failed", exc_info=problem)


def _writes_json(configuration: Configuration) -> bool:
    return configuration.application.log_format == "json"


def _announce_start(configuration: Configuration, network: ChainParameters) -> None:
    if _writes_json(configuration):
        log.info("starting on the network %(network)s", {"network": network.name})
    else:
        sys.stderr.write(banner(network))


def _fatal(problem: BaseException, configuration: Configuration) -> int:
    def report(text: str) -> None:
        if _writes_json(configuration):
            log.critical("%s", text)
        else:
            sys.stderr.write(f"ledgerd: {text}\n")

    if isinstance(problem, OperatorError | PartFailed):
        log.debug("the fault in full", exc_info=problem)
        report(str(problem))
    elif isinstance(problem, OSError):
        log.debug("the fault of the system in full", exc_info=problem)
        place = f"{problem.filename}: " if problem.filename else ""
        report(f"{place}{problem.strerror or problem}: {SYSTEM_REMEDY}")
    else:
        log.critical("the node stops: internal error", exc_info=problem)
    return FATAL


def _stop_on_signals(stopping: asyncio.Event) -> None:
    """Stop at the first SIGINT, SIGTERM or SIGHUP; later ones have no effect. An ignored signal stays ignored."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if not stopping.is_set():
            log.info("asked to stop")
        stopping.set()

    for each in SIGNALS:
        if signal.getsignal(each) is signal.SIG_IGN:
            continue
        if sys.platform == "win32":
            signal.signal(each, lambda *_: loop.call_soon_threadsafe(stop))
        else:
            loop.add_signal_handler(each, stop)


def _read_keys_on_signal(runtime: Runtime, tasks: Tasks) -> None:
    """SIGUSR1 comes from `ledgerd key --data-dir`: it needs the same user, and no client can send it."""
    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGUSR1, lambda: tasks.begin(runtime.part(ProductionPart).read_keys_again(), "keys")
        )


def _stop_at_end_of_input(stopping: asyncio.Event) -> None:
    """Stop at EOF on standard input: the process that holds the other end has closed it or has died."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass

    def ended(problem: BaseException | None) -> None:
        log.info("standard input has ended%(reason)s", {"reason": "" if problem is None else f": {problem}"})
        with suppress(RuntimeError):  # the loop may have ended before
            loop.call_soon_threadsafe(stopping.set)

    begin_thread("standard input", read, ended)
