"""What is recorded of a method when it is declared, for requests as for the documents."""

from __future__ import annotations

import pytest

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.call.declarations import Answering, AnyValue, Method, Nothing
from tests.rpc.sample_api import BROADCAST, DATABASE


def method(name: str) -> Method:
    found = DATABASE.find(name) or BROADCAST.find(name)
    assert found is not None
    return found


def test_the_parameters_of_a_method_are_those_of_its_function() -> None:
    pair = method("pair")

    assert [(each.name, each.annotation, each.is_required) for each in pair.parameters] == [
        ("name", AccountName, True),
        ("number", UInt32, True),
    ]
    assert pair.summary == "Its arguments, as they were understood."
    assert pair.result == AnyValue


def test_a_default_makes_a_parameter_optional() -> None:
    assert [(each.is_required, each.default) for each in method("optional").parameters] == [(True, None), (False, 7)]
    assert method("optional").arguments([1]) == [1, 7]


@pytest.mark.parametrize(
    ("name", "answering"),
    [("pair", Answering.AT_ONCE), ("broadcast", Answering.LATER), ("follow", Answering.REPEATEDLY)],
)
def test_the_kind_of_function_says_when_a_method_answers(name: str, answering: Answering) -> None:
    assert method(name).answering is answering


@pytest.mark.parametrize(("name", "result"), [("broadcast", Nothing), ("follow", AnyValue)])
def test_the_result_of_a_late_method_is_that_of_each_answer(name: str, result: object) -> None:
    assert method(name).result == result


def test_only_what_is_answered_at_once_is_kept() -> None:
    kept = {each.name for each in (*DATABASE, *BROADCAST) if each.is_cached}

    assert kept >= {"pair", "echo"}
    assert not kept & {"count", "broadcast", "follow"}


def test_another_name_is_the_same_method() -> None:
    alias = method("join")

    assert (alias.function, alias.alias_of, method("pair").alias_of) == (method("pair").function, "pair", "")


def test_arguments_are_converted_to_the_declared_types() -> None:
    assert method("pair").arguments([5, "-1"]) == ["5", 0xFFFFFFFF]
