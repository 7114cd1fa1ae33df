"""Images of accounts: the bytes of all that `get_accounts` prints of an account, as blocks change it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from hashlib import sha256
from typing import Any, NamedTuple

from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.codec import codec_of
from ledgerd.codec.partial import fields_reader
from ledgerd.protocol.types.names import AccountName, name_of_bytes
from ledgerd.state.objects.accounts.accounts import ACCOUNT_AUTHORITIES, ACCOUNT_METADATA, ACCOUNTS, Account
from ledgerd.state.objects.validators import VALIDATOR_VOTE_BY_ACCOUNT, VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View


class ImageKind(IntEnum):
    """Which part of an account an image is of; histories store the numbers."""

    ACCOUNT = 0
    AUTHORITY = 1
    METADATA = 2
    VOTES = 3
    """The names of the validators that it votes for."""


class AccountImage(NamedTuple):
    """A part of an account as it is after a block."""

    kind: ImageKind
    account: AccountName
    row: bytes
    """The bytes of the object, or of the names; none if the account is gone."""


BESIDE: tuple[tuple[ImageKind, Table[Any]], ...] = (
    (ImageKind.AUTHORITY, ACCOUNT_AUTHORITIES),
    (ImageKind.METADATA, ACCOUNT_METADATA),
)
"""The objects beside an account that name it."""

IMAGE_LAYOUT = sha256(
    "".join(f"{table.title}({table.fields})" for table in (ACCOUNTS, *(each for _, each in BESIDE))).encode()
).digest()
"""The layout of the images: bytes of another layout cannot be read."""

_numbered_name: Callable[[bytes], tuple[int, bytes]] = fields_reader(Account, ("id", "name"))
_naming: dict[ImageKind, Callable[[bytes], bytes]] = {
    kind: fields_reader(table.record, ("account",)) for kind, table in BESIDE
}
"""The account that the bytes of an object name."""

VotedNames = tuple[AccountName, ...]

GONE = b""


class ImageSampler(Sampler):
    """Samples the parts of accounts that a block has changed, as they are since."""

    def after(self, ledger: Ledger, operation: Any, before: Any) -> tuple[AccountImage, ...]:  # noqa: ANN401, ARG002
        return changed_images(ledger.store)


IMAGES = ImageSampler()


def changed_images(store: Store) -> tuple[AccountImage, ...]:
    found: list[AccountImage] = []
    kind, encode = ImageKind.ACCOUNT, ACCOUNTS.codec.encode
    for before, after in store.last_changes(ACCOUNTS):
        if after is not None:
            found.append(AccountImage(kind, after.name, encode(after)))
        elif before is not None:
            found.append(AccountImage(kind, before.name, GONE))
    for kind, table in BESIDE:
        for _, after in store.last_changes(table):
            if after is not None:
                found.append(AccountImage(kind, after.account, table.codec.encode(after)))
    voters = {each.account for pair in store.last_changes(VALIDATOR_VOTES) for each in pair if each is not None}
    for account_id in sorted(voters):
        account = store.find(ACCOUNTS, account_id)
        if account is not None:
            votes = store.under(VALIDATOR_VOTE_BY_ACCOUNT, account_id)
            voted = (store.find(VALIDATORS, vote.validator) for vote in votes)
            names = packed_names(each.owner for each in voted if each is not None)
            found.append(AccountImage(ImageKind.VOTES, account.name, names))
    return tuple(found)


def images_in(view: View) -> Iterator[AccountImage]:
    """All accounts of a state: where the changes begin from."""
    names: dict[int, AccountName] = {}
    for row in view.scan_bytes(ACCOUNTS):
        account_id, name = _numbered_name(row)
        names[account_id] = name_of_bytes(name)
        yield AccountImage(ImageKind.ACCOUNT, names[account_id], row)
    for kind, table in BESIDE:
        named = _naming[kind]
        for row in view.scan_bytes(table):
            yield AccountImage(kind, name_of_bytes(named(row)), row)
    owners = {validator.id: validator.owner for validator in view.scan(VALIDATORS)}
    voted: dict[int, list[AccountName]] = defaultdict(list)
    for vote in view.scan(VALIDATOR_VOTES):
        if vote.account in names and vote.validator in owners:
            voted[vote.account].append(owners[vote.validator])
    for account_id, chosen in voted.items():
        yield AccountImage(ImageKind.VOTES, names[account_id], packed_names(chosen))


def packed_names(names: Iterable[AccountName]) -> bytes:
    """The image of votes: in one order, whatever that of the rows is."""
    return codec_of(VotedNames).encode(tuple(sorted(names)))
