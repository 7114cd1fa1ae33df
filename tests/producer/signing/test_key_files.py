"""Files of signing keys: what they hold, who may open them, and faults that tell no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.producer.signing.key_files import KeyFileFault, read_key_file
from tests.signer.headers import KEY, OTHER_KEY


@pytest.mark.parametrize(("mode", "is_open"), [(0o600, False), (0o640, True), (0o604, True)])
def test_each_line_is_a_key_but_for_comments(tmp_path: Path, mode: int, *, is_open: bool) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# ours\n{KEY.wif}  # the first\n\n{OTHER_KEY.wif}\n")
    file.chmod(mode)
    assert read_key_file(file) == ((KEY, OTHER_KEY), is_open)


def test_a_line_that_is_no_key_is_said_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"{KEY.wif}\n{OTHER_KEY.wif[:-1]}\n")
    with pytest.raises(KeyFileFault, match="line 2 is not a private key in WIF") as caught:
        read_key_file(file)
    assert OTHER_KEY.wif[:-1] not in str(caught.value)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_said(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "keys").write_bytes(content)
    with pytest.raises(KeyFileFault, match="cannot be read"):
        read_key_file(tmp_path / "keys")
