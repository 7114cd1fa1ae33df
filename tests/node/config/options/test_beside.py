"""The options of the changes of the state: a place, and certificates where it is on the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.options.beside import STREAM_PLACE
from ledgerd.replica.settings import StreamSettings
from tests.node.configurations import problems, read


def test_without_the_option_nothing_is_sent(tmp_path: Path) -> None:
    assert read(tmp_path, "").state_stream == StreamSettings()


def test_files_are_relative_to_the_data_directory(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "state-stream-endpoint = tcp://0.0.0.0:8095\nstate-stream-certificate = a.pem\n"
        "state-stream-certificate-key = a.key\nstate-stream-authority = /etc/b.pem\n",
    ).state_stream
    assert str(found) == "tcp://0.0.0.0:8095"
    assert found.certificate is not None
    assert found.certificate.is_absolute()
    assert found.certificate.name == "a.pem"
    assert found.authority == Path("/etc/b.pem")


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:8095", "tcp://[::1]:8095", "unix:/run/stream.sock"])
def test_a_place_is_shown_as_it_can_be_given(text: str) -> None:
    assert STREAM_PLACE.show(STREAM_PLACE.read(text)) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("state-stream-endpoint = somewhere", "is neither unix:/PATH nor tcp://HOST:PORT"),
        ("state-stream-endpoint = tcp://0.0.0.0:8095", "an address of this machine"),
        ("state-stream-certificate = a.pem", "none is named"),
    ],
)
def test_what_does_not_fit_is_told(text: str, problem: str, tmp_path: Path) -> None:
    (told,) = problems(tmp_path, text)
    assert problem in told
    assert "state-stream-endpoint" in told
