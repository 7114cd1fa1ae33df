"""What the recordings of version 4.1.0 hold, counted: operations in blocks, and what probes were refused for.

`python -m tests.house.recordings` prints the two tables of `docs/spec/PROOFS.md`.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.base import Operation, name_of
from tests.house.preconditions import OF_ALL, is_in, rules_of_families
from tests.house.source_tree import ROOT
from tests.recorded import (
    ANSWERED,
    MARKET_CHAINS,
    MARKET_PROBES,
    later_blocks,
    recorded_answers,
    recorded_blocks,
    recorded_probe,
)

BLOCKS_OF_OPERATIONS = "get_ops_in_block"


@cache
def in_blocks() -> Counter[str]:
    """How often each operation is in the blocks; those that the chain adds, in the answers about blocks."""
    packed = [raw for name in MARKET_CHAINS for raw in recorded_blocks(name)] + list(later_blocks())
    blocks = (codec_of(Block).decode(raw) for raw in packed)
    sent = Counter(
        _name(each) for block in blocks for transaction in block.transactions for each in transaction.operations
    )
    added = Counter[str]()
    for chain in MARKET_CHAINS:
        for text in recorded_answers(chain, ANSWERED[chain])[BLOCKS_OF_OPERATIONS].values():
            added.update(row["op"][0] for row in json.loads(text) or [] if row["virtual_op"])
    return sent + Counter({name: count for name, count in added.items() if name not in sent})


def _name(operation: Operation) -> str:
    return name_of(type(operation))


@cache
def refusals() -> Counter[tuple[str, str]]:
    """The operation of a probed transaction that has one, and what it was refused for."""
    facts = (fact for probe in MARKET_PROBES for fact in recorded_probe(probe) if fact.get("refused"))
    return Counter(
        (fact["trx"]["operations"][0][0], fact["refused"]["message"])
        for fact in facts
        if len(fact["trx"]["operations"]) == 1
    )


def count_table(names: list[str]) -> list[str]:
    """An operation, how often blocks hold it, how often probes with it were refused."""
    refused = Counter[str]()
    for (name, _), count in refusals().items():
        refused[name] += count
    head = ["| operation | in blocks | refused |", "|---|---|---|"]
    return head + [f"| {name} | {in_blocks()[name]} | {refused[name] or ''} |" for name in sorted(names)]


def precondition_table() -> list[str]:
    """A family of operations, how many preconditions it has, and for how many of them a probe was refused."""
    met = frozenset(text for _, text in refusals())
    lines = ["| operations | preconditions | met by probes |", "|---|---|---|"]
    for name, texts in rules_of_families(ROOT).items():
        lines.append(f"| {name} | {len(texts)} | {sum(is_in(text, met) for text in texts - OF_ALL.keys())} |")
    return lines


if __name__ == "__main__":
    from tests.house.proofs import counted_operations, read_proofs

    print(*count_table(counted_operations(read_proofs(ROOT))), "", *precondition_table(), sep="\n")  # noqa: T201 - that is its task
