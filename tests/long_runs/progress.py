"""How far each long run has come: kept in a file outside of the repository, and told in a document of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

HEADING = "| run | done | of | seeds | accepted | failed | commit | date |"
RULE = "|---|---|---|---|---|---|---|---|"
FAILURE = re.compile(r"^- (\S+), commit (\S+): `scripts/long_runs (\S+) --seed (\d+)`: `(.*)`$", re.MULTILINE)


class Failure(msgspec.Struct):
    """A seed that failed."""

    seed: int
    commit: str
    date: str
    problem: str


class Counted(msgspec.Struct):
    """What a run has done so far."""

    done: int = 0
    accepted: int | None = None
    next_seed: int = 1
    ahead: list[int] = []
    """Seeds above the next one that are done already, by another processor."""
    first_commit: str = ""
    commit: str = ""
    date: str = ""
    failures: list[Failure] = []

    def count(self, seed: int, done: int, accepted: int | None, commit: str, date: str) -> None:
        """A seed is done."""
        self.done += done
        if accepted is not None:
            self.accepted = (self.accepted or 0) + accepted
        self._pass(seed, commit, date)

    def fail(self, seed: int, problem: str, commit: str, date: str) -> None:
        """A seed has failed; it counts for nothing, and is not repeated by itself."""
        self.failures.append(Failure(seed, commit, date, problem))
        self._pass(seed, commit, date)

    def _pass(self, seed: int, commit: str, date: str) -> None:
        self.ahead.append(seed)
        while self.next_seed in self.ahead:
            self.ahead.remove(self.next_seed)
            self.next_seed += 1
        self.first_commit = self.first_commit or commit
        self.commit, self.date = commit, date


class Progress:
    """The counts of all runs, in a file that is replaced as a whole.

    Where it has nothing of a run, the run goes on from the counts that are known otherwise: the document's.
    """

    def __init__(self, path: Path, known: Mapping[str, Counted]) -> None:
        self._path = path
        self._known = known
        self.runs: dict[str, Counted] = {}
        if path.exists():
            self.runs = msgspec.json.decode(path.read_bytes(), type=dict[str, Counted])

    def of(self, name: str) -> Counted:
        """The counts of a run."""
        if name not in self.runs:
            self.runs[name] = self._known.get(name, Counted())
        return self.runs[name]

    def save(self) -> None:
        fresh = self._path.with_name(f"{self._path.name}.new")
        fresh.write_bytes(msgspec.json.format(msgspec.json.encode(self.runs)))
        fresh.replace(self._path)


def table(counted: Iterable[tuple[str, int, str, Counted]]) -> str:
    """The table of the document: of each run its name, its target and unit, and its counts."""
    rows = [HEADING, RULE]
    for name, target, unit, each in counted:
        commits = each.commit if each.first_commit == each.commit else f"{each.first_commit} to {each.commit}"
        accepted = "" if each.accepted is None else f"{each.accepted:,}"
        seeds = f"1 to {each.next_seed - 1:,}" if each.next_seed > 1 else ""
        cells = (
            name,
            f"{each.done:,}",
            f"{target:,} {unit}",
            seeds,
            accepted,
            str(len(each.failures)),
            commits,
            each.date,
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def failures(counted: Sequence[tuple[str, int, str, Counted]]) -> str:
    """What failed, each with how to repeat it."""
    lines = [
        f"- {each.date}, commit {each.commit}: `scripts/long_runs {name} --seed {each.seed}`: {_short(each.problem)}\n"
        for name, _, _, counts in counted
        for each in counts.failures
    ]
    return "".join(lines) or "None.\n"


def counts_of(document: str) -> dict[str, Counted]:
    """The counts of the document, from which a checkout goes on that has played nothing itself."""
    found: dict[str, Counted] = {}
    for line in _between(document, "counts")[1].splitlines()[2:]:
        name, done, _, seeds, accepted, _, commits, date = (cell.strip() for cell in line.strip("|").split("|"))
        first, _, last = commits.partition(" to ")
        found[name] = Counted(
            done=_number(done),
            accepted=_number(accepted) if accepted else None,
            next_seed=_number(seeds.removeprefix("1 to ")) + 1 if seeds else 1,
            first_commit=first,
            commit=last or first,
            date=date,
        )
    for date, commit, name, seed, problem in FAILURE.findall(_between(document, "failures")[1]):
        if name in found:
            found[name].failures.append(Failure(int(seed), commit, date, problem))
    return found


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _short(problem: str) -> str:
    """The last line of an error that says something, as text of a document."""
    lines = [line for line in problem.splitlines() if re.match(r"[\w.]+(: |$)", line)]
    return f"`{(lines or ['no reason given'])[-1][:200].replace('`', ' ')}`"


def written(document: str, marked: dict[str, str]) -> str:
    """The document with new text between the marks of each name."""
    for name, text in marked.items():
        before, _, after = _between(document, name)
        document = before + text + after
    return document


def _between(document: str, name: str) -> tuple[str, str, str]:
    """The document before the text that has this name, that text, and what comes after it."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, found, rest = document.partition(begin)
    text, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the document has no place for {name}")
    return before + begin, text, closed + after
