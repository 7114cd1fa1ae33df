"""Images of accounts: the bytes of all that `get_accounts` prints of an account, as blocks change it.

No rule depends on them, and they are made only if somebody has asked for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ledgerd.chain.events import AccountImage, ImageKind
from ledgerd.codec import codec_of
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.accounts import ACCOUNT_AUTHORITIES, ACCOUNT_METADATA, ACCOUNTS
from ledgerd.state.objects.validators import VALIDATOR_VOTE_BY_ACCOUNT, VALIDATOR_VOTES, VALIDATORS

if TYPE_CHECKING:
    from ledgerd.state.store import Store
    from ledgerd.state.tables import Table
    from ledgerd.state.view import View

BESIDE: tuple[tuple[ImageKind, Table[Any]], ...] = (
    (ImageKind.AUTHORITY, ACCOUNT_AUTHORITIES),
    (ImageKind.METADATA, ACCOUNT_METADATA),
)
"""The objects beside an account that name it."""

IMAGE_LAYOUT = sha256(
    "".join(f"{table.title}({table.fields})" for table in (ACCOUNTS, *(each for _, each in BESIDE))).encode()
).digest()
"""What the bytes mean: those of another layout cannot be read."""

VotedNames = tuple[AccountName, ...]

GONE = b""
_NAME = 9
"""Where the name stands in each of the objects: behind the id and the length."""


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
            votes = store.scan(VALIDATOR_VOTE_BY_ACCOUNT, lower=(account_id,), upper=(account_id,))
            voted = (store.find(VALIDATORS, vote.validator) for vote in votes)
            names = packed_names(each.owner for each in voted if each is not None)
            found.append(AccountImage(ImageKind.VOTES, account.name, names))
    return tuple(found)


def standing_images(view: View) -> Iterator[AccountImage]:
    """All accounts of a state: where the changes begin from."""
    names: dict[int, AccountName] = {}
    for kind, table in ((ImageKind.ACCOUNT, ACCOUNTS), *BESIDE):
        for row in view.scan_bytes(table):
            name = AccountName(row[_NAME : _NAME + row[_NAME - 1]].decode("utf-8", "surrogateescape"))
            if kind is ImageKind.ACCOUNT:
                names[int.from_bytes(row[:8], "little")] = name
            yield AccountImage(kind, name, row)
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
