"""The kind of values that are private keys. No message repeats the given text, which may be a secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.producer.key_files import KeyFileFault, read_key

if TYPE_CHECKING:
    from ledgerd.protocol.keys import PrivateKey


def read_private_key(text: str) -> PrivateKey:
    try:
        return read_key(text)
    except KeyFileFault as problem:
        raise WrongValue(str(problem)) from None


def show_private_key(key: PrivateKey) -> str:
    """A private key, shown by its public key."""
    from ledgerd.protocol.keys import public_key_text  # noqa: PLC0415

    return f"(the private key of {public_key_text(key.public)})"


PRIVATE_KEY = OptionKind(
    "WIF",
    "a private key in WIF, which begins with 5",
    "5...",
    read_private_key,
    show_private_key,
    secret=True,
)
