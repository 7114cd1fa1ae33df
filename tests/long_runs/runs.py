"""The long runs: what each repeats, how often in all, and what of it one seed does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.codec_inputs import Bytes, Json, served_state
from tests.fuzz.config_inputs import ConfigFiles
from tests.fuzz.frame_inputs import FRAMES_OF_A_SEED, Frames
from tests.fuzz.http_inputs import Http
from tests.fuzz.log_inputs import LogData, LogIndex
from tests.fuzz.playing import Played, Target, play
from tests.fuzz.signing_inputs import SigningRecords
from tests.fuzz.snapshot_inputs import Snapshots
from tests.long_runs.kills import KINDS, kill_through
from tests.long_runs.simulations import Handovers, Signers, Simulations, Wedges

MEMORY = 1 << 30

Player = Callable[[int], Played]
"""Does what a seed says; raises where something does not hold."""


class Run(NamedTuple):
    """One kind of long run."""

    name: str
    target: int
    unit: str
    about: str
    player: Callable[[Path], Iterator[Player]]
    """Prepares a player in an empty folder, as a generator does for `contextmanager`."""
    memory: int = 0
    """Bytes that a process of it may have for itself; 0 where others do the work."""


def fuzzed(name: str, target: int, about: str, make: Callable[[Path], Target], *, a_seed: int = 1_000) -> Run:
    """A run over inputs of a target."""

    def player(folder: Path) -> Iterator[Player]:
        chosen = make(folder)
        yield lambda seed: play(chosen, seed, a_seed)

    return Run(name, target, "inputs", about, player, MEMORY)


def _json(folder: Path) -> Iterator[Player]:
    with served_state(folder) as served:
        target = Json(served)
        yield lambda seed: play(target, seed, 1_000)


def _frames(folder: Path) -> Iterator[Player]:
    frames = Frames(folder)
    yield frames.play


def _simulated(folder: Path) -> Iterator[Player]:
    yield Simulations(folder).play


def _wedged(folder: Path) -> Iterator[Player]:
    yield Wedges(folder).play


def _signed(folder: Path) -> Iterator[Player]:
    yield Signers(folder).play


def _handed_over(folder: Path) -> Iterator[Player]:
    yield Handovers(folder).play


def killed(kind: str, target: int, about: str) -> Run:
    """A run of kills of one kind of work."""

    def player(folder: Path) -> Iterator[Player]:
        work = KINDS[kind](folder)
        yield lambda seed: kill_through(work, seed)

    return Run(f"kills-{kind}", target, "kills", about, player)


RUNS: tuple[Run, ...] = (
    Run("simulations", 2_000, "networks", "networks in virtual time with hostile peers", _simulated),
    Run("wedges", 500, "networks", "nodes in a dead end that leave it by themselves", _wedged),
    Run("signers", 1_000, "networks", "two nodes with one signer", _signed),
    Run("handovers", 100, "networks", "a validator that is handed over and back", _handed_over),
    killed("production", 300, "a chain that makes its blocks"),
    killed("replay", 100, "a chain that takes in a block log"),
    killed("sync", 250, "a node that fetches blocks from a peer"),
    killed("import", 250, "a node that begins with a snapshot"),
    killed("history", 150, "a chain with the history of its operations"),
    fuzzed("bytes", 20_000_000, "packed values, for the codecs", lambda _: Bytes()),
    Run("json", 20_000_000, "inputs", "JSON for the codecs, and requests to every API", _json, MEMORY),
    Run("frames", 20_000_000, "inputs", f"frames of peers, {FRAMES_OF_A_SEED} a node", _frames, MEMORY),
    fuzzed("http", 40_000_000, "connections with requests over HTTP", lambda _: Http()),
    fuzzed("config", 100_000, "configuration files", ConfigFiles, a_seed=100),
    fuzzed("log", 100_000, "files of blocks, full and rolling logs", LogData, a_seed=200),
    fuzzed("index", 100_000, "indexes of block logs", LogIndex, a_seed=200),
    fuzzed("snapshot", 100_000, "snapshot files, and frames of their protocol", Snapshots, a_seed=50),
    fuzzed("last-signed-block", 100_000, "records of the block signed last", SigningRecords),
)

BY_NAME = {run.name: run for run in RUNS}


@contextmanager
def prepared(run: Run, folder: Path) -> Iterator[Player]:
    """The player of a run, in a folder of its own."""
    yield from run.player(folder)
