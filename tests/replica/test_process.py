"""A replica as a process of its own: what it cannot follow is told before anything is written."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.protocol.errors import OperatorError
from ledgerd.replica.copies.following import FollowStatus
from ledgerd.replica.copies.state_copy import StateCopy
from ledgerd.replica.process import DIFFERED, MOST_BEHIND, NO_STATE, TOO_FAR, run, why_not_served
from tests.chain.replays import copy_replayed

SOUND = FollowStatus(head=100, node_head=100, is_sound=True)


def test_what_cannot_be_followed_is_told(tmp_path: Path) -> None:
    assert "neither unix:/PATH nor tcp://HOST:PORT" in (run(["http://a:1", str(tmp_path)]) or "")
    assert "an address of this machine" in (run(["tcp://192.0.2.1:1", str(tmp_path)]) or "")


def test_the_directory_of_a_node_is_refused(tmp_path: Path) -> None:
    copy_replayed("open-2", 330, tmp_path)
    with pytest.raises(OperatorError, match="holds the state of a node"):
        StateCopy(tmp_path / STATE_FOLDER)


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
