"""The process around a node: logging, banner, signals, and what it ends with (spec 06, sections 2.2, 2.3 and 22.1)."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.datadir.opening import is_unusable
from ledgerd.node.runtime import Runtime
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.keys import public_key_text
from ledgerd.protocol.versions import version_text
from ledgerd.snapshot.peer_table import run_probe

if TYPE_CHECKING:
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.protocol.parameters import ChainParameters

log = logging.getLogger(__name__)

STOPPED = 0
FATAL = 255
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
STOP_PATIENCE = 15.0
"""Seconds that a stop may take, besides what the guard of validators was told to wait. What takes longer (a snapshot
that is being read or written) is given up, as a kill would: supervisors kill after 30 seconds."""
SYSTEM_REMEDY = "see to the disk, its free space and the permissions, then start again"
DASHES = "-" * 52


def banner(network: ChainParameters) -> str:
    """What stands on the terminal before the first line of the log."""
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
    greeting: Callable[[], str] = str,
) -> int:
    """Run a node until it is asked to stop, and give what the process ends with.

    The greeting is printed when everything has started.
    """
    set_up_logging(configuration.logging)
    for remark in configuration.remarks:
        log.warning("%s", remark)
    if configuration.without_meaning:
        log.warning("options without meaning to this node: %s", ", ".join(configuration.without_meaning))
    if configuration.snapshot.test_trusted_seeds:
        sys.stderr.write(run_probe(configuration.snapshot.trusted_peers))
        return STOPPED
    return on_a_loop(lambda: live(configuration, make, greeting))


def on_a_loop(main: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run on the fastest loop that the platform has."""
    if sys.platform == "win32":
        return asyncio.run(main())
    import uvloop  # noqa: PLC0415 - it does not exist for Windows

    return uvloop.run(main())


async def live(
    configuration: Configuration, make: Callable[[Configuration], Runtime], greeting: Callable[[], str]
) -> int:
    """Start, wait for the end, stop; and once more where a newer state was found than the node's own."""
    stopping = asyncio.Event()
    _heed_signals(stopping)
    if configuration.invocation.stop_with_stdin:
        _heed_the_end_of_input(stopping)
    try:
        while True:
            runtime = make(configuration)
            sys.stderr.write(banner(runtime.chain.network))
            starting = asyncio.create_task(runtime.start())
            await _first_of(starting, stopping.wait())
            reason = None
            if starting.done():
                await starting
                sys.stderr.write(greeting())
                reason = None if runtime.is_errand else await _until_the_end(runtime, stopping)
            if is_unusable(reason):
                runtime.chain.files.mark_damaged()
            await _stop(runtime, starting, STOPPED if reason is None else FATAL)
            if reason is not None or stopping.is_set() or not runtime.is_renewed:
                break
    except Exception as problem:  # noqa: BLE001 - whatever it is, the process ends with it, and says so
        return _fatal(problem)
    if reason is not None:
        return _fatal(reason)
    log.info("exited cleanly")
    return STOPPED


async def _stop(runtime: Runtime, starting: asyncio.Task[None], code: int) -> None:
    """Stop what has started, and what is about to; after so much patience, end the process as it is, with a code."""

    async def stopped() -> None:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await runtime.stop()

    _, late = await asyncio.wait([ending := asyncio.create_task(stopped())], timeout=STOP_PATIENCE + runtime.stop_takes)
    if late:
        log.error("what was begun takes too long to stop, and is given up; the state is that of the last commit")
        logging.shutdown()
        os._exit(code)
    await ending


async def _until_the_end(runtime: Runtime, stopping: asyncio.Event) -> BaseException | None:
    failing = asyncio.create_task(runtime.failure())
    await _first_of(failing, stopping.wait())
    if failing.done():
        return failing.result()
    failing.cancel()
    return None


async def _first_of(task: asyncio.Task[Any], other: Coroutine[Any, Any, Any]) -> None:
    waiting = asyncio.create_task(other)
    await asyncio.wait([task, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


def _fatal(problem: BaseException) -> int:
    if isinstance(problem, OperatorError):
        sys.stderr.write(f"ledgerd: {problem}\n")
    elif isinstance(problem, OSError):
        log.debug("the fault of the system in full", exc_info=problem)
        place = f"{problem.filename}: " if problem.filename else ""
        sys.stderr.write(f"ledgerd: {place}{problem.strerror or problem}: {SYSTEM_REMEDY}\n")
    else:
        log.critical("the node stops, because of a fault of its own", exc_info=problem)
    return FATAL


def _heed_signals(stopping: asyncio.Event) -> None:
    """The first SIGINT, SIGTERM or SIGHUP asks for a stop; more of them change nothing. What is ignored stays so."""
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


def _heed_the_end_of_input(stopping: asyncio.Event) -> None:
    """Whoever holds the other end of standard input may be gone without a word; its end is a word."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        log.info("standard input has ended")
        with suppress(RuntimeError):  # the loop may have ended before
            loop.call_soon_threadsafe(stopping.set)

    threading.Thread(target=read, name="standard input", daemon=True).start()
