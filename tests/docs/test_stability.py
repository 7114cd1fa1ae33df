"""`docs/stability/unreleased.json` has what is promised today, and what was promised is not broken silently."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from scripts.compare_stability import Break, announced, breaks, last_release, read_list, silent, silent_breaks
from scripts.generate_stability import FOLDER, UNRELEASED, Stable, stable, text
from tests.house.source_tree import ROOT

BEFORE: Stable = {
    "options": {
        "old": {"takes": "a path", "default": ["x"], "repeatable": False},
        "going": {"takes": "a path", "default": [], "repeatable": False, "deprecated": "1.1.0"},
    },
    "methods": {"a_api.get": {"parameters": ["name: string", "limit: uint32 = 100"], "returns": "Page"}},
    "records": {"Page": {"fields": {"entries": "array of string"}}},
    "metrics": {"ledgerd_a_total": {"kind": "counter", "labels": ["peer"]}},
    "formats": {"format: state": {"version": 1}},
    "exit codes": {"node: stuck": {"code": 1}},
    "python": {"ledgerd.sdk.Client.blocks": {"parameters": [], "keywords": ["since: int = 0"], "returns": "Stream"}},
}


def test_the_list_is_that_of_today() -> None:
    assert UNRELEASED.read_text(encoding="utf-8") == text(stable()), "run `make docs`"


def test_nothing_was_broken_silently_since_the_last_release() -> None:
    assert [str(each) for each in silent_breaks()] == []


def test_the_page_names_every_kind_of_promise_and_every_list_is_of_a_release() -> None:
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")

    assert [kind for kind in stable() if f"| {kind} |" not in page] == []
    assert {each.stem for each in FOLDER.iterdir()} - {"unreleased"} <= {
        heading.partition("]")[0] for heading in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("## [")
    }


def changed(**changes: object) -> list[str]:
    """The breaks of the planted list, after changes at `kind__name__property`; None removes."""
    now = copy.deepcopy(BEFORE)
    for path, value in changes.items():
        *way, last = (KEYS.get(key, key) for key in path.split("__"))
        place: dict[str, Any] = now
        for key in way:
            place = place[key]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return [str(each) for each in breaks(BEFORE, now)]


KEYS = {"get": "a_api.get", "codes": "exit codes", "stuck": "node: stuck", "blocks": "ledgerd.sdk.Client.blocks"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("options__old", None, "options: old: is gone"),
        ("options__old__default", ["y"], 'options: old: default was ["x"] and is ["y"]'),
        ("options__old__takes", "a number", 'options: old: takes was "a path" and is "a number"'),
        ("methods__get", None, "methods: a_api.get: is gone"),
        ("methods__get__returns", "Book", 'methods: a_api.get: returns was "Page" and is "Book"'),
        (
            "methods__get__parameters",
            ["n: uint32"],
            'methods: a_api.get: its parameters were ["name: string", "limit: uint32 = 100"] and are ["n: uint32"]',
        ),
        (
            "methods__get__parameters",
            ["name: string", "limit: uint32 = 100", "more: bool"],
            "methods: a_api.get: asks for more: bool",
        ),
        (
            "records__Page__fields",
            {"entries": "array of uint32"},
            "records: Page: does not have entries: array of string any more",
        ),
        (
            "metrics__ledgerd_a_total__labels",
            ["peer", "kind"],
            'metrics: ledgerd_a_total: labels was ["peer"] and is ["peer", "kind"]',
        ),
        ("codes__stuck__code", 3, "exit codes: node: stuck: code was 1 and is 3"),
        ("python__blocks__keywords", [], "python: ledgerd.sdk.Client.blocks: does not take since: int = 0 any more"),
    ],
)
def test_a_break_is_found(path: str, value: object, said: str) -> None:
    assert changed(**{path: value}) == [said]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("options__new", {"takes": "a path", "default": [], "repeatable": False}),
        ("options__old__deprecated", "1.2.0"),
        ("methods__get__parameters", ["name: string", "limit: uint32 = 100", "more: bool = false"]),
        ("records__Page__fields", {"entries": "array of string", "older": "string"}),
        ("python__blocks__keywords", ["since: int = 0", "until: int = 0"]),
    ],
)
def test_what_is_added_breaks_nothing(path: str, value: object) -> None:
    assert changed(**{path: value}) == []


CHANGELOG = """# Changelog

## [Unreleased]

### Added

- `a_api.get` answers more.

### Changed

- `node: stuck` is 3.

### Removed

- `--old`, which nobody used.

## [1.0.0] - 2030-01-01

### Removed

- `Page`
"""


def test_a_break_is_silent_unless_the_changelog_names_it_above_the_last_release() -> None:
    found = [
        Break("options", "old", ""),
        Break("exit codes", "node: stuck", "code was 1 and is 3"),
        Break("records", "Page", ""),
        Break("methods", "a_api.get", "asks for more: bool"),
    ]

    assert silent(found, BEFORE, CHANGELOG, "1.0.0") == found[2:]
    assert announced(CHANGELOG, "1.0.0")["Removed"] == {"old"}


def test_a_removal_is_not_silent_where_the_last_release_listed_it_as_deprecated() -> None:
    gone, retyped = Break("options", "going", ""), Break("options", "going", "takes was a path and is a number")

    assert silent([gone, retyped], BEFORE, "", "1.0.0") == [retyped]


def test_the_last_release_is_the_highest_version_that_has_a_list(tmp_path: Path) -> None:
    assert last_release(tmp_path) == ""
    for version in ("1.9.0", "1.10.0", "1.2.0", "unreleased"):
        (tmp_path / f"{version}.json").write_text(json.dumps({"options": {version: {}}}))

    assert last_release(tmp_path) == "1.10.0"
    assert read_list("1.10.0", tmp_path) == {"options": {"1.10.0": {}}}
