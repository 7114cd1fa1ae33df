"""Every citation of the specification can be looked up: in the code, in the documents, and in itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.citations import Citation, dangling_references, fault_of, read_citations
from tests.house.source_tree import ROOT, write_tree
from tests.house.specification import Part, read_part, read_specification

SPECIFICATION = ROOT / "docs" / "spec"
FOLDERS = ("src", "tests", "bench", "scripts", "docs", "share")
NOT_READ = (
    "docs/spec/0",  # the parts refer to each other in another form, see below
    "docs/spec/1",
    "tests/vectors",  # recorded
    "tests/fuzz/corpus",  # bytes
    "tests/house/citations.py",  # names the forms
    "tests/house/test_citations.py",  # plants faults
)


OF_OTHERS = {"__pycache__", "meta_schema"}


def readable_files(root: Path) -> Iterator[tuple[str, str]]:
    """The names and texts of what may cite: everything but what is no text."""
    below = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    for path in sorted([*root.glob("*.*"), *below]):
        name = path.relative_to(root).as_posix()
        if path.is_file() and OF_OTHERS.isdisjoint(path.parts) and not name.startswith(NOT_READ):
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def all_citations(root: Path) -> tuple[list[Citation], list[str]]:
    readings = [read_citations(name, text) for name, text in readable_files(root)]
    return [each for reading in readings for each in reading.citations], [f for r in readings for f in r.faults]


def faults(root: Path, specification: dict[str, Part]) -> list[str]:
    citations, unread = all_citations(root)
    return unread + [fault for citation in citations if (fault := fault_of(citation, specification))]


def test_every_citation_can_be_looked_up() -> None:
    citations, unread = all_citations(ROOT)
    specification = read_specification(SPECIFICATION)

    assert unread == []
    assert [fault for citation in citations if (fault := fault_of(citation, specification))] == []
    assert len(citations) > 600
    assert {citation.part for citation in citations} >= {f"{part:02}" for part in range(1, 7)}


def test_the_specification_refers_to_what_is_there() -> None:
    specification = read_specification(SPECIFICATION)
    texts = {path.name[:2]: path.read_text(encoding="utf-8") for path in SPECIFICATION.glob("[01][0-9]-*.md")}

    assert sorted(texts) == [f"{part:02}" for part in range(1, 12)]
    assert [fault for part in texts for fault in dangling_references(part, texts[part], specification)] == []


LITTLE = {
    "02": read_part(
        "## 1. Names\n\n1. one\n2. two · 3. three\n\n### 1.1 Orders\n\n| a | b |\n\n### 1.2 - 1.4 Three more\n\n"
        "```\n## 5 code\n```\n\n## Open questions\n\n1. why?\n"
    ),
    "03": read_part("## 1 Blocks\n\n## 7. Rows\n\n| R2.4a | x |\n| R2.4b | y |\n"),
}


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("(spec 02, section 1)", ["spec 02, section 1"]),
        ("Spec 02, section 1.1.", ["spec 02, section 1.1"]),
        ("see spec 02: all", ["spec 02"]),
        ("(spec 02, 1.1)", ["spec 02, section 1.1"]),
        ("(spec 02, 1, 1.1)", ["spec 02, section 1", "spec 02, section 1.1"]),
        ("(spec 02, sections 1.1 and 1.2)", ["spec 02, section 1.1", "spec 02, section 1.2"]),
        ("(spec 02, sections 1.2 to 1.4)", [f"spec 02, section 1.{n}" for n in (2, 3, 4)]),
        ("(spec 02, sections 1, 1.1-1.2)", ["spec 02, section 1", "spec 02, section 1.1", "spec 02, section 1.2"]),
        ("(spec 02, 1.2\u20131.3)", ["spec 02, section 1.2", "spec 02, section 1.3"]),
        ("(spec 02 and 03, section 1)", ["spec 02, section 1", "spec 03, section 1"]),
        ("(spec 02, section 1; spec 03, 7)", ["spec 02, section 1", "spec 03, section 7"]),
        ("(spec 02, section 1: x; section 1.1: y)", ["spec 02, section 1", "spec 02, section 1.1"]),
        ("section 7 of spec 03", ["spec 03, section 7"]),
        ("spec 02, section 1.1, quirk", ["spec 02, section 1.1"]),
        ("spec 02, section 1, step 2", ["spec 02, section 1, 2"]),
        ("spec 02, section 1, items 1 to 3", [f"spec 02, section 1, {n}" for n in (1, 2, 3)]),
        ("spec 02, sections 1 rule 2 and 1.1", ["spec 02, section 1, 2", "spec 02, section 1.1"]),
        ("spec 02, section 1.1, row a", ["spec 02, section 1.1, a"]),
        ("spec 03, section 7, R2.4", ["spec 03, section 7, R2.4"]),
        ("spec 02, open question 1", ["spec 02, open question 1"]),
        ('"""Long (spec 02,\n    section 1.1)."""', ["spec 02, section 1.1"]),
        ("# long (spec 02, section\n# 1.1)", ["spec 02, section 1.1"]),
        ("#: of spec\n#: 02, section 1", ["spec 02, section 1"]),
        ('    "of spec 02, "\n    f"section 1"', ["spec 02, section 1"]),
        ("> spec 02,\n> section 1", ["spec 02, section 1"]),
    ],
)
def test_every_form_is_read(text: str, cited: list[str]) -> None:
    reading = read_citations("file", text)

    assert reading.faults == []
    assert [str(citation).partition(": ")[2] for citation in reading.citations] == cited
    assert [fault_of(citation, LITTLE) for citation in reading.citations] == [""] * len(cited)


@pytest.mark.parametrize(
    "text",
    [
        "spec 02, section 2",
        "spec 02, section 5",  # a heading in code is none
        "spec 02, section 1.5",
        "spec 02, sections 1.1 to 1.5",
        "spec 02, section 1, step 4",
        "spec 02, section 1.1, row b",
        "spec 02, open question 2",
        "spec 03, section 7, R2.5",
        "spec 03, section 1.1",
        "spec 04, section 1",
        "spec 02 and 03, section 1.1",
        "(spec 03, section 1). Later: section 1.1.",
    ],
)
def test_a_citation_of_nothing_is_found(tmp_path: Path, text: str) -> None:
    tree = write_tree(tmp_path, {"src/rule.py": f'"""A rule.\n\nOf {text}\n"""\n'})

    assert len(faults(tree, LITTLE)) == 1
    assert faults(tree, LITTLE)[0].startswith("src/rule.py:3: spec 0")


@pytest.mark.parametrize(
    "text",
    [
        "spec 2, section 1",
        "specs 02 and 03",
        "specification 02",
        "spec part 02",
        "part 02, section 1",
        "spec 12, section 1",
        "spec 02 §1",
        "02 s1",
        "02, section 1",
        "spec 02, section 1, 2",
        "spec 02, section 1 and 1.1",
        "spec 02, sections 1",
        "spec 02, sections 1.1 to 1",
        "spec 02, section 1.1a",
        "spec 02, section 1.1 a)",
        "spec 02, section 1 (2)",
        "spec 02, section 1, line 2",
        "spec 02, section 1, step 1 / 2",
        "spec 02-03, section 1",
        "spec 02, section R2.4",
        "spec 02, sections [1](x) and [1.1](x)",
        "spec 02 section 1",
        "section 1",
    ],
)
@pytest.mark.parametrize("folder", FOLDERS)
def test_what_only_looks_like_a_citation_is_found(tmp_path: Path, folder: str, text: str) -> None:
    tree = write_tree(tmp_path, {f"{folder}/deep/rule.py": f"# {text}\n"})

    assert all_citations(tree)[1] != []


@pytest.mark.parametrize("text", ["§2", "03 §1.1", "02 §1.9", "03 §1, §2", "§1.2-1.5", "§1.4"])
def test_a_reference_to_nothing_is_found(text: str) -> None:
    assert len(dangling_references("03" if text == "§1.4" else "02", f"See {text}.", LITTLE)) == 1


@pytest.mark.parametrize("text", ["§1.1", "03 §7", "§1.3, 03 §1", "§1.2", "03 §1, §7", "§1.2-1.4", "§1.1 and 03 §1"])
def test_a_reference_to_a_heading_or_to_an_item_is_none(text: str) -> None:
    assert dangling_references("02", f"See {text}.", LITTLE) == []


def test_what_is_no_citation_is_left_alone() -> None:
    text = "The specification is long. In special 10 cases, inspect 03. Spectrum 2. This section has 3 parts."

    assert read_citations("file", text).citations == []
    assert read_citations("file", text).faults == []
