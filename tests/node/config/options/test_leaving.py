"""Options and former names that go: taken as before, with a warning that names the version without them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from packaging.version import Version

from ledgerd.node.config.given import Given
from ledgerd.node.config.options.declaration import Option, OptionSection, our_option
from ledgerd.node.config.options.sections import every_option
from ledgerd.node.config.reading import OptionReader
from ledgerd.node.config.values.values import TEXT
from scripts.build_program import version_of_sources

HERE = Path()


class Planted(msgspec.Struct, frozen=True):
    present: str | None = None
    going: str | None = None


SECTION = OptionSection(
    "planted",
    "A section of this test.",
    Planted,
    (
        our_option("present", TEXT, "Renamed.", leaving_names={"former": "1.2.0"}),
        our_option("going", TEXT, "Of no use any more.", leaves_in="1.3.0"),
    ),
)


def read(**given: str) -> tuple[Planted, list[str]]:
    reader = OptionReader({name: [Given(text, None)] for name, text in given.items()}, [])
    return reader.section(SECTION, HERE, HERE), reader.remarks


def test_a_former_name_is_taken_and_warned_of() -> None:
    assert read(former="x") == (
        Planted(present="x"),
        ["command line: former is an older name of present, and goes with version 1.2.0"],
    )


def test_the_present_name_goes_before_a_former_one() -> None:
    found, remarks = read(present="new", former="old")

    assert (found, len(remarks)) == (Planted(present="new"), 1)


def test_an_option_that_goes_is_taken_and_warned_of() -> None:
    assert read(going="x") == (Planted(going="x"), ["command line: going goes with version 1.3.0"])


def test_who_gives_none_of_them_is_not_warned() -> None:
    assert read(present="x") == (Planted(present="x"), [])


def overdue(options: Iterable[Option], version: str) -> list[str]:
    return [each.name for each in options if each.leaves_in and Version(each.leaves_in) <= Version(version)]


def test_an_option_is_gone_when_its_version_comes() -> None:
    assert overdue(every_option(), version_of_sources()) == []


def test_an_option_that_stayed_too_long_is_found() -> None:
    options = [each for option in SECTION.options for each in (option, *option.older())]

    assert overdue(options, "1.1.9") == []
    assert overdue(options, "1.2.0") == ["former"]
    assert overdue(options, "1.10.0") == ["former", "going"]
