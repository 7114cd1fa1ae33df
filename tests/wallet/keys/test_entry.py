"""A secret from a file that may be a pipe: it is waited for, not in silence, and read up to a bound."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.keys.entry import LONGEST_SECRET, SecretSource, read_secret


def secret_in(file: Path) -> bytes:
    with SecretSource(file=file).opened("") as descriptor:
        return read_secret(descriptor)


def test_a_secret_comes_from_a_pipe_that_was_written_before() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"secret\nmore")
    assert secret_in(Path(f"/dev/fd/{reading}")) == b"secret"
    os.close(writing)
    os.close(reading)


def test_a_pipe_that_nobody_writes_into_is_said_to_be_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writers: list[threading.Thread] = []

    class WritesWhenTold(io.StringIO):
        def write(self, text: str) -> int:
            writers.append(threading.Thread(target=pipe.write_bytes, args=(b"secret\n",)))
            writers[-1].start()
            return super().write(text)

    said = WritesWhenTold()
    monkeypatch.setattr("ledgerd.wallet.keys.entry.SILENT_SECONDS", 0.0)
    monkeypatch.setattr(sys, "stderr", said)
    assert secret_in(pipe) == b"secret"
    assert said.getvalue() == f"waiting for {pipe}: nothing has been written into this pipe yet\n"
    for writer in writers:
        writer.join()


def test_what_has_no_end_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WalletError, match=f"more than {LONGEST_SECRET} characters"):
        secret_in(Path("/dev/zero"))
    with pytest.raises(WalletError, match="cannot be read: it is a folder"):
        secret_in(tmp_path)
