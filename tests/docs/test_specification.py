"""The specification has contents that lead on, the words of every recorded refusal, and the answer of `get_config`."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.recorded import PROBES, recorded_probe

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "spec"
VECTORS = ROOT / "tests" / "vectors"
FAULT = re.compile(r"^(.*?)(?:: |$)")


def text_of(part: str) -> str:
    return next(FOLDER.glob(f"{part}-*.md")).read_text(encoding="utf-8").replace("\\|", "|")


def words_of(refusal: str) -> str:
    """What of a refusal is the same each time: the condition, or what is missing, without names."""
    if missing := re.match(r"Missing \w+ Authority", refusal):
        return missing[0]
    condition = FAULT.match(refusal)
    return condition[1] if condition else refusal


@pytest.mark.parametrize("part", [f"{number:02}" for number in range(1, 12)])
def test_the_contents_of_a_part_lead_to_each_of_its_sections(part: str) -> None:
    contents, _, sections = text_of(part).partition("## Contents\n")[2].partition("\n## ")

    numbers = re.findall(r"^## (\d+)\.? ", "## " + sections, re.MULTILINE)
    assert re.findall(r"^(\d+)\. \[.+\]\(#\1-", contents, re.MULTILINE) == numbers


@pytest.mark.parametrize("probe", PROBES)
def test_every_recorded_refusal_has_its_words_in_the_specification(probe: str) -> None:
    specified = "".join(map(text_of, ("01", "02", "03", "05")))
    refusals = {fact["refused"]["message"] for fact in recorded_probe(probe) if fact["refused"]}

    assert refusals
    assert sorted(words for refusal in refusals if (words := words_of(refusal)) not in specified) == []


def test_the_facts_that_changes_rest_on_are_there() -> None:
    named = re.findall(r"`(tests/[^`]+)`", (FOLDER / "CHANGES.md").read_text(encoding="utf-8"))

    assert named
    assert [name for name in named if not list(ROOT.glob(name))] == []


@pytest.mark.parametrize("network", ["mainnet", "testnet"])
def test_the_specified_answer_of_get_config_is_the_recorded_one(network: str) -> None:
    recorded: dict[str, Any] = json.loads((VECTORS / f"get_config-{network}.json").read_text())
    section = text_of("05").partition("### 22.3")[2].partition("### 22.4")[0]
    answer = json.dumps({"jsonrpc": "2.0", "result": recorded, "id": 1}, separators=(",", ":"))

    assert f"{len(answer)} bytes, SHA-256 `{sha256(answer.encode()).hexdigest()}`" in section


def test_the_specified_keys_of_get_config_are_the_recorded_ones() -> None:
    rows = re.findall(r"^\| \d+ \| ([A-Z_0-9]+) \|", text_of("01").partition("## 12. get_config")[2], re.MULTILINE)

    assert rows == list(json.loads((VECTORS / "get_config-mainnet.json").read_text()))
