"""Certificates as the commands of docs/signer.md make them: each side's own, signed by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ledgerd.producer.signing.signer_place import TlsFiles

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


def make_certificate(folder: Path, name: str, names: str = NAMES) -> tuple[Path, Path]:
    """A certificate and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN={name} -addext {names}"
    subprocess.run(  # noqa: S603 - openssl, with words of ours
        ["openssl", *words.split(), "-out", str(certificate), "-keyout", str(key)],  # noqa: S607 - as people have it
        check=True,
        capture_output=True,
        timeout=60,
    )
    return certificate, key


class Certificates:
    """Those of a signer, of its node, and of a stranger."""

    def __init__(self, folder: Path) -> None:
        made = {name: make_certificate(folder, name) for name in ("signer", "node", "stranger")}
        both = folder / "both.pem"
        both.write_bytes(made["node"][0].read_bytes() + made["stranger"][0].read_bytes())
        self.signer = TlsFiles(*made["signer"], made["node"][0])
        self.node = TlsFiles(*made["node"], made["signer"][0])
        self.stranger = TlsFiles(*made["stranger"], made["signer"][0])
        self.deceived = TlsFiles(*made["node"], made["stranger"][0])
        """A node that expects somebody else."""
        self.of_both = TlsFiles(*made["signer"], both)
        """A signer that serves two."""
