"""What holds for every family of operations, given its tables: bytes, JSON, bounds, names, who must agree."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import pytest

from ledgerd.protocol.operations.base import Authorities, Operation
from tests.protocol.operations.expect import (
    accepts,
    asks_for_names,
    refuses,
    refuses_for_the_first_of_two_faults,
    round_trips,
)


class Family(NamedTuple):
    """The operations of a family, and what is right and wrong about them."""

    in_bytes: tuple[tuple[Operation, str, list[Any]], ...]
    """Each operation, sound, with its bytes and its JSON."""
    sound: tuple[Operation, ...]
    """At the near side of each bound."""
    unsound: tuple[tuple[Operation, str], ...]
    """At the far side of each bound, in the order in which the rules are asked, with what is said."""
    names: tuple[tuple[Operation, tuple[str, ...]], ...]
    """Their fields that have to hold valid names."""
    authorities: tuple[tuple[Operation, Authorities], ...]
    """Who must sign."""
    pairs: int
    """So many pairs of faults are there, to see which one is told."""


class OperationFamily:
    """Tests of a family; a test module says which."""

    family: ClassVar[Family]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        family, of_bytes = self.family, [(case[2][0], case) for case in self.family.in_bytes]
        tables: dict[str, list[tuple[str, Any]]] = {
            "in_bytes": of_bytes,
            "sound": [(repr(each), each) for each in (*(case[0] for case in family.in_bytes), *family.sound)],
            "unsound": [(f"{type(each).__name__}-{message}", (each, message)) for each, message in family.unsound],
            "named": [(type(each).__name__, (each, fields)) for each, fields in family.names],
            "signed": [(type(each).__name__, (each, asked)) for each, asked in family.authorities],
        }
        for name, cases in tables.items():
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, [case for _, case in cases], ids=[label for label, _ in cases])

    def test_bytes_and_json_say_the_same(self, in_bytes: tuple[Operation, str, list[Any]]) -> None:
        round_trips(*in_bytes)

    def test_what_is_within_its_bounds_is_accepted(self, sound: Operation) -> None:
        accepts(sound)

    def test_what_is_out_of_its_bounds_is_refused(self, unsound: tuple[Operation, str]) -> None:
        refuses(*unsound)

    def test_of_two_faults_the_first_is_told(self) -> None:
        operations, unsound = [case[0] for case in self.family.in_bytes], self.family.unsound
        tried = [refuses_for_the_first_of_two_faults(each, unsound) for each in operations]
        assert sum(tried) == self.family.pairs

    def test_names_have_to_be_valid(self, named: tuple[Operation, tuple[str, ...]]) -> None:
        operation, fields = named
        asks_for_names(operation, *fields)

    def test_those_who_act_must_agree(self, signed: tuple[Operation, Authorities]) -> None:
        operation, asked = signed
        assert operation.authorities() == asked

    def test_every_operation_is_in_every_table(self) -> None:
        kinds = {type(case[0]) for case in self.family.in_bytes}
        assert {type(each) for each, _ in self.family.unsound} == kinds
        assert {type(each) for each, _ in self.family.names} == kinds
        assert {type(each) for each, _ in self.family.authorities} == kinds
