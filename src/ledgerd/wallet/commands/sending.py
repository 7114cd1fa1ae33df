"""From operations to a transaction in a block: made, looked through, shown, confirmed, signed, sent and followed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from ledgerd.basics.printable import printable, printable_lines
from ledgerd.protocol.authorities.authority_check import required_authorities
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.crypto.signatures import recover
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.draft import Draft, draft_of
from ledgerd.sdk.transactions.search import GRACE_SECONDS
from ledgerd.wallet import errors
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.keys.session import KeySession, session_of
from ledgerd.wallet.node.checks import CLOCK_SECONDS, checked_status
from ledgerd.wallet.node.client import NodeClient, dry_run
from ledgerd.wallet.node.ledger import LedgerReader
from ledgerd.wallet.operations.reading import require_valid
from ledgerd.wallet.transactions.costs import bandwidth_lines, fees_of
from ledgerd.wallet.transactions.draft import save, signers_online
from ledgerd.wallet.transactions.memos import with_encrypted_memo
from ledgerd.wallet.transactions.names import corrected, doubts_about
from ledgerd.wallet.transactions.review import Review, lines_of, review_of
from ledgerd.wallet.transactions.sending import TransactionFollower, Until

USUAL_NODE = "http://127.0.0.1:8090"
USUAL_LIFETIME = 60.0
FILE_LIFETIME = 3_600.0
"""The lifetime of a transaction that others have to sign: the longest that the network accepts."""

TERMINAL = "/dev/tty"
LONGEST_ANSWER = 256
YES = {b"y", b"yes"}


def ask(question: str) -> bool:
    """Ask a person; any answer but yes is no."""
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise errors.NotAsked(f"no terminal to ask: {question} Use --yes if you know what is sent") from None
    try:
        os.write(terminal, f"{printable(question)} [y/N]: ".encode())
        return os.read(terminal, LONGEST_ANSWER).strip().lower() in YES
    finally:
        os.close(terminal)


def require_yes(question: str, *, is_given: bool) -> None:
    if not is_given and not ask(question):
        raise errors.NotConfirmed("not confirmed: nothing was signed or sent")


class Choices(msgspec.Struct, frozen=True):
    """The choices of how a transaction is made and sent."""

    wallet: Path
    nodes: tuple[str, ...] = (USUAL_NODE,)
    is_yes: bool = False
    until: Until = Until.IN_BLOCK
    file: Path | None = None
    """Written instead of signed and sent."""
    lifetime: float | None = None
    clock_seconds: float = CLOCK_SECONDS
    is_json: bool = False
    elapsed: Callable[[], float] = time.monotonic

    @property
    def seconds(self) -> float:
        return self.lifetime or (USUAL_LIFETIME if self.file is None else FILE_LIFETIME)

    @contextmanager
    def checked_node(self) -> Iterator[tuple[NodeClient, ChainStatus]]:
        with self.checked_nodes() as (nodes, chain):
            yield nodes[0], chain

    @contextmanager
    def checked_nodes(self) -> Iterator[tuple[list[NodeClient], ChainStatus]]:
        """All nodes, and where the first one stands, after the checks; says whose answers travel unencrypted."""
        with ExitStack() as stack:
            clients = [stack.enter_context(NodeClient(each)) for each in self.nodes]
            for each in clients:
                if each.is_readable_by_others:
                    sys.stderr.write(
                        f"WARNING: what you ask {each.url} can be read and changed on the way: use https\n"
                    )
            yield clients, checked_status(clients, self.wallet, self.clock_seconds)

    def show(self, text: str) -> None:
        """Show something to a person; with --json, standard output is for the result alone."""
        stream = sys.stderr if self.is_json else sys.stdout
        stream.write(printable_lines(f"{text}\n"))
        stream.flush()


def send(choices: Choices, make: Callable[[ChainStatus], Sequence[Operation]]) -> CommandResult:
    session = session_of(choices.wallet)
    if choices.file is None:
        session.status()
    with choices.checked_nodes() as (nodes, chain):
        return _send_through(nodes, chain, session, choices, make(chain))


def _send_through(
    nodes: Sequence[NodeClient],
    chain: ChainStatus,
    session: KeySession,
    choices: Choices,
    made: Sequence[Operation],
) -> CommandResult:
    node = nodes[0]
    ledger = LedgerReader(node)
    operations = list(made)
    known = known_accounts(operations, session, ledger)
    warnings: list[str] = []
    for place, operation in enumerate(operations):
        require_valid(operation, chain.chain_id)
        operations[place] = _checked_operation(operation, ledger, known, choices, warnings)
    operations = [with_encrypted_memo(each, ledger, session) for each in operations]
    draft = draft_of(chain, choices.seconds, operations, time.time())
    signers = signers_online(draft, ledger)
    fees = tuple(fees_of(draft.transaction.operations, ledger.chain_properties))
    tried = dry_run(node, draft.transaction)

    def bandwidth(signatures: int) -> list[str]:
        return list(bandwidth_lines(draft.transaction, signatures, ledger, chain.head_time))

    if choices.file is not None:
        save(choices.file, draft, signers.known, signers.agents)
        review = review_of(draft, (), signers.missing(()), fees, warnings, tried, bandwidth(1))
        choices.show("\n".join(lines_of(review)))
        return {**result_of(review), "state": "unsigned", "file": str(choices.file)}
    choice = signers.choose(own_keys(session))
    if choice.missing:
        raise errors.KeyNotFound(
            f"the keys of the wallet do not suffice: {choice.missing}; with --save others can sign too"
        )
    if tried.broken_rule:
        raise errors.NodeRefused(
            f"the node has tried it out: {tried.broken_rule.rstrip('.')}. Nothing was signed or sent"
        )
    review = review_of(draft, choice.keys, "", fees, warnings, tried, bandwidth(len(choice.keys)))
    asked_at, valid = choices.elapsed(), draft.transaction.expiration - max(chain.head_time, time.time())
    signed = confirmed_and_signed(draft, choice.keys, session, choices, review, "Sign and send this?")
    if choices.elapsed() - asked_at > valid:
        raise errors.ExpiredTransaction(
            "the transaction expired before it was confirmed: nothing was sent, make it again"
        )
    if tuple(fees_of(draft.transaction.operations, LedgerReader(node).chain_properties)) != fees:
        raise errors.FeeChanged(
            "the node names another fee than the one that was shown: nothing was sent, make it again"
        )
    outcome = TransactionFollower(nodes, signed, choices.seconds + GRACE_SECONDS).send(choices.until)
    return {**result_of(review), "state": outcome.state, "block": outcome.block}


def confirmed_and_signed(
    draft: Draft, keys: Sequence[PublicKey], session: KeySession, choices: Choices, review: Review, question: str
) -> Draft:
    """Show a transaction, ask, and sign exactly the bytes that were shown."""
    if not (choices.is_json and choices.is_yes):
        choices.show("\n".join(lines_of(review)))
    require_yes(question, is_given=choices.is_yes)
    signatures = session.sign(draft.chain_id, draft.unsigned, keys)
    digest = draft.transaction.signature_digest(draft.chain_id)
    try:
        made = [recover(each, digest) for each in signatures]
    except RuleViolation:
        made = []
    if made != list(keys):
        raise errors.WalletError("the signatures are not of these bytes and keys: nothing was sent")
    return draft.with_signatures(signatures)


def own_keys(session: KeySession) -> list[PublicKey]:
    return [public_key_from_text(each.key) for each in session.keys().keys]


def known_accounts(operations: Sequence[Operation], session: KeySession, ledger: LedgerReader) -> set[str]:
    """Accounts that the wallet's owner deals with: those who sign, those of the wallet's keys, and watched ones."""
    known: set[str] = set(required_authorities(operations).names)
    try:
        held = session.keys()
    except errors.LockedWallet:
        return known
    return known | set(held.watched) | ledger.names_of_keys(public_key_from_text(each.key) for each in held.keys)


def result_of(review: Review) -> dict[str, object]:
    found: dict[str, object] = msgspec.to_builtins(review, enc_hook=str)
    return found


def _checked_operation(
    operation: Operation, ledger: LedgerReader, known: set[str], choices: Choices, warnings: list[str]
) -> Operation:
    """The operation with each account that was meant; asks where a name is perhaps mistyped."""
    ledger.learn(known)
    for doubt in doubts_about(operation, ledger, {each for each in known if ledger.find(each) is not None}):
        if doubt.exists:
            warnings.append(f"{doubt.field} is {doubt.name}, which is one letter off {doubt.meant}")
        elif not doubt.meant:
            raise errors.NoSuchAccount(f"there is no account {doubt.name}: nothing was sent")
        elif (
            choices.is_yes
            or "." in doubt.field
            or not ask(f"There is no account {doubt.name}. Did you mean {doubt.meant}?")
        ):
            raise errors.NoSuchAccount(
                f"there is no account {doubt.name}; did you mean {doubt.meant}? Nothing was sent"
            )
        else:
            return _checked_operation(corrected(operation, doubt), ledger, known, choices, warnings)
    return operation
