"""From operations to a signed transaction, with the keys that the chain of a test knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import orjson

from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.testing.accounts import KeyedAccount, KnownAccounts
from ledgerd.testing.errors import NoKey

Sending = Operation | tuple[str, Mapping[str, object]]
"""An operation: a record of `ledgerd.protocol`, or its name and its fields as in JSON; fields left out are empty."""

Signer = KeyedAccount | str
"""An account, the name of one whose keys are known, or a private key as WIF text."""

CHAIN_ID = TESTNET.chain_id
EMPTY: dict[str, Json] = {
    "ref_block_num": 0,
    "ref_block_prefix": 0,
    "expiration": "1970-01-01T00:00:00",
    "operations": [],
    "extensions": [],
    "signatures": [],
}


def signed_transaction(
    reference: BlockId, expiration: int, sendings: Iterable[Sending], accounts: KnownAccounts, signers: Iterable[Signer]
) -> Transaction:
    """A transaction of operations, signed by whoever is named; where nobody is, by whom the operations need."""
    operations = [operation for each in sendings for operation in _operations(each)]
    draft = unsigned_transaction(reference, expiration, operations)
    keys = [_key_of(each, accounts) for each in signers] or list(_needed(draft, accounts))
    return draft.signed(CHAIN_ID, [PrivateKey.from_wif(each) for each in dict.fromkeys(keys)])


def as_json(transaction: Transaction) -> Json:
    parsed: Json = orjson.loads(codec_of(Transaction).to_json(transaction))
    return parsed


def _operations(sending: Sending) -> tuple[Operation, ...]:
    if isinstance(sending, Operation):
        return (sending,)
    name, fields = sending
    plain = orjson.loads(orjson.dumps([name, dict(fields)]))  # an account is a name there
    return codec_of(Transaction).from_json(EMPTY | {"operations": [plain]}).operations


def _key_of(signer: Signer, accounts: KnownAccounts) -> str:
    if isinstance(signer, KeyedAccount):
        return signer.active
    return accounts[signer].active if signer in accounts else signer


def _needed(draft: Transaction, accounts: KnownAccounts) -> Iterator[str]:
    required = draft.required
    for role, names in (("master", required.master), ("active", required.active), ("regular", required.regular)):
        for name in names:
            if name not in accounts:
                raise NoKey(f"the {role} key of {name} is not known: name who signs, with by=")
            yield getattr(accounts[name], role)
