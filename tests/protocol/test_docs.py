"""The pages of `docs/protocol/` say what the declarations say today."""

from __future__ import annotations

import re

import pytest

from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from scripts.generate_protocol_docs import FOLDER, authorities_in_words, documents, operations_page

LINK = re.compile(r"\]\(([a-z]*\.?m?d?)#([^)]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", documents())
def test_a_page_is_what_make_docs_writes(page: str) -> None:
    assert (FOLDER / page).read_text(encoding="utf-8") == documents()[page], "run `make docs`"


def test_there_is_no_page_that_nobody_writes() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(documents())


@pytest.mark.parametrize("page", documents())
def test_every_link_leads_to_a_heading(page: str) -> None:
    headings = {
        name: {heading.lower().replace(" ", "-") for heading in HEADING.findall(documents()[name])}
        for name in documents()
    }

    assert [(to, place) for to, place in LINK.findall(documents()[page]) if place not in headings[to or page]] == []


def test_every_operation_has_a_heading_of_its_own() -> None:
    headings = HEADING.findall(operations_page())

    assert [headings.count(name_of(operation)) for operation in OPERATIONS] == [1] * len(OPERATIONS)


def test_authorities_are_told_by_the_fields_that_they_come_from() -> None:
    told = {name_of(each): authorities_in_words(each) for each in OPERATIONS}

    assert told["transfer"].startswith("Authority: active of `from`.")
    assert told["vote"] == "Authority: regular of `voter`."
    assert told["recover_account"].startswith(
        "Authority: the authority of `new_master_authority`; the authority of `recent_master_authority`."
    )
    assert told["hardfork"].startswith("Virtual")
