"""A transaction as a program writes it: operations, and everything that the network asks for besides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import TracebackType
from typing import Self
from weakref import WeakKeyDictionary

import msgspec

from ledgerd.protocol.constants import MAX_PROPOSAL_LIFETIME_SEC, MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.crypto.memo import MARK
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.calling import Caller
from ledgerd.sdk.errors import WrongAnswer, WrongChain
from ledgerd.sdk.keys.keyring import KeyRing, NoPrivateKey, WrongKey
from ledgerd.sdk.keys.memos import fields_to_encrypt
from ledgerd.sdk.transactions.accounts import AccountReader
from ledgerd.sdk.transactions.chain_status import ChainStatus, status_of
from ledgerd.sdk.transactions.draft import Draft, draft_of
from ledgerd.sdk.transactions.dry_run import DryRun
from ledgerd.sdk.transactions.errors import InvalidTransaction, TransactionTooLarge, WrongParameter
from ledgerd.sdk.transactions.operations.accounts import AccountOperations
from ledgerd.sdk.transactions.operations.markets import MarketOperations
from ledgerd.sdk.transactions.operations.money import MoneyOperations
from ledgerd.sdk.transactions.operations.parameters import network_of
from ledgerd.sdk.transactions.prepared import PreparedTransaction
from ledgerd.sdk.transactions.sent import SentTransaction, Waiting

USUAL_LIFETIME = 60.0
MOST_IDS = 10_000
MOST_EQUAL = 300
"""Seconds by which the expiration of equal transactions differs from what was asked for, at most."""
USUAL_PROPOSAL_LIFETIME = 7 * 86_400
BLOCK_OVERHEAD = 256
"""Bytes of the largest block that no transaction can have (spec 01, section 9)."""


class UsedIds:
    """Ids of the latest transactions that a client has prepared: the chain accepts an id once, so two equal
    transactions would be one.
    """

    def __init__(self, most: int = MOST_IDS) -> None:
        self._ids: dict[str, None] = {}
        self._most = most

    def first_new(self, drafts: Iterable[Draft]) -> Draft:
        """The first of them whose id was not used, which it is from now on."""
        for draft in drafts:
            if draft.id not in self._ids:
                self._ids[draft.id] = None
                if len(self._ids) > self._most:
                    del self._ids[next(iter(self._ids))]
                return draft
        raise InvalidTransaction("too many equal transactions at once: wait for a block, or let their memos differ")


_USED_IDS = WeakKeyDictionary[Caller, UsedIds]()


class _Proposed(msgspec.Struct, frozen=True):
    """A proposal whose times are those of the chain when the transaction is prepared."""

    author: str
    title: str
    memo: str
    lifetime: int
    review: int
    operations: tuple[Operation, ...]

    def at(self, now: int) -> Operation:
        wrapped = tuple(map(OperationWrapper, self.operations))
        expiration = now + self.lifetime
        review = expiration - self.review if self.review else None
        return ProposalCreate(AccountName(self.author), self.title, self.memo, expiration, wrapped, review, ())


class TransactionBuilder(AccountOperations, MoneyOperations, MarketOperations):
    """Operations of one transaction. At the end of `async with` it is signed and sent, unless that was done or an
    exception ends it.
    """

    def __init__(
        self,
        caller: Caller,
        keys: KeyRing | None = None,
        *,
        chain_id: bytes | None = None,
        lifetime: float = USUAL_LIFETIME,
        waiting: Waiting | None = None,
    ) -> None:
        """`lifetime`: the seconds after which it can't come into a block any more."""
        if not 1 <= lifetime <= MAX_TIME_UNTIL_EXPIRATION:
            raise WrongParameter(f"lifetime: between 1 and {MAX_TIME_UNTIL_EXPIRATION} seconds, not {lifetime}")
        self._caller = caller
        self._keys = keys if keys is not None else KeyRing()
        self._chain_id = chain_id
        self._lifetime = lifetime
        self._waiting = waiting or Waiting()
        self._operations: list[Operation | _Proposed] = []
        self._prepared: PreparedTransaction | None = None
        self._preparing = asyncio.Lock()
        self._sent: SentTransaction | None = None
        self._is_left_to_others = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._operations and self._sent is None and not self._is_left_to_others:
            await self.send()

    @property
    def sent(self) -> SentTransaction:
        """The sent transaction, to be followed."""
        if self._sent is None:
            raise InvalidTransaction("the transaction was not sent")
        return self._sent

    def add(self, operation: Operation) -> Self:
        """Add an operation of the protocol; each kind has a method of its name besides."""
        self._require_open()
        self._operations.append(operation)
        return self

    def propose(
        self,
        author: str,
        title: str,
        *,
        memo: str = "",
        lifetime: int = USUAL_PROPOSAL_LIFETIME,
        review: int = 0,
    ) -> Self:
        """Propose the operations that were added so far, instead of carrying them out: those whose authority they need
        approve them later. `review`: so many seconds at the end of its lifetime approvals can only be taken back.
        """
        self._require_open()
        if not self._operations or any(isinstance(each, _Proposed) for each in self._operations):
            raise InvalidTransaction("propose: operations are proposed together, once, after they were added")
        if not 0 <= review < lifetime <= MAX_PROPOSAL_LIFETIME_SEC:
            raise WrongParameter(
                f"propose.lifetime: more than its review, and at most {MAX_PROPOSAL_LIFETIME_SEC} seconds"
            )
        proposed = tuple(each for each in self._operations if isinstance(each, Operation))
        self._operations = [_Proposed(author, title, memo, lifetime, review, proposed)]
        return self

    async def prepare(self) -> PreparedTransaction:
        """The transaction with its reference block, expiration and encrypted memos, and the signatures of these keys.
        From here on nothing can be added, and every call gives the same one.
        """
        async with self._preparing:
            if self._prepared is None:
                self._prepared = await self._made()
        return self._prepared

    async def simulate(self) -> DryRun:
        """What the transaction would do, without sending it."""
        return await (await self.prepare()).simulate()

    async def export(self) -> str:
        """JSON for other signers. The end of `async with` does not send it then."""
        text = (await self.prepare()).to_text()
        self._is_left_to_others = True
        return text

    async def send(self, seconds: float | None = None) -> SentTransaction:
        """Sign and send it. Called again, it sends the same transaction again if a node does not have it yet."""
        prepared = await self.prepare()
        if self._sent is None:
            if prepared.missing is not None:
                raise prepared.missing
            self._sent = prepared.following()
        await self._sent.send(seconds)
        return self._sent

    def _require_open(self) -> None:
        if self._prepared is not None:
            raise InvalidTransaction("nothing can be added to a transaction that is prepared: begin another one")

    async def _made(self) -> PreparedTransaction:
        chain, accounts = await self._chain(), AccountReader(self._caller)
        operations = [each.at(chain.head_time) if isinstance(each, _Proposed) else each for each in self._operations]
        _require_valid(operations, chain.chain_id)
        await accounts.require(operations)
        operations = [await self._with_encrypted_memo(each, accounts) for each in operations]
        now = self._waiting.now()
        changes = sorted(range(-MOST_EQUAL, MOST_EQUAL + 1), key=lambda change: (abs(change), -change))
        draft = _USED_IDS.setdefault(self._caller, UsedIds()).first_new(
            draft_of(chain, self._lifetime + change, operations, now, chain.reference)
            for change in changes
            if self._lifetime + change >= 1
        )
        return await self._signed(draft, accounts, chain.largest_block - BLOCK_OVERHEAD)

    async def _chain(self) -> ChainStatus:
        properties = await self._caller.call("database_api", "get_dynamic_global_properties", [], dict)
        config = await self._caller.call("database_api", "get_config", [], dict)
        try:
            chain = status_of(properties, config)
        except (LookupError, TypeError, ValueError):
            raise WrongAnswer("the node does not say where its chain stands") from None
        if self._chain_id not in (None, chain.chain_id):
            raise WrongChain(
                "the node is of another chain",
                expected=ChainId(self._chain_id or b"").hex(),
                found=chain.chain_id.hex(),
            )
        return chain

    async def _with_encrypted_memo(self, operation: Operation, accounts: AccountReader) -> Operation:
        """Encrypt a memo that begins with the mark, which must not become public; in proposed operations too."""
        if isinstance(operation, ProposalCreate):
            inner = [await self._with_encrypted_memo(each.op, accounts) for each in operation.proposed_operations]
            return msgspec.structs.replace(operation, proposed_operations=tuple(map(OperationWrapper, inner)))
        fields = fields_to_encrypt(operation)
        if fields is None:
            return operation
        text, *names = (getattr(operation, field) for field in fields)
        await accounts.learn(names)
        sender, recipient = (accounts.account(name).memo_key for name in names)
        try:
            sealed = self._keys.encrypt_memo(text[len(MARK) :], sender, recipient)
        except NoPrivateKey as missing:
            raise NoPrivateKey(
                f"the memo is encrypted, for which the memo key of {names[0]} is needed: {missing}"
            ) from None
        except WrongKey:
            raise InvalidTransaction(f"the memo can't be encrypted: {names[1]} has no memo key") from None
        return msgspec.structs.replace(operation, **{fields.memo: sealed})

    async def _signed(self, draft: Draft, accounts: AccountReader, most: int) -> PreparedTransaction:
        """Agents are asked for where the accounts' own keys are not there."""
        signers = await accounts.signers_of(draft.transaction, with_agents=False)
        if signers.missing(tuple(self._keys)):
            signers = await accounts.signers_of(draft.transaction, with_agents=True)
        made = PreparedTransaction(draft, signers, self._caller, self._waiting).signed(self._keys)
        largest = max(made.size, len(draft.transaction.packed) + SIGNATURE_SIZE)
        if largest > most:
            raise TransactionTooLarge(f"the transaction has {largest:,} bytes, and the network takes {most:,}")
        return made


def _require_valid(operations: list[Operation], chain_id: bytes) -> None:
    """The rules that need no state, on networks whose parameters are known; the node checks all in any case."""
    if not operations:
        raise InvalidTransaction("a transaction has one operation at least")
    network = network_of(chain_id)
    if network is None:
        return
    for operation in operations:
        try:
            operation.check(network)
        except RuleViolation as broken:
            raise InvalidTransaction(f"{name_of(type(operation))}: {broken.message}") from None
