"""`scripts/long_runs`: plays long runs from where they stopped, and writes how far they have come."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Event

from tests.long_runs.crew import Crew, play, processors
from tests.long_runs.progress import Counted, Progress, counts_of, failures, table, written
from tests.long_runs.runs import BY_NAME, RUNS, Run, prepared
from tests.long_runs.worker import Told

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".long-runs.json"
DOCUMENT = ROOT / "docs" / "long-runs.md"
TELL_EVERY = 30.0
"""Seconds between two lines on how far a run has come."""


class Session:
    """One run in one start of the command."""

    def __init__(
        self, progress: Progress, commit: str, seconds: float | None, stop: Event, tell: Callable[[str], None]
    ) -> None:
        self._progress = progress
        self._commit = commit
        self._end = None if seconds is None else time.monotonic() + seconds
        self._stop = stop
        self._tell = tell

    def must_stop(self) -> bool:
        return self._stop.is_set() or (self._end is not None and time.monotonic() > self._end)

    def go_on(self, run: Run, crew: Crew) -> bool:
        """Play a run until its target is reached, it fails or somebody stops it; whether nothing failed."""
        counted = self._progress.of(run.name)
        known, began, told_at, before = len(counted.failures), time.monotonic(), time.monotonic(), counted.done

        def take(told: Told) -> bool:
            nonlocal told_at
            date = time.strftime("%Y-%m-%d", time.gmtime())
            if told.problem:
                counted.fail(told.seed, told.problem, self._commit, date)
                self._tell(f"{run.name}: seed {told.seed} fails:\n{told.problem}")
                self._tell(f"again: scripts/long_runs {run.name} --seed {told.seed}")
            else:
                counted.count(told.seed, told.done, told.accepted, self._commit, date)
            self._progress.save()
            if time.monotonic() - told_at > TELL_EVERY:
                told_at = time.monotonic()
                self._tell(self._line(run, counted, before, began))
            return not told.problem

        play(run.name, crew, seeds_of(run, counted), take, self.must_stop)
        self._tell(self._line(run, counted, before, began))
        return len(counted.failures) == known

    @staticmethod
    def _line(run: Run, counted: Counted, before: int, began: float) -> str:
        rate = (counted.done - before) / max(time.monotonic() - began, 0.001)
        left = max(0, run.target - counted.done) / rate / 3600 if rate else 0.0
        return f"{run.name}: {counted.done:,} of {run.target:,} {run.unit}, {rate:,.2f} a second, {left:.1f} hours left"


def seeds_of(run: Run, counted: Counted) -> Iterator[int]:
    """The seeds that are still to be played, for as long as the target is not reached."""
    done = set(counted.ahead)
    for seed in count(counted.next_seed):
        if counted.done >= run.target:
            return
        if seed not in done:
            yield seed


def commit_of(root: Path) -> str:
    """The commit of the checkout, and whether it was changed since, the document apart."""

    def git(*words: str) -> str:
        return subprocess.run(  # noqa: S603 - git, with words of ours
            ["git", *words],  # noqa: S607 - as people have it
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/long-runs.md")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def write_document(progress: Progress, document: Path) -> None:
    """Put the counts into the document."""
    counted = [(run.name, run.target, run.unit, progress.of(run.name)) for run in RUNS]
    before = document.read_text(encoding="utf-8")
    fresh = {"counts": table(counted), "failures": failures(counted)}
    document.write_text(written(before, fresh), encoding="utf-8")


def play_one(run: Run, seed: int) -> None:
    """Play one seed here, where it can be looked at."""
    with tempfile.TemporaryDirectory() as folder, prepared(run, Path(folder)) as player:
        tell(f"{run.name}: seed {seed}: {player(seed)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/long_runs",
        description=__doc__,
        epilog="\n".join(["runs:", *(f"  {run.name:18} {run.target:>10,} {run.unit}: {run.about}" for run in RUNS)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which runs; all, if none")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds, of each run that is named")
    parser.add_argument("--workers", type=int, default=processors(), help="how many processes; one a processor")
    parser.add_argument("--nice", type=int, default=15, help="how much they leave to others: 19 the most, 0 nothing")
    parser.add_argument("--seed", type=int, help="play this one seed of a run, and count nothing")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the file of what was done so far")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="the document that says so to people")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in BY_NAME]
    if unknown:
        parser.error(f"there is no run named {', '.join(unknown)}")
    if chosen.seed is not None and len(chosen.names) != 1:
        parser.error("--seed needs the name of one run")
    return chosen


def main() -> int:
    """Play the runs that are named, one after the other."""
    chosen = arguments()
    runs = [BY_NAME[name] for name in chosen.names] or list(RUNS)
    if chosen.seed is not None:
        play_one(runs[0], chosen.seed)
        return 0
    progress = Progress(chosen.kept, counts_of(chosen.document.read_text(encoding="utf-8")))
    commit, is_sound = commit_of(ROOT), True
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    for run in runs:
        if progress.of(run.name).done < run.target and not stop.is_set():
            session = Session(progress, commit, chosen.seconds, stop, tell)
            is_sound &= session.go_on(run, Crew(chosen.workers, chosen.nice))
            write_document(progress, chosen.document)
    write_document(progress, chosen.document)
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
