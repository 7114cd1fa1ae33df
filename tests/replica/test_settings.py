"""Places of changes: what they may be, and what belongs with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.producer.signing.signer_place import PlaceFault
from ledgerd.replica.settings import StreamSettings, read_stream_place

FILES = (Path("own.pem"), Path("own.key"), Path("other.pem"))


@pytest.mark.parametrize("text", ["unix:/run/changes", "tcp://127.0.0.1:8095", "tcp://[::1]:8095", "tcp://node.lan:1"])
def test_a_place_is_written_as_it_was_read(text: str) -> None:
    place = read_stream_place(text)
    assert str(StreamSettings(place)).replace("[", "").replace("]", "") == text.replace("[", "").replace("]", "")


@pytest.mark.parametrize(
    "text", ["", "unix:relative", "tls://a:1", "tcp://a", "tcp://a:0", "tcp://a:65536", "http://a:1"]
)
def test_other_texts_are_no_places(text: str) -> None:
    with pytest.raises(PlaceFault):
        read_stream_place(text)


@pytest.mark.parametrize(
    "text", ["tcp://127.0.0.1:1", "tcp://127.8.8.8:1", "tcp://[::1]:1", "tcp://localhost:1", "unix:/a"]
)
def test_what_stays_on_this_machine_needs_no_certificates(text: str) -> None:
    assert StreamSettings(read_stream_place(text)).fault == ""


@pytest.mark.parametrize("text", ["tcp://0.0.0.0:1", "tcp://192.0.2.1:1", "tcp://[::]:1", "tcp://node.lan:1"])
def test_what_leaves_this_machine_needs_them(text: str) -> None:
    place = read_stream_place(text)
    assert "an address of this machine" in StreamSettings(place).fault
    assert StreamSettings(place, *FILES).fault == ""
    assert "belong together" in StreamSettings(place, FILES[0]).fault


def test_certificates_without_use_are_a_fault() -> None:
    assert "none is named" in StreamSettings(None, *FILES).fault
    assert "needs no certificates" in StreamSettings(read_stream_place("unix:/a"), *FILES).fault
    assert StreamSettings().fault == ""
