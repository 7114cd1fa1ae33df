"""What holds for every test."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Generator

import pytest
from hypothesis import settings

from ledgerd.supervision.this_process import search_rarely
from tests.chain.replays import PLACE
from tests.memory import memory_folder
from tests.slowest import place_of

# The same examples in every run, and neither a deadline nor a limit: a busy machine fails nothing.
SUITE = settings(settings.get_profile("ci"), max_examples=25)
settings.register_profile("suite", SUITE)
settings.register_profile("long", SUITE, max_examples=2_000, derandomize=False)

pytest_plugins = ["tests.postgres", "tests.processes", "tests.proxies"]

ENOUGH = 2 << 30
"""Bytes of memory for what the tests write, of which a run has used a tenth at a time."""


def pytest_configure() -> None:
    _hear_signals()
    _write_to_memory()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: (place_of(item.path), item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The collector of cycles leaves alone what lives until the end: all modules and tests.

    To go through them again and again takes a fifth of the time of the tests. What tests make is searched as rarely as
    in a node. Of what the collection has left behind too little is garbage to be searched for in each process.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        search_rarely()
        gc.enable()


def _hear_signals() -> None:
    """Let the nodes that tests start hear an interrupt and a hang-up.

    Who ignores a signal passes that on to what it starts, and a shell has what runs in its background ignore the one,
    `nohup` the other.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _write_to_memory() -> None:
    """Half of the time of the tests would go by while nodes wait for the disk, block by block.

    `TMPDIR` is another place for what they write; where memory is short, it is the usual one.
    """
    if "TMPDIR" not in os.environ and (memory := memory_folder(ENOUGH)):
        os.environ["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # asked for again


@pytest.fixture(scope="session", autouse=True)
def _locks_of_signers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Signers of this process lock their keys in its folder, not in the home of whoever runs it."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("locks"))


@pytest.fixture(scope="session", autouse=True)
def _replays(tmp_path_factory: pytest.TempPathFactory) -> None:
    """One folder of replays for all processes of a run."""
    folder = tmp_path_factory.getbasetemp() / "replays"
    folder.mkdir(exist_ok=True)
    os.environ[PLACE] = str(folder)
