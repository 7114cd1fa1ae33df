"""What an API node tells of the commits of a directory: each block of the trunk once and in order, forks, jumps."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from ledgerd.codec import codec_of
from ledgerd.node.workers.api_node.directory import NO_STATE, DirectoryState, StateHead
from ledgerd.node.workers.api_node.following import BLOCKS_AT_ONCE, IDS_KEPT, DirectoryFollower
from ledgerd.node.workers.api_node.forwarding import NOT_HERE, Forwarder
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.link import HEAD
from ledgerd.rpc.link.subscribers import Subscription
from ledgerd.rpc.link.topics import APPLIED_BLOCK, INCLUDED, STATUS, Inclusion, unpacked
from ledgerd.state.views.serving_status import ServingStatus, ServingStatusFile, write_serving_status
from tests.recorded import recorded_blocks
from tests.rpc.loopback import play

Trunk = list[bytes]


def block_id(number: int, branch: int) -> bytes:
    return number.to_bytes(4, "big") + bytes([branch] * 16)


def branch(first: int, last: int, mark: int, parent: int) -> Trunk:
    """Blocks that begin with the ids of those before them, which is all that is read of them here."""
    parents = [block_id(number - 1, parent if number == first else mark) for number in range(first, last + 1)]
    return [each + bytes([mark]) for each in parents]


class Scripted:
    """A directory whose trunk is set by hand: its state and its blocks."""

    def __init__(self) -> None:
        self.reason = NO_STATE
        self.head: StateHead | None = None
        self.blocks: dict[int, bytes] = {}
        self._is_new = False

    def stand(self, first: int, trunk: Trunk, head_id: bytes) -> None:
        """Have a trunk from a block on."""
        self.blocks = {number: packed for number, packed in self.blocks.items() if number < first}
        self.blocks |= dict(enumerate(trunk, first))
        self.head, self._is_new = StateHead(first + len(trunk) - 1, head_id, 0), True

    def refresh(self) -> bool:
        was_new, self._is_new = self._is_new, False
        return was_new

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield

    def packed(self, _view: None, number: int) -> bytes | None:
        return self.blocks.get(number)

    def free_dead_readers(self) -> None:
        """There are none."""


def follower_of(script: Scripted, folder: Path) -> DirectoryFollower:
    state, blocks = cast("DirectoryState", script), cast("KeptBlocks", script)
    return DirectoryFollower(state, ServingStatusFile(folder), blocks, Forwarder("", lambda: 0, lambda: 0.0))


def told(follower: DirectoryFollower, topic: str, script: Scripted, *steps: Any) -> list[bytes]:
    """The events of a topic while the directory goes through these steps."""

    async def scene() -> list[bytes]:
        heard = list[bytes]()
        follower.refresh()
        async with aclosing(follower.events(topic)) as events:
            for step in steps:
                script.stand(*step)
                while follower.refresh():
                    pass
            while len(cast("Subscription", events)):  # all that was told by now
                heard.append(await anext(events))
        return heard

    return play(scene)


def test_each_block_is_told_once_and_in_order_however_many_come_at_once(tmp_path: Path) -> None:
    script, many = Scripted(), 2 * BLOCKS_AT_ONCE + 3
    follower = follower_of(script, tmp_path)
    script.stand(1, branch(1, 5, 1, 1), block_id(5, 1))
    more = branch(6, 5 + many, 1, 1)
    last = branch(6 + many, 6 + many, 1, 1)

    heard = told(
        follower, APPLIED_BLOCK, script, (6, more, block_id(5 + many, 1)), (6 + many, last, block_id(6 + many, 1))
    )

    assert heard == more + last


def test_after_a_fork_the_blocks_of_the_other_branch_are_told_and_the_past_is_forgotten(tmp_path: Path) -> None:
    script, forgotten = Scripted(), list[int]()
    follower = follower_of(script, tmp_path)
    follower.on_undone.append(lambda: forgotten.append(1))
    first = [(number, branch(number, number, 1, 1), block_id(number, 1)) for number in range(2, 6)]
    script.stand(1, branch(1, 1, 1, 1), block_id(1, 1))
    other = branch(4, 6, 2, 1)

    heard = told(follower, APPLIED_BLOCK, script, *first, (4, other, block_id(6, 2)))

    assert heard == [each for _, [each], _ in first] + other
    assert forgotten == []
    shorter = branch(5, 5, 3, 2)
    assert told(follower, APPLIED_BLOCK, script, (5, shorter, block_id(5, 3))) == shorter
    assert forgotten == [1]


def test_of_a_state_that_does_not_follow_the_former_one_the_head_alone_is_told(tmp_path: Path) -> None:
    script, forgotten = Scripted(), list[int]()
    follower = follower_of(script, tmp_path)
    follower.on_undone.append(lambda: forgotten.append(1))
    script.stand(1, branch(1, 9, 1, 1), block_id(9, 1))
    other = branch(1, 40, 7, 7)

    assert told(follower, APPLIED_BLOCK, script, (1, other, block_id(40, 7))) == other[-1:]
    assert forgotten == [1]


def test_blocks_that_no_log_has_are_left_out(tmp_path: Path) -> None:
    script = Scripted()
    follower = follower_of(script, tmp_path)
    script.stand(1, branch(1, 3, 1, 1), block_id(3, 1))
    new = branch(500, 501, 1, 1)

    assert told(follower, APPLIED_BLOCK, script, (500, new, block_id(501, 1))) == new[-1:]
    more = branch(502, 502 + 2 * BLOCKS_AT_ONCE, 1, 1)
    script.stand(502, more, block_id(501 + len(more), 1))
    script.blocks.pop(510)
    assert told(follower, APPLIED_BLOCK, script) == []
    script.stand(501 + len(more), more[-1:], block_id(501 + len(more), 1))
    assert not follower.refresh()


def test_heads_are_remembered_up_to_a_number(tmp_path: Path) -> None:
    script = Scripted()
    follower = follower_of(script, tmp_path)
    steps = [(each, branch(each, each, 1, 1), block_id(each, 1)) for each in range(1, 2 * IDS_KEPT)]
    for first, trunk, head_id in steps:
        script.stand(first, trunk, head_id)
        follower.refresh()
    assert len(follower._published) == IDS_KEPT  # noqa: SLF001 - the bound itself


def test_who_waits_for_a_transaction_hears_of_those_of_each_block(tmp_path: Path) -> None:
    script = Scripted()
    follower = follower_of(script, tmp_path)
    packed = recorded_blocks("open-2")
    found = [codec_of(Block).decode(each) for each in packed[:200]]
    at = next(place for place, each in enumerate(found) if each.transactions)
    script.stand(1, list(packed[:at]), bytes(found[at].previous))

    [heard] = told(follower, INCLUDED, script, (at + 1, [packed[at]], bytes(found[at].id)))

    included = unpacked(heard, Inclusion)
    assert (included.block_num, included.timestamp) == (at + 1, found[at].timestamp)
    assert included.transaction_ids == tuple(bytes(each.id) for each in found[at].transactions)


def test_a_reason_not_to_serve_comes_and_goes_and_each_head_is_told_of(tmp_path: Path) -> None:
    script, changes = Scripted(), list[str]()
    follower = follower_of(script, tmp_path)
    follower.on_change.append(lambda: changes.append(follower.reason))
    follower.refresh()
    assert (follower.reason, changes) == (NO_STATE, [])
    script.stand(1, branch(1, 3, 1, 1), block_id(3, 1))
    follower.refresh()
    write_serving_status(tmp_path, ServingStatus("its digest differs"))
    follower.refresh()
    write_serving_status(tmp_path, ServingStatus(behind=2))
    follower.refresh()
    follower.refresh()
    assert changes == ["", "its digest differs", ""]
    assert len(told(follower, HEAD, script, (4, branch(4, 4, 1, 1), block_id(4, 1)))) == 1


def test_what_only_a_node_knows_is_refused(tmp_path: Path) -> None:
    follower = follower_of(Scripted(), tmp_path)
    with pytest.raises(PlainError, match=NOT_HERE):
        follower.events(STATUS)


def test_it_looks_often_while_there_are_clients_and_seldom_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, pauses, has_clients = Scripted(), list[float](), [True, True, False]
    follower = follower_of(script, tmp_path)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 1:
            script.stand(1, branch(1, 3, 1, 1), block_id(3, 1))
        if len(pauses) == len(has_clients):
            raise EOFError

    monkeypatch.setattr(asyncio, "sleep", pause)
    with pytest.raises(EOFError):
        play(lambda: follower.run(lambda: has_clients[len(pauses)]))
    assert pauses == [0.25, 0.02, 0.25]
