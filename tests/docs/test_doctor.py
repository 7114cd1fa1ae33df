"""docs/doctor.md: a section for each finding, and no other; and the fields of the JSON."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.cli.directory.doctor import ERRORS, FORMAT, SOUND, WARNINGS, WRONG_CONFIGURATION
from ledgerd.doctor.finding import Finding, Severity
from tests.docs.guides import DOCUMENTS
from tests.doctor.test_faults import FAULTS
from tests.house.source_tree import PACKAGE, ROOT, called_name, parse, python_files, write_tree

MAKERS = {"error", "warning", "make"}
NOT_ON_A_NODE = {"configuration-wrong", "configuration-doubtful", "options-ignored"}
"""They come from the configuration alone, and are prepared in tests/cli/directory/test_doctor.py."""


def names_of(folder: Path) -> Iterator[str]:
    """The names of all findings that the source can make."""
    for path in python_files(folder):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) and called_name(node) in MAKERS and node.args:
                match node.args[0]:
                    case ast.Constant(value=str(name)):
                        yield name


def anchors() -> list[str]:
    text = (DOCUMENTS / "doctor.md").read_text(encoding="utf-8")
    return re.findall(r"^### (.+)$", text, re.MULTILINE)


def test_every_finding_has_a_section_and_every_section_a_finding() -> None:
    assert sorted(anchors()) == sorted({*names_of(ROOT / "src" / PACKAGE / "doctor")})


def test_every_finding_is_prepared_in_a_test() -> None:
    prepared = {name for name, _ in FAULTS.values()}

    assert prepared | NOT_ON_A_NODE == {*anchors()}


def test_a_finding_without_a_section_would_be_found(tmp_path: Path) -> None:
    src = write_tree(
        tmp_path, {f"{PACKAGE}/doctor/new.py": "def f():\n    yield error('new-fault', what='', why='', do='')"}
    )

    assert [*names_of(src)] == ["new-fault"]


def test_the_fields_and_severities_of_the_json_are_documented() -> None:
    text = (DOCUMENTS / "doctor.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `findings\[\]\.(\w+)`", text, re.MULTILINE) == list(Finding.__struct_fields__)
    assert "`error` or `warning`" in text
    assert {each.value for each in Severity} == {"error", "warning"}
    assert f"| `format` | number | {FORMAT} |" in text


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (SOUND, "nothing was found"),
        (ERRORS, "at least one error"),
        (WRONG_CONFIGURATION, "the configuration is wrong"),
        (WARNINGS, "only warnings"),
    ],
)
def test_the_exit_codes_are_those_of_the_table(code: int, meaning: str) -> None:
    assert f"| {code} | {meaning}" in (DOCUMENTS / "doctor.md").read_text(encoding="utf-8")
