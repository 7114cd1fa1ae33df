"""The kind of values that name the place of a signer."""

from __future__ import annotations

from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.producer.signer_place import PlaceFault, SignerPlace, read_place


def _read(text: str) -> SignerPlace:
    try:
        return read_place(text)
    except PlaceFault as fault:
        raise WrongValue(str(fault)) from None


SIGNER_PLACE = OptionKind("PLACE", "unix:/PATH or tls://HOST:PORT", "unix:/run/ledgerd-signer/socket", _read)
