"""A transaction whose bytes are settled: to be tried out, signed here or elsewhere, and sent."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.authorities.authority_check import MissingAuthority
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.sdk.calling import Caller
from ledgerd.sdk.errors import NodeError, Rejected, UnknownMethod, WrongAnswer, WrongChain
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.draft import Draft, read, written
from ledgerd.sdk.transactions.dry_run import DryRun, dry_run_of
from ledgerd.sdk.transactions.errors import SignaturesMissing
from ledgerd.sdk.transactions.sent import SentTransaction, Waiting
from ledgerd.sdk.transactions.signers import Missing, Signers


class PreparedTransaction:
    """Does not change: signing it gives another one."""

    def __init__(
        self,
        draft: Draft,
        signers: Signers,
        caller: Caller | None = None,
        waiting: Waiting | None = None,
        *,
        may_be_sent: bool = False,
    ) -> None:
        self._draft = draft
        self._signers = signers
        self._caller = caller
        self._waiting = waiting or Waiting()
        self._may_be_sent = may_be_sent

    @classmethod
    def from_text(
        cls,
        text: str | bytes,
        caller: Caller | None = None,
        *,
        chain_id: bytes | None = None,
        waiting: Waiting | None = None,
    ) -> Self:
        """What `to_text` gave, or a file of `ledgerd wallet`; for the chain that is meant alone, if that is named.
        Without a caller it can be looked at and signed.
        """
        loaded = read(text.encode("utf-8", "replace") if isinstance(text, str) else text)
        found = loaded.draft.chain_id
        if chain_id is not None and chain_id != found:
            raise WrongChain("the transaction is for another chain", expected=chain_id.hex(), found=found.hex())
        # Whoever else has the text may have sent it.
        return cls(loaded.draft, loaded.signers(), caller, waiting, may_be_sent=True)

    @property
    def id(self) -> str:
        return self._draft.id

    @property
    def size(self) -> int:
        """The size in bytes, with the signatures that the transaction has."""
        return len(self._draft.transaction.packed)

    @property
    def expiration(self) -> datetime:
        return datetime.fromtimestamp(self._draft.transaction.expiration, UTC)

    @property
    def operations(self) -> tuple[Operation, ...]:
        return self._draft.transaction.operations

    @property
    def signed_by(self) -> frozenset[PublicKey]:
        return self._draft.signed_by

    @property
    def missing(self) -> SignaturesMissing | None:
        """Whose signatures are missing; none if it can be sent."""
        lacking = self._signers.lacking(self.signed_by)
        return None if lacking is None else signatures_missing(lacking)

    def __repr__(self) -> str:
        return f"PreparedTransaction({self.id})"

    def signed(self, keys: KeyRing) -> PreparedTransaction:
        """The transaction, signed with as few of these keys as are needed, and with none of more power than needed."""
        chosen = self._signers.choose(tuple(keys), self.signed_by).keys
        digest = self._draft.transaction.signature_digest(self._draft.chain_id)
        draft = self._draft.with_signatures(keys.sign(digest, chosen))
        return PreparedTransaction(draft, self._signers, self._caller, self._waiting, may_be_sent=self._may_be_sent)

    def to_text(self) -> str:
        """JSON for other signers: the transaction with its signatures, and who has to sign. No private key is in it."""
        return written(self._draft, self._signers.known, self._signers.agents).decode()

    async def simulate(self) -> DryRun:
        """What it would do, where a node tries it out; else whether its signatures suffice, as a node checks them."""
        transaction = msgspec.json.decode(codec_of(Transaction).to_json(self._draft.transaction))
        caller = self._online()
        try:
            found = await caller.call("node_api", "simulate_transaction", [transaction], dict)
        except UnknownMethod as off:
            not_told = str(off)
        except NodeError as refused:
            not_told = str(refused)
        else:
            try:
                return dry_run_of(found)
            except (LookupError, TypeError, ValueError, CodecError, RuleViolation):
                raise WrongAnswer("the node does not tell of the dry run as a node does") from None
        if self.missing is not None:
            return DryRun(not_told=not_told, broken_rule=str(self.missing))
        try:
            await caller.call("database_api", "verify_authority", [transaction], bool)
        except Rejected as refused:
            return DryRun(not_told=not_told, broken_rule=str(refused))
        return DryRun(not_told=not_told)

    async def send(self, seconds: float | None = None) -> SentTransaction:
        """Send it, and wait until a node has it. May be repeated: it is carried out once. `SentTransaction.send` says
        which errors there are.
        """
        sent = self.following()
        if self.missing is not None:
            raise self.missing
        self._may_be_sent = True
        await sent.send(seconds)
        return sent

    def following(self) -> SentTransaction:
        """To follow it without sending it, as whoever has exported it may want to."""
        return SentTransaction(self._online(), self._draft, self._waiting, may_be_sent=self._may_be_sent)

    def _online(self) -> Caller:
        if self._caller is None:
            raise TypeError("this transaction was read without a client: it can be signed, and neither sent nor tried")
        return self._caller


def signatures_missing(lacking: Missing) -> SignaturesMissing:
    if not isinstance(lacking, MissingAuthority):
        return SignaturesMissing("signatures are missing for an authority that the operation itself names")
    role, names = lacking.kind.lower(), lacking.accounts
    whose = ", ".join(names)
    return SignaturesMissing(f"signatures of the {role} authority of {whose} are missing", names, role)
