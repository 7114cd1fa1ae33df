"""The record and the differences of a shadow in words, and the record under a signature."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

import msgspec

from ledgerd.basics.printable import printable
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature, recover, sign
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.shadow.keeping.bundles import Bundle, KeptAnswer
from ledgerd.shadow.keeping.record import ComparedStatus, ShadowRecord, SnapshotCounts

SHOWN = 400
"""Characters of an answer that are printed."""
TRANSACTIONS = "transactions"
SIGNED_AS = b"ledgerd shadow: the record of two nodes that were compared\n"
"""Stands before a record when it is signed, so that a validator's key may sign it: the signature can be none of a block
or a transaction. In the bytes of a header the length of the validator's name stands where this has a letter, and no
name is so long (spec 01, section 11); before a transaction stands the id of its chain, which is a checksum.
"""


class SignedRecord(msgspec.Struct):
    """A record, when it was signed, and the public key that is recovered from its signature."""

    record: ShadowRecord
    signed_at: int
    key: str
    signature: str

    @classmethod
    def of(cls, record: ShadowRecord, key: PrivateKey, now: int) -> SignedRecord:
        return cls(record, now, public_key_text(key.public), sign(key, _digest(record, now)).hex())

    def require_valid(self) -> None:
        """`OperatorError`: the record is not what was signed with this key."""
        try:
            signee = recover(Signature(bytes.fromhex(self.signature)), _digest(self.record, self.signed_at))
        except (ValueError, RuleViolation):
            signee = None
        if signee is None or public_key_text(signee) != self.key:
            raise OperatorError(f"this record is not what {printable(self.key)} has signed")


def _digest(record: ShadowRecord, now: int) -> bytes:
    return sha256(SIGNED_AS + msgspec.json.encode((record, now)))


def moment(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if second else "never"


def record_lines(record: ShadowRecord, now: int) -> Iterator[str]:
    yield f"{record.ours.url} beside {record.theirs.url}"
    days = max(0, now - record.since) / 86_400 if record.since else 0
    yield f"since {moment(record.since)} ({days:.1f} days), from block {record.first_block} on"
    verdict = f"DIFFERENT in {record.differences} questions" if record.differences else "equal"
    if not record.equal.at:
        verdict = "nothing is compared yet"
    yield verdict
    yield f"  {record.blocks:,} blocks, {record.rounds:,} rounds, {record.questions:,} questions"
    yield f"  {record.objects:,} records in equal answers"
    yield f"  every account and object {record.sweeps} times; now at {record.cursor or 'the beginning'}"
    yield from _snapshot_lines(record.snapshots)
    yield f"last equal at block {record.equal.number} {record.equal.id}, {moment(record.equal.at)}"
    yield from _status_lines("ours", record.ours)
    yield from _status_lines("the other one", record.theirs)
    if record.apart:
        yield f"apart since {moment(record.apart_since)}: {record.apart}"
    if record.doubtful:
        yield f"in doubt: {record.doubtful} answers differ, not for a round yet. {record.doubt}".rstrip()
    if record.unanswered:
        yield f"{record.unanswered} questions were not answered twice in a row"
    for field in record.one_sided:
        yield f"  one version alone answers {field}"
    if record.first is not None:
        yield f"first difference, found {moment(record.first.at)}, from block {record.first.block} on:"
        yield f"  {'consensus' if record.first.is_of_consensus else 'answers'}: {record.first.words}"
        if record.first.file:
            yield f"  ledgerd shadow report {record.first.file}"
        yield f"  {record.of_consensus} of consensus, {record.of_answers} of answers in all"


def _snapshot_lines(counts: SnapshotCounts) -> Iterator[str]:
    if counts.compared:
        yield f"  {counts.compared:,} snapshots with {counts.records:,} records, the last of block {counts.block}"
        yield f"    every record equal at block {counts.equal or 'none'}, last looked at {moment(counts.at)}"
    if counts.doubtful:
        yield f"    {counts.doubtful} places differ in the last one, not for long enough yet or told already"
    if counts.unknown:
        yield f"    the other node alone writes {', '.join(counts.unknown)}"
    if counts.problem:
        yield f"  no snapshot was compared last: {counts.problem}"


def _status_lines(name: str, status: ComparedStatus) -> Iterator[str]:
    yield f"{name} ({status.version}) at block {status.number} {status.id}, seen {moment(status.at)}"
    if status.problem:
        yield f"  {status.problem}"


def bundle_lines(bundle: Bundle, file: str) -> Iterator[str]:
    ours, theirs = bundle.nodes
    kind = "consensus: the states of both are different" if bundle.is_of_consensus else "answers: what both say differs"
    yield f"a difference of {kind}"
    yield f"found {bundle.found_at} at block {bundle.block} {bundle.block_id}"
    yield f"asked: {bundle.question.words}"
    if bundle.place:
        yield f"differs: {bundle.place}"
    for name, version, value, answer in zip(
        bundle.nodes, bundle.versions, (bundle.first, bundle.second), bundle.answers, strict=True
    ):
        yield f"  {name} ({version}): {value}"
        yield f"    {_shown(answer)}"
    yield f"at block {bundle.first_block} the answers differed first" + (
        f"; at block {bundle.equal_block} they were equal" if bundle.equal_block else "; they were never equal before"
    )
    if bundle.before is not None:
        yield f"  then both said: {_shown(bundle.before)}"
    for block in bundle.blocks:
        yield f"  {_block(json.loads(block))}"
    yield f"the state before and after, from the blocks of your node {ours}:"
    for number in sorted({max(1, bundle.equal_block or bundle.first_block - 1), bundle.first_block}):
        yield f"  ledgerd state --at {number} --data-dir DIR --to state-{number}"
    yield "which of both follows from the blocks:"
    yield f"  ledgerd debug difference {file} --data-dir DIR"
    yield f"the other node is {theirs}; ours is {bundle.program}"
    for name, value in bundle.configuration.items():
        yield f"  {name} = {value}"


def _shown(answer: KeptAnswer) -> str:
    text = f"error: {answer.error}" if answer.error else answer.text
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}... ({answer.length:,} characters)"


def _block(block: object) -> str:
    if not isinstance(block, dict):
        return "a block that is not there"
    transactions = block.get(TRANSACTIONS)
    count = len(transactions) if isinstance(transactions, list) else 0
    kinds = Counter[str]()
    for transaction in transactions if isinstance(transactions, list) else ():
        operations = transaction.get("operations") if isinstance(transaction, dict) else None
        for operation in operations if isinstance(operations, list) else ():
            if isinstance(operation, list) and operation:
                kinds[str(operation[0])[:40]] += 1
    made = f"block after {str(block.get('previous'))[:40]} of {str(block.get('timestamp'))[:20]}"
    named = ", ".join(f"{name} {times}" for name, times in sorted(kinds.items()))
    return f"{made}: {count} transactions{f' ({named})' if named else ''}"
