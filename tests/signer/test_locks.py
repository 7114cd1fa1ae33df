"""One signer for a key, by whatever files it was read from."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.locks import lock_folder, lock_key, lock_key_file
from tests.signer.headers import KEY, OTHER_KEY


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
        "import os, sys; from pathlib import Path; from ledgerd.signer.locks import lock_folder\n"
        f"with lock_folder(Path({str(tmp_path)!r})):\n    os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)  # noqa: S603 - our own program
    with lock_folder(tmp_path):
        pass
