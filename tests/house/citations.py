"""Reads the places that cite the specification, `spec 02, section 7.1` and the other forms that CONTRIBUTING.md lists.

A citation may be wrapped over lines, comment marks and pieces of a string. What looks like a citation and is in no form
that is read here becomes a fault, so that none is passed over.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from tests.house.specification import NUMBER, Part, through

PART = r"(?:0[1-9]|1[01])(?!\w)(?!\.\d)"
SECTION = rf"{NUMBER}(?!\w)(?!\.\d)"
ROW = r"R\d+(?:\.\d+)?[a-z]?"
ENTRY = rf"(?:{ROW}|\d+|[a-z])(?!\w)(?!\.\d)"
AND = r", and |, | and | to |[-\u2013]"
RANGE = (" to ", "-", "\u2013")
GROUP = re.compile(
    rf"(?P<and>{AND})?(?P<section>{SECTION})"
    rf"(?:,? (?:steps?|items?|rules?|rows?) (?P<entries>{ENTRY}(?:(?:{AND}){ENTRY})*)|, (?P<row>{ROW}))?"
)
EACH = re.compile(rf"(?P<and>{AND})?(?P<entry>{ENTRY})")

PARTS = re.compile(rf"[Ss]pec ({PART}(?: and 0\d(?!\w))*)")
LIST = re.compile(r"(?:, )?(?P<word>[Ss]ections? )?(?=\d)")
QUESTIONS = re.compile(rf", open questions? (?P<entries>{ENTRY}(?:(?:{AND}){ENTRY})*)")
OF_PART = re.compile(rf" of spec ({PART})")
BARE = re.compile(r"[Ss]ections? (?=\d)")

SUSPECT = re.compile(
    r"\b[Ss]pec(?:s|ification)?,?(?: [Pp]arts?)? ?#?\d"  # also specs 03, specification 03, spec part 3
    r"|\b[Pp]arts? (?:0\d|1[01]),? sections?"
    r"|\b(?:0[1-9]|1[01])[,:-]? ?(?:s|sec|sect|section)s?\.? ?\d"  # 03 s5, 03 section 5
    r"|§"
    r"|\b[Ss]ections? R?\d"
)
UNREAD = re.compile(
    r"[ ,;/\u2013-]*(?:and |to |or )?\(?(?:(?:section|step|item|rule|row|line|question)s? )?R?\d"
    r"|,? [Ss]ections?\b| [a-z]\)|\w|\.\d"
)

COMMENT_MARK = re.compile(r"(?:#:?|//|\*|>)[ \t]+")
STRING_MARK = re.compile(r"[rfb]{0,2}([\"'])(?!\1)")


@dataclass(frozen=True)
class Citation:
    """What one place cites: a part, a section of it unless it is the whole, and perhaps an entry there."""

    place: str
    part: str
    section: str = ""
    entry: str = ""

    def __str__(self) -> str:
        names = (f"spec {self.part}", f"section {self.section}" if self.section else "", self.entry)
        return f"{self.place}: " + ", ".join(filter(None, names))


@dataclass
class Reading:
    """The citations of one file, and the places that could not be read."""

    citations: list[Citation] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Flow:
    """The text of a file in one line, without what wraps it; a place in it still knows its line in the file."""

    def __init__(self, text: str) -> None:
        self.text = ""
        self._starts: list[int] = []
        for line in text.splitlines():
            piece = COMMENT_MARK.sub("", line.strip(), count=1) if COMMENT_MARK.match(line.strip()) else line.strip()
            opening = STRING_MARK.match(piece)
            if opening and self.text.endswith(opening[1]) and not self.text.endswith(opening[1] * 3):
                self.text, piece = self.text[:-1], piece[opening.end() :]
            elif self.text:
                self.text += " "
            self._starts.append(len(self.text))
            self.text += piece

    def line(self, place: int) -> int:
        return bisect_right(self._starts, place)


def read_citations(name: str, text: str) -> Reading:
    """Every citation of a file. `section 5` alone is one of the part that the file named last."""
    flow, reading = Flow(text), Reading()
    parts: list[str] = []
    end = 0
    while suspect := SUSPECT.search(flow.text, end):
        begin, where = suspect.start(), f"{name}:{flow.line(suspect.start())}"
        named: list[tuple[str, str]] | None = None
        if proper := PARTS.match(flow.text, begin):
            parts = proper[1].split(" and ")
            named, end = _cited(flow.text, proper.end())
        elif BARE.match(flow.text, begin):
            named, end = _cited(flow.text, begin)
            if after := OF_PART.match(flow.text, end):
                parts, end = [after[1]], after.end()
        said = flow.text[begin : max(end, begin) + 15]
        end = max(end, suspect.end())
        if named is None or UNREAD.match(flow.text, end):
            reading.faults.append(f"{where}: cannot be read: {said!r}")
        elif not parts:
            reading.faults.append(f"{where}: of which part? {said!r}")
        else:
            reading.citations += [Citation(where, part, *each) for part in parts for each in named]
    return reading


def _cited(text: str, place: int) -> tuple[list[tuple[str, str]] | None, int]:
    """Sections with their entries from here on, and where they end. None: this is said in no form that is known."""
    if questions := QUESTIONS.match(text, place):
        return [("", f"open question {entry}") for entry in _entries(questions["entries"])], questions.end()
    start = LIST.match(text, place)
    if start is None:
        return [("", "")], place
    named: list[tuple[str, str]] = []
    groups, last, place = 0, "", start.end()
    while (group := GROUP.match(text, place)) and bool(group["and"]) == bool(groups):
        entries = [group["row"]] if group["row"] else _entries(group["entries"] or "")
        sections = through(last, group["section"])[1:] if group["and"] in RANGE else [group["section"]]
        named += [(section, entry) for section in sections for entry in entries or [""]]
        groups, last, place = groups + 1, group["section"], group.end()
        if not sections:
            return None, place
    is_singular = (start["word"] or "").lower() == "section "
    is_plural = (start["word"] or "").lower() == "sections "
    return (None if (is_singular and groups > 1) or (is_plural and groups == 1) else named), place


def _entries(text: str) -> list[str]:
    """`6 to 8 and 10`: four of them."""
    found: list[str] = []
    for each in EACH.finditer(text):
        found += through(found[-1], each["entry"])[1:] if each["and"] in RANGE else [each["entry"]]
    return found


def fault_of(citation: Citation, specification: dict[str, Part]) -> str:
    """Why a citation cannot be looked up; nothing if it can."""
    part = specification.get(citation.part)
    if part is None:
        return f"{citation}: there is no such part"
    if citation.entry.startswith("open question "):
        is_there = citation.entry.removeprefix("open question ") in part.questions
        return "" if is_there else f"{citation}: there is no such question"
    if citation.section and citation.section not in part.sections:
        return f"{citation}: there is no such section"
    entries = part.sections.get(citation.section, set())
    is_there = not citation.entry or any(_is_entry(entry, citation.entry) for entry in entries)
    return "" if is_there else f"{citation}: the section has no such entry"


def _is_entry(entry: str, cited: str) -> bool:
    """`R2.4` is the rows `R2.4a` to `R2.4c` together."""
    return entry == cited or (cited.startswith("R") and entry[:-1] == cited)


# -- the specification's own references: `§5.2` within a part, `03 §5.2` to another, `§17.5` also for item 5 of 17

REFERENCES = re.compile(
    rf"(?:\b(?P<part>0[1-9]|1[01]) )?§§?(?P<first>{NUMBER})(?P<more>(?:(?:(?:, | and )§|[-\u2013]§?){NUMBER})*)"
)


def dangling_references(own: str, text: str, specification: dict[str, Part]) -> list[str]:
    """References of one part's text that lead nowhere. Of what follows `03 §5`, only `, §6` is of that part as well."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for reference in REFERENCES.finditer(line):
            part = reference["part"] or own
            named = [reference["first"], *re.findall(rf"[-\u2013§]({NUMBER})", reference["more"])]
            sections = specification[part].sections
            found += [f"{own}:{number}: {part} §{each}" for each in named if not _leads_somewhere(each, sections)]
    return found


def _leads_somewhere(number: str, sections: dict[str, set[str]]) -> bool:
    stem, _, entry = number.rpartition(".")
    return number in sections or entry in sections.get(stem, set())
