"""Violations of rules: their texts derive from a format and its values, of which clients get both."""

from __future__ import annotations

import pytest

from ledgerd.codec.json.errors import Layer
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import Overflow, RuleViolation, require


@pytest.mark.parametrize(
    ("value", "shown"),
    [("alice", "alice"), (["alice", "bob"], '["alice","bob"]'), (7, "7"), (1 << 40, "1099511627776"), (True, "true")],
)
def test_a_message_is_the_format_with_its_values(value: Json, shown: str) -> None:
    broken = RuleViolation("Missing Active Authority ${id}", id=value)

    assert broken.message == str(broken) == f"Missing Active Authority {shown}"
    assert broken.layers == [Layer("Missing Active Authority ${id}", {"id": value})]


def test_a_name_without_a_value_stays_as_it_is() -> None:
    assert RuleViolation("'agent' (${a}) is not ${e}", e="bob").message == "'agent' (${a}) is not bob"


def test_a_value_is_never_taken_for_a_format() -> None:
    assert RuleViolation("${n} or ${m}", n="${m}", m="x").message == "${m} or x"


def test_callers_add_layers_and_the_message_stays_that_of_the_rule() -> None:
    broken = Overflow("too much").under().under("of ${name}", name="bob")

    assert isinstance(broken, Overflow)
    assert broken.layers == [Layer("too much", {}), Layer("", {}), Layer("of ${name}", {"name": "bob"})]
    assert broken.message == "too much"


def test_a_rule_that_holds_raises_nothing() -> None:
    require(1, "${n} is one", n=1)

    with pytest.raises(RuleViolation, match=r"^0 is none$"):
        require(0, "${n} is none", n=0)
