"""A signer's folder: what tells a clean stop from any other, and who else may use it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.producer.signing.double_sign import FILE, LastSigned
from ledgerd.protocol.blocks.block import sign_block
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.folder import LOCK_FILE, MARK, SignerFolder, lock_folder, lock_key, lock_key_file
from tests.signer.headers import KEY, NOW, OTHER_KEY, header_of

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


def test_a_key_is_held_once_and_free_again_afterwards() -> None:
    with lock_key(KEY.public):
        with (
            pytest.raises(OperatorError, match="another signer of this user holds the key VIZ"),
            lock_key(KEY.public),
        ):
            pass
        with lock_key(OTHER_KEY.public):
            pass
    with lock_key(KEY.public):
        pass


def test_the_lock_on_a_key_is_where_no_other_user_can_take_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with lock_key(KEY.public):
        (file,) = (tmp_path / "ledgerd" / "signer-locks").iterdir()
        assert file.stat().st_uid == os.getuid()
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
        assert public_key_text(KEY.public) not in file.name

    file.parent.chmod(0o777)
    with pytest.raises(OperatorError, match="others may write to it"), lock_key(KEY.public):
        pass
    shutil.rmtree(file.parent)
    file.parent.symlink_to(tmp_path)
    with pytest.raises(OperatorError, match="belongs to another user"), lock_key(KEY.public):
        pass
    monkeypatch.setenv("XDG_STATE_HOME", "/proc/nowhere")
    with pytest.raises(OperatorError, match="set XDG_STATE_HOME"), lock_key(KEY.public):
        pass


def test_a_file_of_keys_is_used_once_by_any_of_its_names(tmp_path: Path) -> None:
    file, other = tmp_path / "signing.key", tmp_path / "link"
    file.write_text(KEY.wif)
    other.hardlink_to(file)
    with (
        lock_key_file(file),
        pytest.raises(OperatorError, match="another signer uses the keys of"),
        lock_key_file(other),
    ):
        pass


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be opened"), lock_key_file(tmp_path / "none"):
        pass


def test_what_a_killed_process_has_locked_is_free(tmp_path: Path) -> None:
    text = (
        "import os, sys; from pathlib import Path; from ledgerd.signer.folder import lock_folder\n"
        f"with lock_folder(Path({str(tmp_path)!r})):\n    os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)  # noqa: S603 - our own program
    with lock_folder(tmp_path):
        pass
