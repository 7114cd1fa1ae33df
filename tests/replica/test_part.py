"""What a replica tells API nodes of its state: whether it may be served, and why not."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.replica.copies.following import FollowStatus
from ledgerd.replica.part import DIFFERED, MOST_BEHIND, NO_STATE, TOO_FAR, why_not_served

SOUND = FollowStatus(head=100, node_head=100, is_sound=True)


def test_what_is_a_minute_behind_is_not_served() -> None:
    assert why_not_served(SOUND) == ""
    assert why_not_served(msgspec.structs.replace(SOUND, node_head=100 + MOST_BEHIND)) == ""
    assert why_not_served(msgspec.structs.replace(SOUND, node_head=100 + MOST_BEHIND + 1)) == TOO_FAR


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (FollowStatus(), NO_STATE),
        (FollowStatus(has_differed=True), DIFFERED),
        (FollowStatus(refusal="it is of another chain"), "the followed node refuses: it is of another chain"),
    ],
)
def test_without_a_state_of_the_node_the_reason_is_said(status: FollowStatus, reason: str) -> None:
    assert why_not_served(status) == reason
