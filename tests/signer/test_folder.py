"""A signer's folder: what tells a clean stop from any other, and who else may use it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.protocol.blocks.block import sign_block
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.folder import MARK, SignerFolder
from ledgerd.signer.locks import LOCK_FILE
from tests.signer.headers import KEY, NOW, header_of

BLOCK = sign_block(header_of(NOW), (), KEY)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """The folder of a signer that has signed, and was stopped cleanly."""
    folder = tmp_path / "signer"
    with SignerFolder(folder) as opened:
        opened.record.record(BLOCK)
        opened.mark_clean()
    return folder


def is_clean(folder: Path) -> bool:
    with SignerFolder(folder) as opened:
        return opened.has_stopped_cleanly


def test_a_clean_stop_is_known_once(stopped: Path) -> None:
    assert is_clean(stopped)
    assert not is_clean(stopped), "it ended without a word"


def test_what_was_signed_is_there_after_a_restart(stopped: Path) -> None:
    with SignerFolder(stopped) as opened:
        assert opened.record.block == BLOCK


def test_a_new_folder_was_not_stopped_cleanly_nor_one_that_has_signed_nothing(tmp_path: Path) -> None:
    with SignerFolder(tmp_path / "new") as opened:
        assert not opened.has_stopped_cleanly
        opened.mark_clean()
    assert not is_clean(tmp_path / "new")


@pytest.mark.parametrize("copy", [shutil.copytree, shutil.move])
def test_a_copy_from_a_backup_was_not_stopped_cleanly_though_it_says_so(stopped: Path, copy: object) -> None:
    backup = stopped.with_name("backup")
    shutil.copytree(stopped, backup)
    shutil.rmtree(stopped)
    copy(backup, stopped)  # type: ignore[operator]

    assert (stopped / MARK).exists()
    assert not is_clean(stopped)


def test_an_older_record_put_in_its_place_was_not_stopped_cleanly(stopped: Path) -> None:
    shutil.copy2(stopped / FILE, stopped / "copy")
    (stopped / "copy").replace(stopped / FILE)
    assert not is_clean(stopped)


@pytest.mark.parametrize("text", ["", "{}", "nothing", '{"inode":1,"changed":2}'])
def test_a_damaged_mark_is_no_mark(stopped: Path, text: str) -> None:
    (stopped / MARK).write_text(text)
    assert not is_clean(stopped)
    assert not (stopped / MARK).exists()


def test_a_damaged_record_stops_the_start(stopped: Path) -> None:
    data = bytearray((stopped / FILE).read_bytes())
    data[len(data) // 2] ^= 1
    (stopped / FILE).write_bytes(data)
    with pytest.raises(OperatorError, match="cannot be read"):
        SignerFolder(stopped)


def test_the_record_of_a_node_goes_on_with_the_signer(tmp_path: Path) -> None:
    """As when a key is moved from a node to a signer, with what it has signed last."""
    node = LastSigned(tmp_path, b"\1" * 32)
    node.record(BLOCK)
    with SignerFolder(tmp_path) as opened:
        assert opened.record.block == BLOCK
        opened.record.record(sign_block(header_of(NOW + 3), (), KEY))
        opened.mark_clean()
    assert LastSigned(tmp_path, b"\1" * 32).time == NOW + 3


def test_two_signers_cannot_use_one_folder(stopped: Path) -> None:
    with SignerFolder(stopped), pytest.raises(OperatorError, match="in use by another signer"):
        SignerFolder(stopped)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_to_is_refused(stopped: Path, mode: int) -> None:
    stopped.chmod(mode)
    with pytest.raises(OperatorError, match="others than its owner may write"):
        SignerFolder(stopped)
    assert (stopped / MARK).exists()


def test_the_number_of_a_process_that_has_ended_is_not_left_behind(stopped: Path) -> None:
    with SignerFolder(stopped):
        assert int((stopped / LOCK_FILE).read_text()) == os.getpid()
    assert (stopped / LOCK_FILE).read_text() == "", "another process may have that number by now"
