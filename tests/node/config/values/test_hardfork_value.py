"""Hardforks as values: numbers, versions, and the reference's words about others (spec 11, section 9.6)."""

from __future__ import annotations

import pytest

from ledgerd.node.config.values.kind import WrongValue
from ledgerd.node.config.values.values import HARDFORK, LAST
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS
from ledgerd.protocol.types.versions import version_text


@pytest.mark.parametrize(
    ("text", "number"),
    [("", 0), ("0", 0), ("14", 14), ("015", 15), ("4.0", 14), ("4.1.0", 15), ("4.1.999999999999999999999", 15)],
)
def test_a_hardfork_is_named_by_its_number_or_its_version_whatever_the_release(text: str, number: int) -> None:
    assert HARDFORK.read(text) == number


def test_each_known_version_is_its_hardfork() -> None:
    for hardfork in MAINNET_HARDFORKS[1:]:
        assert HARDFORK.read(version_text(hardfork.version)) == hardfork.number
        assert HARDFORK.read(HARDFORK.show(hardfork.number)) == hardfork.number


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (str(LAST + 1), f"hardfork number {LAST + 1} is beyond this binary (max {LAST})"),
        ("9" * 5000, f"hardfork number {'9' * 5000} is beyond this binary (max {LAST})"),
        ("x", "is neither a hardfork number nor a version (expected MAJOR.MINOR or MAJOR.MINOR.RELEASE)"),
        ("-1", "is neither a hardfork number nor a version (expected MAJOR.MINOR or MAJOR.MINOR.RELEASE)"),
        ("4.1.0.0", "is neither a hardfork number nor a version (expected MAJOR.MINOR or MAJOR.MINOR.RELEASE)"),
        ("256.0", "version '256.0' is out of range"),
        ("0.256", "version '0.256' is out of range"),
        ("9.9", "this binary knows no hardfork with version 9.9"),
    ],
)
def test_other_texts_are_refused(text: str, problem: str) -> None:
    with pytest.raises(WrongValue) as error:
        HARDFORK.read(text)
    assert str(error.value) == problem
