"""What passes from one data directory to another when a node takes production over, and what keeps two from signing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.parts.chain import Attachment
from ledgerd.node.parts.validators import take_over
from ledgerd.node.parts.validators.take_over import MARK, GivingNode, require_not_taken_over
from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.lock import lock_writer
from tests.chain.networks import SEVEN, start_seven
from tests.node.parts.test_production import production_part
from tests.patience import PATIENCE
from tests.signer.test_record import block_of

CHAIN = SEVEN.chain_id


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Of a node that has signed, and has ended, and of one that follows."""
    found = tmp_path / "old", tmp_path / "new"
    for folder in found:
        folder.mkdir()
        lock_writer(folder).close()
    LastSigned(found[0], CHAIN).record(block_of(7))
    return found


def signed_in(folder: Path) -> Block | None:
    return LastSigned(folder, CHAIN).block


def test_the_record_comes_along_and_a_mark_is_left(folders: tuple[Path, Path]) -> None:
    old, new = folders

    giver = GivingNode(old, new, CHAIN)
    assert not giver.has_given
    said = giver.take()
    assert giver.has_given

    assert said.startswith("block #101 of ")
    assert signed_in(new) == block_of(7)
    require_not_taken_over(new, None)
    with pytest.raises(OperatorError, match=f"the node of {new} has taken over .* validator-take-over = {new}"):
        require_not_taken_over(old, None)


def test_it_comes_back_with_what_was_signed_meanwhile(folders: tuple[Path, Path]) -> None:
    old, new = folders
    GivingNode(old, new, CHAIN).take()
    LastSigned(new, CHAIN).record(block_of(8))

    back = GivingNode(new, old, CHAIN)
    back.check()
    assert not back.has_given
    back.take()
    assert (back.has_given, GivingNode(old, new, CHAIN).has_given) == (True, False)

    assert signed_in(old) == block_of(8)
    require_not_taken_over(old, None)
    with pytest.raises(OperatorError, match=f"the node of {old} has taken over"):
        require_not_taken_over(new, None)


def test_an_older_record_takes_the_place_of_none_that_is_newer(folders: tuple[Path, Path]) -> None:
    old, new = folders
    LastSigned(new, CHAIN).record(block_of(9))

    GivingNode(old, new, CHAIN).take()

    assert signed_in(new) == block_of(9)


@pytest.mark.parametrize("step", ["_leave_mark", "unlink"])
def test_killed_on_the_way_it_is_done_again(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old, new = folders

    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Path if step == "unlink" else GivingNode, step, die)
        with pytest.raises(Killed):
            GivingNode(old, new, CHAIN).take()
    assert GivingNode(old, new, CHAIN).has_given is (step == "unlink")
    assert signed_in(new) == block_of(7)

    GivingNode(old, new, CHAIN).take()
    assert signed_in(new) == block_of(7)
    with pytest.raises(OperatorError, match="has taken over"):
        require_not_taken_over(old, None)


def test_what_was_given_to_one_node_is_not_taken_back_from_another(folders: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = folders
    third = tmp_path / "third"
    third.mkdir()
    lock_writer(third).close()
    GivingNode(old, new, CHAIN).take()

    with pytest.raises(OperatorError, match=f"the node of {new} has taken over"):
        GivingNode(third, old, CHAIN).check()


def test_what_would_be_in_the_way_later_is_said_at_the_start(folders: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = folders
    with pytest.raises(OperatorError, match="is no data directory of a node"):
        GivingNode(tmp_path / "none", new, CHAIN).check()
    with pytest.raises(OperatorError, match="is the data directory of this node"):
        GivingNode(new, new, CHAIN).check()
    (old / FILE).write_text("{")
    with pytest.raises(OperatorError, match="cannot be read"):
        GivingNode(old, new, CHAIN).check()


def test_nodes_with_one_signer_need_no_take_over(tmp_path: Path) -> None:
    words = {"validator-signer": "unix:/run/signer", "validator-take-over": str(tmp_path), "plugin": "validator"}
    with pytest.raises(ConfigurationError, match="may run at the same time"):
        read_configuration({name: [value] for name, value in words.items()}, tmp_path)


def test_a_node_makes_no_block_before_the_other_has_ended(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of the other node are no doppelganger's meanwhile, and none is watched for afterwards."""
    old, new = folders
    network = start_seven(old.parent / "source", blocks=30)
    blocks = [*network.blocks()]
    network.chain.close()
    LastSigned(old, CHAIN).record(blocks[-1])
    more = {"validator_take_over": str(old), "doppelganger_check": "true"}

    async def scene() -> None:
        lock, begun = lock_writer(old), asyncio.Event()
        async with production_part(new, blocks[-1].timestamp, **more) as (part, supervisor, production):
            attach = part.attach

            async def attach_and_tell(attachment: Attachment) -> None:
                await attach(attachment)
                begun.set()

            monkeypatch.setattr(part, "attach", attach_and_tell)
            for block in blocks:
                await part.run(lambda block=block: part.chain.push_block(block).or_raise())  # type: ignore[misc]
            assert production.producer is None
            (warning,) = supervisor.health.warnings
            assert warning == f"the node of {old} makes the blocks of viz until it is stopped"

            lock.close()
            await asyncio.wait_for(begun.wait(), PATIENCE)
            assert (supervisor.health.warnings, supervisor.health.down) == ((), {})
            assert production.producer is not None
            assert signed_in(new) == blocks[-1]
            lock_writer(old).close()

    asyncio.run(scene())


def test_a_directory_that_was_taken_over_makes_no_blocks(folders: tuple[Path, Path]) -> None:
    old, new = folders
    (new / MARK).write_text(f"{old}\n")

    async def scene() -> None:
        async with production_part(new, 0):
            pass

    with pytest.raises(OperatorError, match=rf"{take_over.OPTION} = {old}, then stop that one"):
        asyncio.run(scene())
