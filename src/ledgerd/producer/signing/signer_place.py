"""Where a signer is: a Unix socket of this machine, or an address at which both sides show a certificate."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.protocol.types.endpoint import LARGEST_PORT, Endpoint

if TYPE_CHECKING:
    import ssl

_TLS = re.compile(r"tls://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*):([0-9]{1,5})")
"""Parts of a name are neither empty nor longer than DNS has them: Python raises no OSError for those."""
LONGEST_SOCKET_NAME = 100
"""Linux takes 107 bytes, macOS 103."""


class PlaceFault(ValueError):
    """A text that names no place."""


class SignerPlace(msgspec.Struct, frozen=True):
    """A place, as options name it."""

    path: Path | None = None
    endpoint: Endpoint | None = None

    def __str__(self) -> str:
        return f"tls://{self.endpoint}" if self.path is None else f"unix:{self.path}"


def read_place(text: str) -> SignerPlace:
    if text.startswith("unix:/"):
        path = text.removeprefix("unix:")
        if len(os.fsencode(path)) > LONGEST_SOCKET_NAME:
            raise PlaceFault(f"names a socket with more than {LONGEST_SOCKET_NAME} characters")
        return SignerPlace(path=Path(path))
    found = _TLS.fullmatch(text)
    if found is None or not 0 < int(found[2]) <= LARGEST_PORT:
        raise PlaceFault("is neither unix:/PATH nor tls://HOST:PORT")
    return SignerPlace(endpoint=Endpoint(found[1].strip("[]"), int(found[2])))


class TlsFiles(msgspec.Struct, frozen=True):
    """The files of one side; the keys are those of connections, and sign no block."""

    certificate: Path
    certificate_key: Path
    authority: Path
    """The certificate of the other side, or of the authority that has signed it."""


class CertifiedPlace(msgspec.Struct, frozen=True):
    """A place, if there is one, and the files of what the two sides of a connection there show to each other."""

    place: SignerPlace | None = None
    certificate: Path | None = None
    certificate_key: Path | None = None
    authority: Path | None = None

    @property
    def files(self) -> TlsFiles | None:
        """The files that a connection over TLS needs; None unless all of them are configured."""
        if self.certificate is None or self.certificate_key is None or self.authority is None:
            return None
        return TlsFiles(self.certificate, self.certificate_key, self.authority)


def tls_context(files: TlsFiles, *, is_signer: bool) -> ssl.SSLContext:
    import ssl  # noqa: PLC0415 - most who read a place make no connection

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_signer else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    try:
        context.load_verify_locations(files.authority)
    except (OSError, ValueError) as fault:
        raise PlaceFault(f"{files.authority} holds no certificate: {_reason(fault)}") from fault
    try:
        is_open_to_others = bool(files.certificate_key.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
        # Without a password, OpenSSL would ask on the terminal for that of a key which has one.
        context.load_cert_chain(files.certificate, files.certificate_key, password=lambda: "")
    except (OSError, ValueError) as fault:
        both = f"{files.certificate} and {files.certificate_key}"
        raise PlaceFault(f"{both} are no certificate and its key: {_reason(fault)}") from fault
    if is_open_to_others:
        raise PlaceFault(
            f"others than its owner may open {files.certificate_key}: `chmod 600 {files.certificate_key}`; whoever has "
            "that of a node can have its slots signed"
        )
    return context


def _reason(fault: Exception) -> str:
    return (isinstance(fault, OSError) and fault.strerror) or str(fault)
