"""What a later version has written is refused by name and number, and left as it is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.history.webhooks.position import read_position
from ledgerd.node.lifecycle import FATAL
from ledgerd.plugins.feeding import FeedBroken, read_observer_position
from ledgerd.producer.signing.double_sign import FILE, LastSigned, NewerRecord
from ledgerd.signer.record import OTHER, SignerRecord
from scripts.keep_release import KEPT
from tests.node.processes import run_to_end
from tests.signer.test_record import killed_after
from tests.upgrades.kept_releases import RELEASES, unpack
from tests.upgrades.newer import WORDS, make_file_newer, make_store_newer

PLANTS: dict[str, Callable[[Path], Path]] = {
    "state": lambda node: make_store_newer(node / "state", "ledgerd state"),
    "projections": lambda node: make_store_newer(node / "state" / "projections", "ledgerd state"),
    "history": lambda node: make_store_newer(node / "history", "ledgerd history"),
    FILE: lambda node: make_file_newer(node / FILE),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The newest kept release, of which there is always one."""
    folder = tmp_path_factory.mktemp("kept")
    unpack(RELEASES[-1], folder)
    return folder


@pytest.mark.parametrize("what", PLANTS)
def test_a_node_ends_at_what_a_later_version_has_written(kept: Path, tmp_path: Path, what: str) -> None:
    node = Path(shutil.copytree(kept / "node", tmp_path / "node"))
    file = PLANTS[what](node)
    before = file.read_bytes()

    ended = run_to_end("--data-dir", str(node), "--plugin=validator", folder=node)

    assert ended.returncode == FATAL
    assert all(words in ended.stderr for words in (*WORDS, str(file.parent), "it was left as it is"))
    assert file.read_bytes() == before
    assert not [*node.glob("*.damaged")]


@pytest.mark.parametrize("name", [FILE, OTHER])
def test_a_signer_takes_no_record_of_a_later_one_for_a_torn_one(tmp_path: Path, name: str) -> None:
    killed_after(tmp_path, 3)
    file = make_file_newer(tmp_path / name)
    before = file.read_bytes()

    with pytest.raises(NewerRecord, match=WORDS[0]):
        SignerRecord(tmp_path, has_stopped_cleanly=False)
    with pytest.raises(NewerRecord, match=WORDS[1]):
        LastSigned(tmp_path, None, name)
    assert file.read_bytes() == before


def test_a_webhook_of_a_later_version_is_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "hook.json").write_text("{}")

    assert all(words in read_position(make_file_newer(tmp_path / "hook.json")).ended for words in WORDS)


def test_an_observer_is_not_fed_from_a_position_of_a_later_version(tmp_path: Path) -> None:
    (tmp_path / "observer.json").write_text("{}")

    with pytest.raises(FeedBroken, match=WORDS[0]):
        read_observer_position(make_file_newer(tmp_path / "observer.json"))


def test_there_is_a_kept_release() -> None:
    assert RELEASES
    assert all(path.stat().st_size < 1 << 20 for path in KEPT.iterdir())
