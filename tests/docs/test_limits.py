"""`docs/limits.md` has every limit of a node, as the code declares it today."""

from __future__ import annotations

import ast

from ledgerd.p2p.shared.allowances import SIGNATURES
from scripts.generate_limits_docs import DOCUMENT, NAMED, THREATS, document, limits, names_in


def test_the_page_is_up_to_date() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `make docs`"


def test_every_bound_that_holds_a_threat_is_in_it() -> None:
    declared = {(each.module, each.name) for each in limits()}
    assert set(NAMED.findall(THREATS.read_text(encoding="utf-8"))) <= declared


def test_a_limit_has_its_value_its_place_and_what_it_limits() -> None:
    found = {(each.module, each.name): each for each in limits()}
    assert found["p2p.shared.allowances", "SIGNATURES"].value == SIGNATURES
    assert found["rpc.call.limits", "batch"].what == "Requests in one batch"
    assert found["client.pool", "MOST_WAITING"].what == "Requests that wait for a connection"


def test_what_is_no_number_or_says_no_limit_is_left_out() -> None:
    assert not [each for each in limits() if each.name in {"EVERYBODY", "VERSION", "ROOMS"}]
    assert [*names_in(ast.parse("MOST_A, B = 1, 2\n'''What both are. More.'''\nC: int = 3\n").body)] == [
        ("MOST_A", "What both are"),
        ("B", "What both are"),
        ("C", ""),
    ]
