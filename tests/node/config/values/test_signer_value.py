"""A signer in the configuration: where it is, what it needs, and that no key stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.producer.doppelganger import is_doppelganger_checked
from ledgerd.producer.signing.signer_place import CertifiedPlace, SignerPlace, TlsFiles
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.endpoint import Endpoint
from tests.signer.headers import KEY, OTHER_KEY
from tests.signer.processes import key_file

UNIX = "validator-signer = unix:/run/signer\n"
TLS = "validator-signer = tls://signer.example:2100\n"
FILES = (
    "validator-signer-certificate = node.pem\nvalidator-signer-certificate-key = node.key\n"
    "validator-signer-authority = signer.pem\n"
)


def read(folder: Path, text: str) -> Configuration:
    (folder / "config.ini").write_text(f'validator = "alice"\n{text}')
    return read_configuration({"data-dir": [str(folder)]}, folder)


def test_a_signer_at_a_socket(tmp_path: Path) -> None:
    settings = read(tmp_path, UNIX).validator
    assert settings.signer == CertifiedPlace(SignerPlace(path=Path("/run/signer")))
    assert settings.keys == {}
    assert settings.is_signed_elsewhere
    assert settings.signer.files is None


def test_a_signer_behind_tls_with_files_of_the_data_directory(tmp_path: Path) -> None:
    files = (tmp_path / "node.pem", tmp_path / "node.key", tmp_path / "signer.pem")
    place = SignerPlace(endpoint=Endpoint("signer.example", 2100))
    assert read(tmp_path, TLS + FILES).validator.signer == CertifiedPlace(place, *files)
    assert CertifiedPlace(place, *files).files == TlsFiles(*files)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"{UNIX}private-key = {KEY.wif}\n", "at the signer or here, not both"),
        (f"{UNIX}private-key-file = signing.key\n", "at the signer or here, not both"),
        (f"{UNIX}emergency-private-key = {KEY.wif}\n", "at the signer or here, not both"),
        (
            f'{UNIX}validator-guard-validator = ["alice","{KEY.wif}","{OTHER_KEY.wif}"]\n',
            "the guard needs the signing key",
        ),
        (
            TLS,
            "tls:// needs validator-signer-certificate, validator-signer-certificate-key, validator-signer-authority",
        ),
        (FILES, "none is named"),
        ("validator-signer = /run/signer\n", "is neither unix:/PATH nor tls://HOST:PORT"),
    ],
)
def test_what_does_not_go_together_is_an_error_that_shows_no_key(tmp_path: Path, text: str, problem: str) -> None:
    key_file(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text)
    assert problem in str(caught.value)
    assert KEY.wif not in str(caught.value)


def test_with_a_signer_there_is_no_doppelganger_check_and_the_operator_is_told(tmp_path: Path) -> None:
    configuration = read(tmp_path, UNIX + "doppelganger-check = true\n")
    assert not is_doppelganger_checked(configuration.validator, MAINNET)
    assert [each for each in configuration.remarks if "doppelganger-check does nothing with a signer" in each]
