"""`account_by_key`: the accounts that a key belongs to (spec 05, section 14)."""

from __future__ import annotations

from ledgerd.projections.tables.key_references import REFERENCE_BY_KEY
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.rpc.api.shared.kinds import Names
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

ACCOUNT_BY_KEY = Api("account_by_key", "The accounts of a key.")


@ACCOUNT_BY_KEY.method(examples=[[["VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"]]])
def get_key_references(view: ApiView, keys: tuple[PublicKey, ...]) -> tuple[Names, ...]:
    """For each key, the accounts that have it in an authority, in word order.

    These are keys that an account was created, updated or recovered with. Keys of the genesis, and keys that an account
    was bought with, are missing, as with the reference.
    """
    return tuple(_accounts_of(view, key) for key in keys)


def _accounts_of(view: ApiView, key: PublicKey) -> Names:
    names = []
    for reference in view.projections.under(REFERENCE_BY_KEY, key):
        view.grow(len(reference.account) + len('"",'))
        names.append(reference.account)
    return tuple(names)
