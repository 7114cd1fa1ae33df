"""`scripts/attack`: attacks on a loaded network of real processes, each measured against what must hold.

Examples:
    scripts/attack --list
    scripts/attack all --minutes 10 --peers 64 --clients 64
    scripts/attack branches --minutes 2
    scripts/attack --each 2 --rows
    scripts/attack --each 2 --most 3
    scripts/attack ordinary --minutes 10
    scripts/attack clock full-disk

Exit code 1: a bound is broken.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from tests.attack.attacker import GO, IDLE, READY
from tests.attack.catalogue import BY_NAME, HOSTILE, KINDS, ORDINARY
from tests.attack.events import EVENTS, Event
from tests.attack.figures import Figures, quantile, table
from tests.attack.ground import Chosen, Ground, ground, is_answered
from tests.attack.honest import SETTLES, Heard, Load
from tests.attack.kept import Kept, Terms, read_figures, rows
from tests.attack.kind import Kind, Side
from tests.attack.measure import Memory, folder_bytes, processor_seconds
from tests.attack.timed_node import times_of, turns_of
from tests.attack.web import found_web
from tests.long_runs.main import commit_of

LOOK_SECONDS = 2.0
READY_SECONDS = 300.0
ALL, ORDINARY_NAME, QUIET = "all", "ordinary", "quiet"
FIRST_GROUP, GROUPS = 10, 40
"""The second number of attackers' addresses."""
PROCESSORS = 2

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".attack.json"

Process = subprocess.Popen[str]
Run = tuple[str, Sequence[type[Kind]], float]


def main() -> int:
    """Play what is asked for, and print a table."""
    chosen = _arguments().parse_args()
    if chosen.list:
        for kind in KINDS:
            sys.stdout.write(f"{kind.name:22} {kind.side.value:7} row {kind.row:8} {(kind.__doc__ or '').strip()}\n")
        for name, event in EVENTS.items():
            sys.stdout.write(f"{name:22} {'event':7} row {'-':8} {(event.__doc__ or '').strip()}\n")
        return 0
    events = [EVENTS[name] for name in chosen.kinds if name in EVENTS]
    chosen.kinds = [name for name in chosen.kinds if name not in EVENTS]
    faults = [fault for event in events for fault in play_event(event, chosen)]
    if events and not chosen.kinds and not chosen.each:
        return 1 if faults else 0
    figures = _play_each(chosen) if chosen.each else _play_named(chosen)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(msgspec.to_builtins(figures), indent=1) + "\n")
    sys.stdout.write("\n" + table(figures))
    if chosen.rows:
        sys.stdout.write("\n" + rows(figures, read_figures(chosen.before) if chosen.before else None))
    return 1 if faults or any(each.broken() for each in figures) else 0


def _play_named(chosen: argparse.Namespace) -> list[Figures]:
    """The kinds that are named, after a while without attack."""
    figures: list[Figures] = []
    runs = _runs(chosen)
    if chosen.quiet:
        runs.insert(0, (QUIET, (), chosen.quiet * 60))
    for run in runs:
        figures.append(_played(run, chosen, figures[0] if chosen.quiet and figures else None))
    return figures


def _play_each(chosen: argparse.Namespace) -> list[Figures]:
    """Each kind alone, but for those that were measured by an earlier start of the command in the same terms."""
    terms = Terms(
        commit_of(ROOT), chosen.each, chosen.peers, chosen.clients, chosen.transactions, chosen.max_connections
    )
    kept = Kept(chosen.kept, terms, is_fresh=chosen.fresh)
    runs: list[Run] = [(QUIET, (), chosen.quiet * 60)] if chosen.quiet else []
    runs += [(kind.name, (kind,), chosen.each * 60) for kind in HOSTILE]
    by_name = {name: (name, kinds, seconds) for name, kinds, seconds in runs}
    for name in kept.left(by_name)[: chosen.most]:
        kept.keep(_played(by_name[name], chosen, kept.runs.get(QUIET)))
        left = kept.left(by_name)
        _say(f"left: {', '.join(left) or 'nothing'}")
    return [kept.runs[name] for name in by_name if name in kept.runs]


def _played(run: Run, chosen: argparse.Namespace, quiet: Figures | None) -> Figures:
    """One run, told as soon as it is over."""
    name, kinds, seconds = run
    with tempfile.TemporaryDirectory(dir=chosen.folder, prefix="attack-") as folder:
        measured = play(name, kinds, seconds, Path(folder) / name, chosen)
    if quiet is not None:
        measured = replace(measured, quiet_share=quiet.share)
    _say(f"{name}: {'; '.join(measured.broken()) or 'holds'}")
    return measured


def play_event(event: Event, chosen: argparse.Namespace) -> list[str]:
    """An event of the operator's side, on a network of its own; returns what did not hold."""
    place = tempfile.TemporaryDirectory(dir=chosen.folder, prefix="event-")
    with place as folder, ground(Path(folder), Chosen()) as made:
        faults = event(made)
        _keep_log(made, event.__name__, chosen)
    _say(f"{event.__name__}: {'; '.join(faults) or 'holds'}")
    return faults


def _keep_log(made: Ground, name: str, chosen: argparse.Namespace) -> None:
    if chosen.logs:
        chosen.logs.mkdir(parents=True, exist_ok=True)
        (chosen.logs / f"{name}.log").write_bytes(made.target.log.read_bytes())


def _arguments() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="scripts/attack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("kinds", nargs="*", help="kinds, `all` together, or `ordinary` for comparison")
    arguments.add_argument("--list", action="store_true", help="name all kinds, and stop")
    arguments.add_argument("--minutes", type=float, default=2.0, help="for each that is named (default: 2)")
    arguments.add_argument(
        "--each", type=float, metavar="MINUTES", help="each kind alone for so long, from where that stopped"
    )
    arguments.add_argument("--most", type=int, metavar="RUNS", help="with --each: stop after so many of those left")
    arguments.add_argument("--fresh", action="store_true", help="with --each: forget what was measured")
    arguments.add_argument("--kept", type=Path, default=KEPT, help="with --each: the file of what was measured")
    arguments.add_argument("--rows", action="store_true", help="print a table for a document too")
    arguments.add_argument("--before", type=Path, metavar="FILE", help="figures of an earlier commit for that table")
    arguments.add_argument("--quiet", type=float, default=1.0, metavar="MINUTES", help="first without attack (1)")
    arguments.add_argument("--peers", type=int, default=64, help="attackers that are peers (default: 64)")
    arguments.add_argument("--clients", type=int, default=64, help="attackers that are clients (default: 64)")
    arguments.add_argument("--transactions", type=int, default=150, help="in each block, of 20 operations")
    arguments.add_argument("--max-connections", default="100", help="p2p-max-connections, or `default`")
    arguments.add_argument("--nice", type=int, default=IDLE, help="of attackers (default: 19, which is idle)")
    arguments.add_argument("--folder", type=Path, help="where the networks lie meanwhile")
    arguments.add_argument("--json", metavar="FILE", help="write all figures there too")
    arguments.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the node's logs there")
    return arguments


def _runs(chosen: argparse.Namespace) -> list[Run]:
    groups = {ALL: HOSTILE, ORDINARY_NAME: ORDINARY}
    named = chosen.kinds or [ALL]
    unknown = [name for name in named if name not in BY_NAME and name not in groups]
    if unknown:
        raise SystemExit(f"no such kind: {', '.join(unknown)}; scripts/attack --list names them")
    return [(name, groups.get(name) or (BY_NAME[name],), chosen.minutes * 60) for name in named]


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def shares_of(kinds: Sequence[type[Kind]], peers: int, clients: int) -> list[tuple[str, int]]:
    """How many attackers of each kind: those of a side share its number, and each has one at least."""
    counts = {Side.PEER: peers, Side.CLIENT: clients, Side.OTHER: clients}
    made = []
    for kind in kinds:
        alike = [each for each in kinds if each.side is kind.side]
        share, rest = divmod(counts[kind.side], len(alike))
        made.append((kind.name, max(1, share + (alike.index(kind) < rest))))
    return made


def play(name: str, kinds: Sequence[type[Kind]], seconds: float, folder: Path, chosen: argparse.Namespace) -> Figures:
    """One run on a network of its own."""
    most = None if chosen.max_connections == "default" else int(chosen.max_connections)
    with ground(folder, Chosen(max_connections=most)) as made:
        try:
            if any(kind.needs_web for kind in kinds):
                found_web(made)
            run = Play(name, made, seconds, chosen.transactions, chosen.nice)
            return run.run(shares_of(kinds, chosen.peers, chosen.clients))
        finally:
            _keep_log(made, name, chosen)


class Play:
    """One run: processes of attackers and of honest company, and what is measured meanwhile."""

    def __init__(self, name: str, made: Ground, seconds: float, transactions: int, nice: int) -> None:
        self._name = name
        self._ground = made
        self._load = Load(transactions, seconds, tuple(made.time_servers))
        self._node = made.network.processes[0]
        self._nice = str(nice)
        self._memory = Memory(self._node.pid)
        self._processor = 0.0
        self._faults: list[str] = []

    def run(self, wanted: Sequence[tuple[str, int]]) -> Figures:
        """Make ready, begin together, measure, end together."""
        aim = str(self._ground.aim())
        honest = _start("tests.attack.honest", aim, msgspec.json.encode(self._load).decode())
        attackers = [
            _start("tests.attack.attacker", aim, str(group), self._nice, *words) for group, words in _processes(wanted)
        ]
        try:
            for process in (*attackers, honest):
                _await_ready(process)
            return self._measure(honest, attackers)
        finally:
            for process in (*attackers, honest):
                if process.poll() is None:
                    process.kill()
                process.communicate()

    def _measure(self, honest: Process, attackers: Sequence[Process]) -> Figures:
        watch, folder = self._ground.network.watch, self._ground.target.folder
        watch.inspect()
        missed, disk, log = watch.missed(0), folder_bytes(folder), self._ground.target.log.stat().st_size
        applied, turned, began = len(times_of(folder)), len(turns_of(folder)), time.monotonic()
        for process in (honest, *attackers):
            _tell_go(process)
        until = began + self._load.seconds + 1
        while time.monotonic() < until and self._node.is_running:
            time.sleep(LOOK_SECONDS)
            self._memory.look()
            self._processor = sum(processor_seconds(process.pid) for process in attackers)
        spent = time.monotonic() - began
        told = [self._end(process) for process in attackers]
        heard = self._heard(honest)
        for _ in range(int(SETTLES)):
            watch.inspect()
        return self._figures(
            heard,
            told,
            timed=(times_of(folder)[applied:], turns_of(folder)[turned:]),
            seconds=spent,
            missed=watch.missed(0) - missed,
            disk=folder_bytes(folder) - disk,
            log=self._ground.target.log.stat().st_size - log,
        )

    def _heard(self, honest: Process) -> Heard:
        """What honest company has seen; it ends by itself."""
        output, _ = honest.communicate(timeout=READY_SECONDS)
        return msgspec.convert(json.loads(output), Heard)

    def _end(self, process: Process) -> dict[str, Any]:
        """End a process of attackers; what it says it has done."""
        try:
            output, _ = process.communicate(timeout=READY_SECONDS)  # at idle priority the end takes long too
            return dict(json.loads(output.splitlines()[-1]))
        except (subprocess.TimeoutExpired, ValueError, IndexError) as problem:
            self._faults.append(repr(problem))
            return {}

    def _figures(
        self,
        heard: Heard,
        told: Sequence[dict[str, Any]],
        *,
        timed: tuple[Sequence[float], Sequence[tuple[float, str]]],
        seconds: float,
        missed: int,
        disk: int,
        log: int,
    ) -> Figures:
        own = set(self._ground.target.validators)
        times, turns = timed
        longest, turn_name = max(turns, default=(0.0, ""))
        ended = "" if self._node.is_running else f"{self._node.exit_code}: {self._node.last_words()[-300:]}"
        if not ended and not is_answered(self._ground.target):
            ended = "it does not answer"
        return Figures(
            kind=self._name,
            seconds=seconds,
            made=sum(name in own for name in heard.blocks.values()),
            missed=missed,
            apply_p99=quantile(times, 0.99),
            apply_max=max(times, default=0.0),
            main_mb=self._memory.main / 1e6,
            worker_mb=self._memory.worker / 1e6,
            workers=len(self._memory.workers),
            log_mb_an_hour=log / 1e6 / seconds * 3600,
            sent=heard.sent,
            accepted=heard.accepted,
            refused=heard.refused,
            health=max(heard.healths, default=0.0),
            broadcast=max(heard.broadcasts, default=0.0),
            own_block=max((late for name, late in heard.late if name in own), default=0.0),
            peer_block=max((late for name, late in heard.late if name not in own), default=0.0),
            turn=longest,
            turn_name=turn_name,
            lost=heard.lost,
            disk_mb=disk / 1e6,
            attackers_share=self._processor / seconds / PROCESSORS,
            hostile_mb=sum(each.get("sent", 0) for each in told) / 1e6,
            rounds=sum(each.get("rounds", 0) for each in told),
            ended=ended,
            attack_faults="; ".join(self._faults),
        )


def _processes(wanted: Sequence[tuple[str, int]]) -> list[tuple[int, list[str]]]:
    """Kinds dealt out to a few processes, each with the group of addresses that it begins with."""
    if not wanted:
        return []
    count = min(4, len(wanted))
    dealt: list[list[str]] = [[f"{name}={number}" for name, number in wanted[place::count]] for place in range(count)]
    return [(FIRST_GROUP + place * GROUPS, words) for place, words in enumerate(dealt)]


def _start(module: str, *words: str) -> Process:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", module, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Linux shares processors out by sessions: one of idle attackers gives way as a whole
    )


def _await_ready(process: Process) -> None:
    assert process.stdout is not None
    if process.stdout.readline().strip() != READY:
        raise RuntimeError(f"a process of the attack has ended before it began: {process.args!r}")


def _tell_go(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.write(GO + "\n")
    process.stdin.flush()


if __name__ == "__main__":
    sys.exit(main())
