"""`python -m scripts.generate_specification FILE`: the specification as one document that stands alone.

A page of HTML that needs nothing beside it: every part of `docs/spec` in its order, numbered as it is cited, with
contents, and with each of its references as a link within the page. A release has it under the release's version.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from scripts.build_program import version_of_sources
from scripts.spec_links import SPECIFICATION, anchor_of

OPENING, APPENDICES = "README", ("CHANGES", "PROOFS")
PART = r"(?:0[1-9]|1[01])(?!\w)(?!\.\d)"
NUMBER = r"[1-9]\d*(?:\.\d+)*"
NUMBERED = re.compile(rf"({NUMBER})\.?(?: - ({NUMBER}))?(?=\s|$)")
SIGN = "\u00a7"
REFERENCE = re.compile(
    rf"[Ss]pec (?P<whole>{PART})(?!, (?:section|open))"
    rf"|[Ss]pec (?P<cited>{PART}), sections? (?P<listed>{NUMBER}(?:(?:, and |, | and | to ){NUMBER}(?![\w{SIGN}]))*)"
    rf"|(?:\b(?P<part>0[1-9]|1[01]) )?{SIGN}{SIGN}?"
    rf"(?P<numbers>{NUMBER}(?:(?:, and {SIGN}|, {SIGN}| and {SIGN}|[-\u2013]{SIGN}?){NUMBER})*)"
)
"""A part; sections of a part; and within the parts the sign for a section, with the number of another part or none."""
LEVELS = 2
"""Headings that the contents list: parts, and their sections."""

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
h1 { margin-top: 4rem; border-bottom: 2px solid; } h1, h2, h3, h4 { line-height: 1.25; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { border: 1px solid #bbb; padding: .2rem .5rem; vertical-align: top; text-align: left; }
code, pre { font: 14px/1.4 ui-monospace, monospace; background: #f4f4f4; }
pre { padding: .6rem; overflow-x: auto; }
a { color: #0b57d0; text-decoration: none; } a:hover { text-decoration: underline; }
nav ol { list-style: none; padding-left: 1rem; } :target { background: #fff3c4; }
@media print { h1 { break-before: page; } a { color: inherit; } }
"""


class Heading(NamedTuple):
    """A heading of the document."""

    level: int
    place: str
    title: str


class Chapter:
    """One file of the specification."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.stem
        self.part = path.stem[:2] if path.stem[:2].isdecimal() else ""
        self.tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
        self.headings: list[Heading] = []
        self.anchors: dict[str, str] = {"": self.name}
        """The place in the document for each anchor that links to this file name."""
        self.sections: dict[str, str] = {}
        """The place for each section by its number."""
        self._number_headings()

    def _number_headings(self) -> None:
        for token, inline in zip(self.tokens, self.tokens[1:], strict=False):
            if token.type == "heading_open":
                title, level = inline.content, int(token.tag[1])
                found = NUMBERED.match(title) if self.part and level > 1 else None
                place = self._place(title, found, level)
                self.anchors[anchor_of(title)] = place
                self.headings.append(Heading(level, place, title))
                token.attrs["id"] = place

    def _place(self, title: str, found: re.Match[str] | None, level: int) -> str:
        if level == 1:
            return self.name
        if found is None:
            return f"{self.name}-{anchor_of(title)}"
        numbers = through(found[1], found[2] or found[1])
        place = f"{self.part}-{found[1]}"
        self.sections.update(dict.fromkeys(numbers, place))
        return place


def through(first: str, last: str) -> list[str]:
    """`9.3` to `9.5`: all three."""
    stem, _, begin = first.rpartition(".")
    other, _, end = last.rpartition(".")
    if stem != other or not (begin.isdecimal() and end.isdecimal()):
        return [first, last]
    return [f"{stem}.{number}" if stem else str(number) for number in range(int(begin), int(end) + 1)]


class Document:
    """All chapters, and what refers to what."""

    def __init__(self, folder: Path) -> None:
        parts = sorted(folder.glob("[01][0-9]-*.md"))
        self.chapters = [Chapter(folder / f"{OPENING}.md"), *map(Chapter, parts)]
        self.chapters += [Chapter(folder / f"{name}.md") for name in APPENDICES]
        self._by_file = {each.path.name: each for each in self.chapters}
        self._by_part = {each.part: each for each in self.chapters if each.part}
        self.faults: list[str] = []
        """References that lead nowhere."""

    def render(self, version: str) -> str:
        title = f"The specification of the VIZ Ledger, {version}"
        bodies = "\n".join(map(self._body, self.chapters))
        cited = "It is cited as <em>spec 02, section 7.1</em>: the part, then the section."
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
            f"<style>{STYLE}</style></head><body>\n<p>{html.escape(title)}. {cited}</p>\n"
            f"{self._contents()}\n{bodies}\n</body></html>\n"
        )

    def _contents(self) -> str:
        return f"<nav><h2>Contents</h2><ol>\n{''.join(self._entries())}</ol></nav>"

    def _entries(self) -> Iterator[str]:
        for chapter in self.chapters:
            listed = [each for each in chapter.headings if each.level <= LEVELS and each.title != "Contents"]
            for each in listed:
                indent = f"margin-left:{each.level - 1}rem"
                text = _plain(f"{chapter.part}  {each.title}" if chapter.part and each.level == 1 else each.title)
                yield f'<li style="{indent}"><a href="#{each.place}">{text}</a></li>\n'

    def _body(self, chapter: Chapter) -> str:
        for token in chapter.tokens:
            if token.type == "inline":
                token.children = [*self._linked(chapter, token.children or [])]
        renderer = MarkdownIt("commonmark").enable("table")
        return str(renderer.renderer.render(chapter.tokens, renderer.options, {}))

    def _linked(self, chapter: Chapter, children: Sequence[Token]) -> Iterator[Token]:
        """The pieces of a text: links of files as links of the document, references as links."""
        opened: list[bool] = []
        for child in children:
            if child.type == "link_open":
                place = self._target(chapter, str(child.attrs["href"]))
                opened.append(place is not None)
                if place is not None:
                    child.attrs["href"] = place
                    yield child
            elif child.type == "link_close":
                if opened.pop():
                    yield child
            elif child.type == "text" and not any(opened):
                yield _raw(REFERENCE.sub(lambda found: self._reference(chapter, found), html.escape(child.content)))
            else:
                yield child

    def _target(self, chapter: Chapter, address: str) -> str | None:
        """Where a link leads: within the document, to the web, or nowhere, since the repository is not beside it."""
        if re.match(r"[a-z]+:", address):
            return address
        file, _, anchor = address.partition("#")
        target = self._by_file.get(file) if file else chapter
        if target is None:
            return None
        if anchor not in target.anchors:
            self.faults.append(f"{chapter.path.name}: {address}")
            return None
        return f"#{target.anchors[anchor]}"

    def _reference(self, chapter: Chapter, found: re.Match[str]) -> str:
        if found["whole"]:
            return f'<a href="#{self._by_part[found["whole"]].name}">{found[0]}</a>'
        of = self._by_part.get(found["cited"] or found["part"] or chapter.part)
        group = "listed" if found["cited"] else "numbers"
        before = found[0][: found.start(group) - found.start()]
        return before + re.sub(NUMBER, lambda each: self._section(chapter, of, each[0]), found[group])

    def _section(self, chapter: Chapter, of: Chapter | None, number: str) -> str:
        """A section, or an entry of its list: `17.5` is item 5 of section 17 where there is no such section."""
        place = of and (of.sections.get(number) or of.sections.get(number.rpartition(".")[0]))
        if not place:
            self.faults.append(f"{chapter.path.name}: section {number} of {of.name if of else 'no part'}")
            return number
        return f'<a href="#{place}">{number}</a>'


def _raw(text: str) -> Token:
    return Token("html_inline", "", 0, content=text)


def _plain(title: str) -> str:
    return html.escape(re.sub(r"[`*]|\]\([^)]*\)|(?<!\w)\[", "", title))


def main(words: list[str]) -> int:
    document = Document(SPECIFICATION)
    text = document.render(version_of_sources())
    for fault in document.faults:
        sys.stderr.write(f"leads nowhere: {fault}\n")
    if document.faults:
        return 1
    Path(words[0]).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
