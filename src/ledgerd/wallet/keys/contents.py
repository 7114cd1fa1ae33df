"""What a wallet holds: private keys, and the names of accounts that it only watches."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.wallet.errors import DamagedWallet, WalletError
from ledgerd.wallet.keys.sealing import keep_from_swap

MOST_KEYS = 10_000
MOST_WATCHED = 10_000
LONGEST_LABEL = 200


class KeyEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A private key, and what its owner calls it. Its printed form shows no secret, and it is in no page of swap."""

    secret: bytes
    label: str = ""

    def __post_init__(self) -> None:
        keep_from_swap(self.secret)

    def __repr__(self) -> str:
        return f"KeyEntry({self.label!r})"

    @property
    def key(self) -> PrivateKey:
        return PrivateKey(self.secret)


class Contents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a wallet."""

    keys: tuple[KeyEntry, ...] = ()
    watched: tuple[str, ...] = ()

    def pack(self) -> bytes:
        return msgspec.json.encode(self)

    @classmethod
    def unpack(cls, raw: bytes) -> Contents:
        try:
            found = msgspec.json.decode(raw, type=cls)
            for entry in found.keys:
                _ = entry.key
        except Exception:  # noqa: BLE001 - no error may show a secret
            raise DamagedWallet("the wallet's file holds something else than keys: take a backup of it") from None
        return found

    def by_public(self) -> dict[PublicKey, KeyEntry]:
        return {entry.key.public: entry for entry in self.keys}

    def with_key(self, key: PrivateKey, label: str) -> Contents:
        """The same with one more key; a key that is there already only gets the label."""
        others = tuple(entry for entry in self.keys if entry.secret != key.secret)
        if len(others) >= MOST_KEYS:
            raise WalletError(f"a wallet has at most {MOST_KEYS:,} keys: remove one first")
        if len(label) > LONGEST_LABEL:
            raise WalletError(f"a label has at most {LONGEST_LABEL} characters")
        return msgspec.structs.replace(self, keys=(*others, KeyEntry(key.secret, label)))

    def without_key(self, public: PublicKey) -> Contents:
        kept = tuple(entry for entry in self.keys if entry.key.public != public)
        if len(kept) == len(self.keys):
            raise WalletError("the wallet has no such key")
        return msgspec.structs.replace(self, keys=kept)

    def with_watched(self, name: str) -> Contents:
        if len(self.watched) >= MOST_WATCHED and name not in self.watched:
            raise WalletError(f"a wallet watches at most {MOST_WATCHED:,} accounts: remove one first")
        return msgspec.structs.replace(self, watched=tuple(sorted({*self.watched, name})))

    def without_watched(self, name: str) -> Contents:
        if name not in self.watched:
            raise WalletError(f"the wallet does not watch {name}")
        return msgspec.structs.replace(self, watched=tuple(each for each in self.watched if each != name))
