"""The page of a shadow for the operator: what was compared, what differs, and whether blocks are signed.

Everything on it is text that is escaped: names, values and reasons are those of another node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.http.page.plain import plain_page
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.link.topics import unpacked
from ledgerd.shadow.gate import GateReport
from ledgerd.shadow.keeping.bundles import MOST_BUNDLES, read_bundle
from ledgerd.shadow.keeping.record import ShadowRecord, read_override, read_record
from ledgerd.shadow.keeping.report import bundle_lines, moment

TITLE = "A node beside another"
MOST_RECORDS = 8
"""Records on one page."""
MOST_QUESTIONS = 100
"""The most questions with differing answers that the page names."""
LONGEST_EXPLANATION = 64 << 10
"""Characters."""
REFRESH_SECONDS = 15
GUIDE = "docs/shadow.md"


class Explanation(NamedTuple):
    """A file of a difference in words, and which state of the file that was."""

    stamp: tuple[int, int]
    summary: str
    text: str


class ShadowPage:
    """Made anew for each request, of the files in the folder of a shadow; a difference is read once."""

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        self._folder = folder
        self._clock = clock
        self._explained: dict[str, Explanation] = {}
        self._gate: GateReport | None = None

    def receive(self, payload: bytes) -> None:
        """Take in the report of the gate."""
        self._gate = unpacked(payload, GateReport)

    def page(self) -> Page:
        now = int(self._clock())
        found = list(self._records())
        records = [each for each in found if isinstance(each, ShadowRecord)]
        notices = [*(_notice(str(each)) for each in found if isinstance(each, OperatorError))]
        notices += [line for record in records for line in _verdict(record)]
        explained = self._explanations()
        parts = [
            f"<p>As of {moment(now)}. What is asked, and what each line means: {GUIDE}.</p>",
            f'<ul id="problems">{"".join(notices or [_notice(self._nothing())])}</ul>',
            *(_record_part(record, now) for record in records),
            self._signing(now),
            *_differences(explained),
        ]
        return plain_page(TITLE, "\n".join(parts), 0 if explained else REFRESH_SECONDS)

    def _records(self) -> Iterator[ShadowRecord | OperatorError]:
        for path in islice(sorted(self._folder.glob("record-*.json")), MOST_RECORDS):
            try:
                record = read_record(path)
            except OperatorError as damaged:
                yield damaged
            else:
                if record is not None:
                    yield record

    def _nothing(self) -> str:
        if self._gate is None:
            return "This node has no shadow: add shadow = URL to its configuration."
        return "The shadow has written no record yet."

    def _signing(self, now: int) -> str:
        gate = self._gate
        if gate is None:
            return ""
        until = read_override(self._folder)
        if not gate.is_required:
            words, kind = "shadow-required is off: blocks are signed whatever the shadow finds.", ""
        elif now < until:
            words = f"Overridden until {moment(until)}: blocks are signed whatever the shadow finds."
            kind = "missed"
        elif gate.refusal:
            words, kind = f"No block is signed. {gate.refusal}", "missed"
        else:
            words, kind = "A block may be signed on the head of now.", "made"
        behind = f"<p>shadow-most-behind = {gate.most_behind}</p>" if gate.is_required else ""
        return f'<h2>Signing</h2>\n<p class="{kind}">{escape(words)}</p>{behind}'

    def _explanations(self) -> dict[str, Explanation]:
        kept, self._explained = self._explained, {}
        for path in islice(sorted(self._folder.glob("difference-*.json"), key=_place), MOST_BUNDLES):
            try:
                status = path.stat()
            except OSError:
                continue  # it was moved away meanwhile
            stamp = status.st_mtime_ns, status.st_size
            known = kept.get(path.name)
            self._explained[path.name] = known if known and known.stamp == stamp else _explain(path, stamp)
        return self._explained


def _place(path: Path) -> tuple[int, str]:
    """The order in which differences were found: the last number of their names."""
    number = path.stem.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, path.name)


def _explain(path: Path, stamp: tuple[int, int]) -> Explanation:
    try:
        bundle = read_bundle(path)
        kind = "consensus" if bundle.is_of_consensus else "answers"
        summary = f"{path.name}: {kind}, from block {bundle.first_block} on: {bundle.question.words}"
        text = "\n".join(bundle_lines(bundle, str(path)))
    except (OperatorError, ValueError) as problem:
        return Explanation(stamp, path.name, str(problem))
    return Explanation(stamp, summary, text[:LONGEST_EXPLANATION])


def _notice(words: str, kind: str = "") -> str:
    return f'<li class="{kind}">{escape(words)}</li>'


def _verdict(record: ShadowRecord) -> Iterator[str]:
    """The line that an operator has to read first."""
    both = f"{record.ours.url} and {record.theirs.url}"
    if record.first is not None:
        kind = "consensus" if record.first.is_of_consensus else "answers"
        yield _notice(
            f"{both} DIFFER in {record.differences:,} questions: {record.of_consensus:,} of consensus, "
            f"{record.of_answers:,} of answers. The first one, found {moment(record.first.at)}, from block "
            f"{record.first.block} on, is of {kind}: {record.first.words}"
        )
    elif not record.equal.at:
        yield _notice(f"{both}: nothing is compared yet")
    else:
        yield _notice(f"{both} are equal in all that was asked", "well")
    if record.apart:
        yield _notice(f"apart since {moment(record.apart_since)}: {record.apart}")
    for status in (record.ours, record.theirs):
        if status.problem:
            yield _notice(f"{status.url}: {status.problem}")
    if record.doubtful:
        yield _notice(f"in doubt: {record.doubtful} answers differ, not for a round yet. {record.doubt}")


def _record_part(record: ShadowRecord, now: int) -> str:
    days = max(0, now - record.since) / 86_400 if record.since else 0.0
    cards = [
        ("Compared for", f"{days:.1f} days", f"since {moment(record.since)}, from block {record.first_block} on"),
        ("Blocks", f"{record.blocks:,}", f"{record.rounds:,} rounds"),
        ("Questions", f"{record.questions:,}", f"{record.unanswered:,} not answered, {record.dropped:,} asked again"),
        ("Records in equal answers", f"{record.objects:,}", f"{record.cleared:,} answers differed for a moment"),
        ("Walks over all", f"{record.sweeps:,}", f"now at {record.cursor or 'the beginning'}"),
    ]
    inside = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(more)}</dd></div>"
        for name, value, more in cards
    )
    return (
        f'<h2>{escape(f"{record.ours.url} beside {record.theirs.url}")}</h2>\n<dl class="cards">{inside}</dl>\n'
        + _status_table(record)
        + _listed("Questions that are answered otherwise", record.told)
        + _listed("Fields that one version alone answers", record.one_sided)
    )


def _status_table(record: ShadowRecord) -> str:
    """The table of both heads, and of the last equal block."""
    equal = record.equal
    rows = [
        ("last equal", "", str(equal.number), equal.id, moment(equal.at)),
        *(
            (each.url, each.version, str(each.number), each.id, moment(each.at))
            for each in (record.ours, record.theirs)
        ),
    ]
    head = "".join(f'<th scope="col">{each}</th>' for each in ("Node", "Version", "Block", "Id", "Seen"))
    body = "".join(f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>" for row in rows)
    return (
        "<h2>Where both stand</h2>\n"
        '<div class="scroll" tabindex="0" role="region" aria-label="Where both stand"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>\n"
    )


def _listed(title: str, lines: list[str]) -> str:
    if not lines:
        return ""
    shown = "".join(f"<li>{escape(each)}</li>" for each in lines[:MOST_QUESTIONS])
    more = f"<li>and {len(lines) - MOST_QUESTIONS:,} more</li>" if len(lines) > MOST_QUESTIONS else ""
    summary = f"{title}: {len(lines):,}"
    return f'<details><summary>{escape(summary)}</summary><ul class="api">{shown}{more}</ul></details>\n'


def _differences(explained: dict[str, Explanation]) -> Iterator[str]:
    if not explained:
        return
    yield "<h2>Differences</h2>"
    yield f"<p>The first {MOST_BUNDLES} are kept in files, which ledgerd debug difference replays.</p>"
    for each in explained.values():
        yield (
            f'<details><summary>{escape(each.summary)}</summary><div class="scroll"><pre tabindex="0">'
            f"{escape(each.text)}</pre></div></details>"
        )
