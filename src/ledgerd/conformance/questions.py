"""The questions to a library: what each function is given, and what has to come back, from the recorded facts."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json
from ledgerd.conformance.vectors import PRIVATE, RecordedChain, Vectors
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations.base import Operation

OPERATIONS_OF_A_KIND = 8
"""Operations of each kind that are taken from a chain: enough for optional and variable fields."""
PREVIOUS_SIZE = 20
OF_THE_CHAIN = 65_535
"""The place in a block of operations that are of no transaction."""

ONE_WAY = re.compile(r'"-[\d.]+ (?:VIZ|SHARES)"|"\d+\.\d{0,2} VIZ"|"\d+\.\d{0,5} SHARES"')
"""Texts of negative amounts, as the reference prints them: the amount cannot be read back (spec 01, section 3.3)."""

BLOCK_SIGNATURES = "block_signatures.jsonl"
COSTS = "hf14/lmsr_fixed_vectors.json"
PARALLEL = "expected"


class LibraryQuestion(NamedTuple):
    """One call of a function."""

    id: str
    function: str
    arguments: dict[str, Json]
    expected: Json

    @property
    def subject(self) -> str:
        return self.id.partition("/")[0]

    @property
    def line(self) -> str:
        """The line of the question for an adapter."""
        return json.dumps({"id": self.id, "function": self.function, "arguments": self.arguments})


class AnsweredBlock(NamedTuple):
    """The answers of a reference node about one block."""

    block: Json
    """The result of `get_block`."""
    transaction_ids: dict[int, str]
    """The ids of transactions, by their place in the block."""


def questions(vectors: Vectors, chains: list[RecordedChain], work: Path | None) -> Iterator[LibraryQuestion]:
    """All questions, always in the same order; those for states where there is a folder for the logs of blocks."""
    yield from _about_keys(vectors)
    yield from _about_costs(vectors)
    for chain in chains:
        yield from _about_blocks(chain)
    if work is not None:
        for chain in chains:
            yield from _about_states(vectors, chain, work)


def _about_keys(vectors: Vectors) -> Iterator[LibraryQuestion]:
    for number, fact in enumerate(vectors.lines(BLOCK_SIGNATURES)):
        given = {name: fact[name] for name in ("digest", "signature")}
        yield LibraryQuestion(f"signatures/recover_key/{number}", "recover_key", given, fact["key"])


def _about_costs(vectors: Vectors) -> Iterator[LibraryQuestion]:
    """Numbers for the cost function of markets; all of them are decimal texts or integers, and have to be equal."""
    for function, rows in vectors.document(COSTS).items():
        for number, row in enumerate(rows if isinstance(rows, list) else []):
            if isinstance(row, dict) and PARALLEL in row:
                given = {name: value for name, value in row.items() if name != PARALLEL}
                yield LibraryQuestion(f"costs/{function}/{number}", function, given, row[PARALLEL])


def _about_blocks(chain: RecordedChain) -> Iterator[LibraryQuestion]:
    answered, chain_id, seen = _answers(chain), _chain_id(chain), Counter[str]()
    for number, raw in enumerate(chain.packed_blocks, 1):
        block, name = codec_of(Block).decode(raw), f"{chain.name}/{{}}/{number}"
        given: dict[str, Json] = {"block": raw.hex()}
        if number < len(chain.packed_blocks):
            following = chain.packed_blocks[number][:PREVIOUS_SIZE].hex()
            yield LibraryQuestion(name.format("block_id"), "block_id", given, following)
        if block.transactions:
            root = block.transaction_merkle_root.hex()
            yield LibraryQuestion(name.format("merkle_root"), "merkle_root", given, root)
        if number in answered and (block.transactions or block.extensions):
            shown = answered[number].block
            yield LibraryQuestion(name.format("decode_block"), "decode_block", given, shown)
            if is_readable(shown):
                yield LibraryQuestion(name.format("encode_block"), "encode_block", {"block": shown}, raw.hex())
        for place, transaction in enumerate(block.transactions):
            known = answered.get(number, AnsweredBlock(None, {}))
            yield from _about_transaction(name + f".{place}", transaction, known.transaction_ids.get(place), chain_id)
            yield from _about_operations(name + f".{place}", transaction, _shown(known.block, place), seen)


def _about_transaction(
    name: str, transaction: Transaction, known: str | None, chain_id: str
) -> Iterator[LibraryQuestion]:
    given: dict[str, Json] = {"transaction": transaction.packed.hex()}
    if known is not None:
        yield LibraryQuestion(name.format("transaction_id"), "transaction_id", given, known)
    # spec 01, section 9: what is signed is the id of the chain, then the bytes without signatures.
    digest = hashlib.sha256(bytes.fromhex(chain_id) + transaction.unsigned).hexdigest()
    signing: dict[str, Json] = {**given, "chain_id": chain_id}
    yield LibraryQuestion(name.format("signing_digest"), "signing_digest", signing, digest)


def _about_operations(
    name: str, transaction: Transaction, shown: list[Json], seen: Counter[str]
) -> Iterator[LibraryQuestion]:
    for place, (operation, text) in enumerate(zip(transaction.operations, shown, strict=False)):
        kind = type(operation).__name__
        seen[kind] += 1
        if seen[kind] <= OPERATIONS_OF_A_KIND:
            packed = codec_of(Operation).encode(operation).hex()
            where = f"{name}.{place}"
            if is_readable(text):
                yield LibraryQuestion(where.format("encode_operation"), "encode_operation", {"operation": text}, packed)
            yield LibraryQuestion(where.format("decode_operation"), "decode_operation", {"operation": packed}, text)


def is_readable(text: Json) -> bool:
    """Whether the bytes can be made from the JSON that was shown of them."""
    return not ONE_WAY.search(json.dumps(text))


def _shown(block: Json, place: int) -> list[Json]:
    """The operations of a transaction, as the reference shows them in a block."""
    transactions = block.get("transactions") if isinstance(block, dict) else None
    shown = transactions[place] if isinstance(transactions, list) and place < len(transactions) else None
    operations = shown.get("operations") if isinstance(shown, dict) else None
    return operations if isinstance(operations, list) else []


def _answers(chain: RecordedChain) -> dict[int, AnsweredBlock]:
    """The answers about each block."""
    blocks: dict[int, Json] = {}
    ids: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for height in chain.heights("answers"):
        for fact in chain.facts("answers", height):
            result = json.loads(fact.answer).get("result")
            number = fact.arguments[0] if fact.arguments else None
            if not isinstance(number, int):
                continue
            if fact.method == "get_block" and result:
                blocks[number] = result
            elif fact.method == "get_ops_in_block":
                ids[number] |= {each["trx_in_block"]: each["trx_id"] for each in result or []}
    return {number: AnsweredBlock(block, _of_transactions(ids[number])) for number, block in blocks.items()}


def _of_transactions(ids: dict[int, str]) -> dict[int, str]:
    return {place: name for place, name in ids.items() if place != OF_THE_CHAIN}


def _chain_id(chain: RecordedChain) -> str:
    if chain.chain_id:
        return chain.chain_id
    header = chain.state(chain.heights("state")[0])["header"]
    return str(header["chain_id"]) if isinstance(header, dict) else ""


def _about_states(vectors: Vectors, chain: RecordedChain, work: Path) -> Iterator[LibraryQuestion]:
    """The state after a block; what comes back is the path of a file with it. Its records are compared one by one."""
    log = write_log(chain, work / chain.name)
    network = str((vectors.folder / PRIVATE).resolve()) if chain.network == PRIVATE else chain.network
    for height in chain.heights("state"):
        given: dict[str, Json] = {"network": network, "block_log": str(log), "height": height}
        if chain.is_of_an_earlier_version:
            given["last_hardfork"] = 13
        yield LibraryQuestion(f"{chain.name}/state/{height}", "state", given, None)


def write_log(chain: RecordedChain, folder: Path) -> Path:
    """The blocks of a chain as a node of the reference keeps them: `block_log`, and the places of the blocks."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "block_log"
    log.write_bytes(chain.block_log)
    (folder / "block_log.index").write_bytes(chain.index)
    return log.resolve()
