"""The values that are private keys, or the place of a signer. No message repeats a text, which may be a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.node.config.values.kind import OptionKind, refusing
from ledgerd.producer.signing.key_files import KeyFileFault, read_key
from ledgerd.producer.signing.signer_place import PlaceFault, read_place

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey

read_private_key = refusing(KeyFileFault, read_key)


def show_private_key(key: PrivateKey) -> str:
    from ledgerd.protocol.crypto.keys import public_key_text  # noqa: PLC0415

    return f"(the private key of {public_key_text(key.public)})"


PRIVATE_KEY = OptionKind(
    "WIF",
    "a private key in WIF, which begins with 5",
    "5...",
    read_private_key,
    show_private_key,
    secret=True,
)


SIGNER_PLACE = OptionKind(
    "PLACE", "unix:/PATH or tls://HOST:PORT", "unix:/run/ledgerd-signer/socket", refusing(PlaceFault, read_place)
)
