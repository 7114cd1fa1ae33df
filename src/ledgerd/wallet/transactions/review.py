"""What a person is shown before a transaction is signed, made from the very bytes that are signed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ledgerd.basics.printable import shown_text
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.dry_run import DryRun
from ledgerd.wallet.operations.words import words_of

NO_SIGNATURES = b"\0"


class Review(msgspec.Struct, frozen=True):
    """A transaction in words."""

    id: str
    chain_id: str
    expiration: str
    size: int
    operations: tuple[Any, ...]
    """The operations as the JSON of the network."""
    words: tuple[tuple[str, ...], ...]
    required: tuple[str, ...]
    signed: tuple[str, ...]
    signing: tuple[str, ...]
    missing: str = ""
    fees: tuple[str, ...] = ()
    """A node's word."""
    bandwidth: tuple[str, ...] = ()
    """A node's word too."""
    warnings: tuple[str, ...] = ()
    dry_run: DryRun | None = None
    """A node's word too; none if no node was asked."""


def review_of(
    draft: Draft,
    signing: Sequence[PublicKey],
    missing: str = "",
    fees: Sequence[str] = (),
    warnings: Sequence[str] = (),
    tried: DryRun | None = None,
    bandwidth: Sequence[str] = (),
) -> Review:
    """The transaction that its bytes say, whatever it was made from."""
    raw = draft.unsigned
    transaction = codec_of(Transaction).decode_exactly(raw + NO_SIGNATURES)
    return Review(
        transaction.id.hex(),
        draft.chain_id.hex(),
        time_text(transaction.expiration),
        len(draft.transaction.packed),
        tuple(msgspec.json.decode(codec_of(Operation).to_json(each)) for each in transaction.operations),
        tuple(tuple(words_of(each)) for each in transaction.operations),
        tuple(_required(transaction)),
        tuple(public_key_text(key) for key in sorted(draft.signed_by)),
        tuple(public_key_text(key) for key in signing),
        missing,
        tuple(fees),
        tuple(bandwidth),
        tuple(warnings),
        tried,
    )


def lines_of(review: Review) -> Iterator[str]:
    yield f"Transaction {review.id}, {review.size} bytes, expires {review.expiration} UTC"
    yield f"Chain {review.chain_id}"
    for number, words in enumerate(review.words, start=1):
        first, *others = words
        yield f"{number}. {first}"
        yield from (f"  {line}" for line in others)
    yield f"Must sign: {'; '.join(review.required)}"
    for title, keys in (("Has signed", review.signed), ("Signs now", review.signing)):
        if keys:
            yield f"{title}: {', '.join(keys)}"
    if review.missing:
        yield f"Not enough yet: {shown_text(review.missing)}"
    yield from (f"Fee, as the node says: {each}" for each in review.fees)
    yield from (f"Bandwidth, as the node says: {each}" for each in review.bandwidth)
    if review.dry_run is not None:
        yield from _dry_run_lines(review.dry_run)
    yield from (f"WARNING: {each}" for each in review.warnings)


def _dry_run_lines(tried: DryRun) -> Iterator[str]:
    if tried.not_told:
        yield f"The node did not try it out: {shown_text(tried.not_told)}"
        return
    if tried.broken_rule:
        yield f"Tried out by the node, it says: this breaks the rule {shown_text(tried.broken_rule)}"
        return
    yield "Tried out by the node, it says:"
    for step in tried.balances:
        yield f"  {shown_text(step.account)}: {step.before} becomes {step.after}"
    for each in tried.virtual_operations:
        first, *others = words_of(codec_of(Operation).from_json(each))
        yield f"  then {first}"
        yield from (f"  {line}" for line in others)
    if not (tried.balances or tried.virtual_operations):
        yield "  no balance changes"


def _required(transaction: Transaction) -> Iterator[str]:
    required = transaction.required
    for role, names in (("regular", required.regular), ("active", required.active), ("master", required.master)):
        yield from (f"{shown_text(name)} ({role})" for name in names)
    yield from ("an authority that the operation spells out" for _ in required.other)
