from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.wallet.errors import ChangedPassword, ForeignWallet, WalletError, WrongPassword
from ledgerd.wallet.keys.sealing import Cost
from ledgerd.wallet.keys.wallet_file import Contents, WalletFile, copy_wallet

CHEAP = Cost(n=2)


def key(number: int) -> PrivateKey:
    return PrivateKey(number.to_bytes(32, "big"))


def created(folder: Path) -> WalletFile:
    return WalletFile.create(folder / "wallet.json", b"secret", CHEAP)


def test_keys_are_there_again_with_the_password(tmp_path: Path) -> None:
    file = created(tmp_path)
    file.change(lambda held: held.with_key(key(7), "mine").with_watched("alice"))
    again = WalletFile.open(file.path, b"secret").read()
    assert again.by_public()[key(7).public].label == "mine"
    assert again.watched == ("alice",)
    with pytest.raises(WrongPassword):
        WalletFile.open(file.path, b"other")


def test_the_file_shows_no_key_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = created(tmp_path)
    file.change(lambda held: held.with_key(key(7), "mine"))
    raw = file.path.read_bytes()
    for shown in (key(7).secret, key(7).secret.hex().encode(), key(7).wif.encode(), b"mine"):
        assert shown not in raw
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "mine" in repr(file.read())
    assert key(7).secret.hex() not in repr(file.read())


def test_an_existing_file_is_never_replaced(tmp_path: Path) -> None:
    file = created(tmp_path)
    before = file.path.read_bytes()
    with pytest.raises(WalletError, match="exists"):
        created(tmp_path)
    copy_wallet(file.path, tmp_path / "backup.json")
    with pytest.raises(WalletError, match="exists"):
        copy_wallet(tmp_path / "backup.json", file.path)
    assert file.path.read_bytes() == before


def test_wallets_that_change_one_file_at_once_lose_nothing(tmp_path: Path) -> None:
    path = created(tmp_path).path
    wallets = [WalletFile.open(path, b"secret") for _ in range(8)]

    def add(number: int) -> None:
        wallets[number % 8].change(lambda held: held.with_key(key(number + 1), str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(64)))
    assert {entry.label for entry in wallets[0].read().keys} == {str(number) for number in range(64)}


def test_a_new_password_is_the_only_one(tmp_path: Path) -> None:
    file = created(tmp_path)
    other = WalletFile.open(file.path, b"secret")
    file.change(lambda held: held.with_key(key(1), ""))
    file.change_password(b"fresh")
    assert len(file.read().keys) == 1
    with pytest.raises(ChangedPassword, match="unlock it again"):
        other.change(lambda held: held.with_key(key(2), ""))
    with pytest.raises(WrongPassword):
        WalletFile.open(file.path, b"secret")
    assert WalletFile.open(file.path, b"fresh").read() == file.read()


def test_a_backup_opens_with_the_password_of_its_time(tmp_path: Path) -> None:
    file = created(tmp_path)
    file.change(lambda held: held.with_key(key(1), ""))
    backup = tmp_path / "backup.json"
    copy_wallet(file.path, backup)
    file.change_password(b"fresh")
    assert WalletFile.open(backup, b"secret").read() == file.read()


def test_only_wallets_are_copied(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("hello")
    with pytest.raises(ForeignWallet):
        copy_wallet(tmp_path / "letter", tmp_path / "wallet.json")
    assert not (tmp_path / "wallet.json").exists()
    with pytest.raises(WalletError, match="there is no wallet"):
        WalletFile.open(tmp_path / "none", b"secret")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(WalletError):
        WalletFile.open(tmp_path / "folder", b"secret")


def test_a_change_that_fails_leaves_the_file(tmp_path: Path) -> None:
    file = created(tmp_path)
    before = file.path.read_bytes()
    with pytest.raises(WalletError, match="no such key"):
        file.change(lambda held: held.without_key(key(1).public))
    with pytest.raises(WalletError, match="at most 200"):
        file.change(lambda held: held.with_key(key(1), "x" * 201))
    with pytest.raises(WalletError, match="does not watch"):
        file.change(lambda held: held.without_watched("alice"))
    assert file.path.read_bytes() == before


def test_an_empty_password_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match="empty password"):
        WalletFile.create(tmp_path / "wallet.json", b"", CHEAP)
    file = created(tmp_path)
    with pytest.raises(WalletError, match="empty password"):
        file.change_password(b"")


def test_a_key_that_is_added_again_gets_the_new_label() -> None:
    held = Contents().with_key(key(1), "old").with_key(key(1), "new")
    assert [entry.label for entry in held.keys] == ["new"]
    assert held.without_key(key(1).public) == Contents()


def test_no_link_beside_a_backup_or_a_wallet_is_followed(tmp_path: Path) -> None:
    """In a folder that others can write to, they may lay links under any name before we do."""
    file, shared = created(tmp_path), tmp_path / "shared"
    shared.mkdir()
    for name in ("backup.json", "backup.json.lock", "backup.json.new"):
        (shared / name).symlink_to(tmp_path / "victim")
    with pytest.raises(WalletError, match="exists"):
        copy_wallet(file.path, shared / "backup.json")
    (shared / "backup.json").unlink()
    copy_wallet(file.path, shared / "backup.json")
    with pytest.raises(WalletError, match="cannot be written"):
        WalletFile.open(shared / "backup.json", b"secret").change(lambda held: held.with_watched("alice"))
    assert not (tmp_path / "victim").exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    file = created(tmp_path)
    with pytest.raises(WalletError, match="cannot be made"):
        copy_wallet(file.path, file.path / "inside" / "backup.json")
