"""Places of signers, as options name them, and the files of a connection."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from ledgerd.producer.signing.signer_place import PlaceFault, SignerPlace, TlsFiles, read_place, tls_context
from ledgerd.protocol.types.endpoint import Endpoint


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("unix:/run/ledgerd-signer/socket", SignerPlace(path=Path("/run/ledgerd-signer/socket"))),
        ("unix:/run/\udcafsigner", SignerPlace(path=Path("/run/\udcafsigner"))),
        ("tls://signer.example:2100", SignerPlace(endpoint=Endpoint("signer.example", 2100))),
        ("tls://192.0.2.7:1", SignerPlace(endpoint=Endpoint("192.0.2.7", 1))),
        ("tls://[2001:db8::7]:65535", SignerPlace(endpoint=Endpoint("2001:db8::7", 65_535))),
    ],
)
def test_a_place_is_read_and_written(text: str, place: SignerPlace) -> None:
    assert read_place(text) == place
    assert str(place) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unix:socket",
        "/run/socket",
        "tcp://host:1",
        "tls://host",
        "tls://host:0",
        "tls://host:65536",
        "tls://:1",
        "tls://a b:1",
        "tls://a..b:1",
        "tls://a.:1",
        f"tls://{'a' * 64}.b:1",
        "unix:/" + "a" * 100,
    ],
)
def test_what_names_no_place_is_refused(text: str) -> None:
    with pytest.raises(PlaceFault):
        read_place(text)


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_file_that_is_no_certificate_is_said(tmp_path: Path, content: str | None) -> None:
    files = [tmp_path / name for name in ("own.pem", "own.key", "other.pem")]
    for file in files:
        if content is not None:
            file.write_text(content)
    with pytest.raises(PlaceFault, match=r"other\.pem holds no certificate"):
        tls_context(TlsFiles(*files), is_signer=False)


def test_both_sides_ask_for_a_certificate_and_speak_nothing_older_than_tls_1_3(tmp_path: Path) -> None:
    from tests.signer.certificates import Certificates  # noqa: PLC0415 - openssl is run for this alone

    made = Certificates(tmp_path)
    for files, is_signer in ((made.signer, True), (made.node, False)):
        context = tls_context(files, is_signer=is_signer)
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.minimum_version is ssl.TLSVersion.TLSv1_3
        assert context.check_hostname is not is_signer
    with pytest.raises(PlaceFault, match="are no certificate and its key"):
        tls_context(TlsFiles(made.node.certificate, made.signer.certificate_key, made.node.authority), is_signer=False)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_key_of_connections_that_others_may_open_is_refused(tmp_path: Path, mode: int) -> None:
    """With that of a node, anybody could have its slots signed, or use them up."""
    from tests.signer.certificates import make_certificate  # noqa: PLC0415 - openssl is run for this alone

    certificate, key = make_certificate(tmp_path, "node")
    key.chmod(mode)
    with pytest.raises(PlaceFault, match="others than its owner may open"):
        tls_context(TlsFiles(certificate, key, certificate), is_signer=False)
    key.chmod(0o400)
    tls_context(TlsFiles(certificate, key, certificate), is_signer=False)
