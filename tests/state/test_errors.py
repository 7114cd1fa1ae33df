"""Errors of the store: texts that clients match on, and which of them an operator can do something about."""

from __future__ import annotations

import pytest

from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.state import StoreMisuse
from ledgerd.state.errors import (
    NotUnique,
    StorageError,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreOutdated,
    UnknownKey,
    unreadable,
)


@pytest.mark.parametrize(
    ("error", "name", "message"),
    [
        (UnknownKey(), "N5boost10wrapexceptISt12out_of_rangeEE", "unknown key: "),
        (
            NotUnique.on_create(),
            "N5boost10wrapexceptISt11logic_errorEE",
            "could not insert object, most likely a uniqueness constraint was violated: ",
        ),
        (
            NotUnique.on_edit(),
            "N5boost10wrapexceptISt11logic_errorEE",
            "Could not modify object, most likely a uniqueness constraint was violated: ",
        ),
    ],
)
def test_a_broken_rule_has_the_texts_of_the_reference(error: RuleViolation, name: str, message: str) -> None:
    """Spec 02, section 1.5."""
    assert (error.code, error.name, error.message) == (13, name, message)
    assert f"{error.what}: " == message


@pytest.mark.parametrize("kind", [StoreCorrupt, StoreFull, StoreLocked, StoreOutdated])
def test_a_failure_of_the_disk_is_for_the_operator_and_breaks_no_rule(kind: type[StorageError]) -> None:
    assert issubclass(kind, StorageError)
    assert issubclass(kind, OperatorError)
    assert not issubclass(kind, RuleViolation)


def test_misuse_is_neither() -> None:
    assert not issubclass(StoreMisuse, (RuleViolation, OperatorError))


def test_unreadable_files_are_replaced_by_a_replay_or_a_snapshot() -> None:
    assert str(unreadable("bad page")) == (
        "the state is damaged or is none of this program (bad page): remove its folder, then replay the block log "
        "or import a snapshot"
    )
