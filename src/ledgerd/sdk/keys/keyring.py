"""Private keys, held together and asked for by their public ones. What is printed of them are the public keys alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature, sign
from ledgerd.sdk.errors import ClientError
from ledgerd.sdk.keys import memos
from ledgerd.sdk.keys.derivation import ROLES, password_keys


class NoPrivateKey(ClientError, LookupError):
    """The private key that is needed is not there."""


class WrongKey(ClientError, ValueError):
    """The given text is no key. The message does not repeat it."""


class KeyRing:
    """Keys that sign and read memos. Iterating over it gives the public ones."""

    def __init__(self, *keys: PrivateKey | str) -> None:
        """Texts are keys in WIF."""
        self._keys: dict[PublicKey, PrivateKey] = {}
        self.add(*keys)

    @classmethod
    def from_password(cls, account: str, password: str, roles: Iterable[str] = ROLES) -> Self:
        """The keys that wallets make of an account's password."""
        return cls(*password_keys(account, password, roles).values())

    def add(self, *keys: PrivateKey | str) -> None:
        try:
            read = [PrivateKey.from_wif(each) if isinstance(each, str) else each for each in keys]
        except InvalidKey as wrong:
            raise WrongKey(str(wrong)) from None
        self._keys |= {each.public: each for each in read}

    def __or__(self, other: KeyRing) -> KeyRing:
        return KeyRing(*self._keys.values(), *other._keys.values())

    @property
    def addresses(self) -> tuple[str, ...]:
        """The public keys as texts, as accounts name them."""
        return tuple(map(public_key_text, self))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[PublicKey]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"KeyRing(of {', '.join(self.addresses) or 'no keys'})"

    def sign(self, digest: bytes, keys: Iterable[PublicKey]) -> list[Signature]:
        """The signatures of a digest by the keys of these public ones, in their order."""
        return [sign(self._key(each), digest) for each in keys]

    def encrypt_memo(self, text: str, sender: PublicKey, recipient: PublicKey) -> str:
        """A text, without the mark `#`, as a memo from one key to another."""
        try:
            return memos.encrypt_memo(text, self._key(sender), recipient)
        except InvalidKey as wrong:
            raise WrongKey(str(wrong)) from None

    def decrypt_memo(self, memo: str) -> str:
        """The text of an encrypted memo that was sent from one of these keys, or to one."""
        found = memos.decrypt_memo(memo, self._keys.values())
        if found is None:
            raise NoPrivateKey("none of these keys can read this memo")
        return found

    def _key(self, public: PublicKey) -> PrivateKey:
        found = self._keys.get(public)
        if found is None:
            raise NoPrivateKey(f"the private key of {public_key_text(public)} is not there")
        return found
