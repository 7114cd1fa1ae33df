"""Which accounts a key has been given to. Ours, not consensus: kept by `projections.key_references`."""

from __future__ import annotations

from ledgerd.protocol.crypto.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.tables.keys import NAME_WORD, fixed_bytes
from ledgerd.state.tables.tables import Entity, Table, unique


class KeyReference(Entity):
    """A key that stands in an authority of an account."""

    key: PublicKey = NULL_KEY
    account: AccountName = NO_NAME


KEY_REFERENCES = Table(KeyReference, number=102)
REFERENCE_BY_KEY = unique(
    KEY_REFERENCES,
    "by_key",
    lambda reference: (reference.key, reference.account),
    (fixed_bytes(KEY_SIZE), NAME_WORD),
)
