"""Who may forbid the signing of blocks, and until when."""

from __future__ import annotations

from ledgerd.node.parts.context import SigningPermit


def test_nothing_is_signed_until_all_who_forbade_it_allow_it_again() -> None:
    permit = SigningPermit()
    assert permit.refusal == ""

    permit.forbid("audit", "the state is being checked")
    permit.forbid("wedge", "behind")
    permit.forbid("wedge", "far behind")
    assert permit.refusal == "the state is being checked; far behind"

    permit.allow("audit")
    assert permit.refusal == "far behind"
    permit.allow("audit")
    permit.allow("wedge")
    assert permit.refusal == ""


def test_without_production_there_is_no_slot_of_ours() -> None:
    assert SigningPermit().seconds_to_our_slot() is None
