"""The kit against a node by its URL: recorded requests, asked again of a node that stands where they were recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing

from ledgerd.client.asked import DATABASE, AskedNode, NodeSilent
from ledgerd.client.envelope import MISSING
from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json
from ledgerd.conformance.comparing import answer_difference
from ledgerd.conformance.report import Check, ConformanceReport
from ledgerd.conformance.vectors import Fact, RecordedChain
from ledgerd.protocol.blocks.block import Block

KINDS = ("answers", "api", "account-histories")
ABOUT_BLOCKS = "answers"
"""Requests about single blocks, most of which a node that stands elsewhere in the chain answers alike."""
OF_BLOCKS = ("get_block", "get_block_header", "get_raw_block", "get_ops_in_block")
CONFIG = "get_config"

Say = Callable[[str], None]


def run_against_node(url: str, chains: Sequence[RecordedChain], say: Say) -> ConformanceReport:
    """Ask a node what was recorded of the chain that it has, as far as it has come in it."""
    report = ConformanceReport(f"the node {url}")
    with closing(AskedNode(url)) as node:
        number, name = node.head()
        found = [each for each in chains if _has_block(each, number, name)]
        for chain in found:
            say(f"the node stands at block {number:,} of {chain.name}")
            _ask_all(node, chain, number, report)
        if not found:
            say(f"block {number:,} {name} is of no recorded chain: only constants are compared")
            _ask_constants(node, chains, report)
        if node.head() != (number, name):
            raise NodeSilent(f"{url} made or took a block meanwhile: let it stand still, without validators and peers")
    return report


def _has_block(chain: RecordedChain, number: int, name: str) -> bool:
    return (
        0 < number <= len(chain.packed_blocks)
        and codec_of(Block).decode(chain.packed_blocks[number - 1]).id.hex() == name
    )


def _ask_all(node: AskedNode, chain: RecordedChain, head: int, report: ConformanceReport) -> None:
    for kind in KINDS:
        for height in chain.heights(kind):
            subject = f"{chain.name} at {height}"
            for fact in chain.facts(kind, height):
                if height == head or (kind == ABOUT_BLOCKS and _is_of_the_past(fact, min(head, height))):
                    _ask(node, chain, fact, report.check(subject, fact.api))
                else:
                    report.check(subject, fact.api).not_offered(f"the node stands at block {head:,}")


def _is_of_the_past(fact: Fact, head: int) -> bool:
    """Whether a request is about one block that is there already."""
    number = fact.arguments[0] if fact.arguments else None
    return fact.method in OF_BLOCKS and isinstance(number, int) and number <= head


def _ask(node: AskedNode, chain: RecordedChain, fact: Fact, check: Check) -> None:
    here = node.ask(fact.api, fact.method, fact.arguments)
    if is_missing(here) and not is_missing(json.loads(fact.answer)):
        check.not_offered(f"{fact.api}.{fact.method}")
        return
    difference = answer_difference(chain, fact.answer, here)
    if difference:
        check.failed(f"{fact.method}({', '.join(map(json.dumps, fact.arguments))}): {difference}")
    else:
        check.passed()


def is_missing(answer: Json) -> bool:
    """Whether a node says that it does not have an API or a method."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return isinstance(error, dict) and MISSING in str(error.get("message"))


def _ask_constants(node: AskedNode, chains: Sequence[RecordedChain], report: ConformanceReport) -> None:
    """The constants of the network, which no block changes, from the first chain with this id."""
    given = node.ask(DATABASE, CONFIG, [])
    for chain in chains:
        for height in chain.heights("api")[:1] if not chain.is_of_an_earlier_version else []:
            fact = next((each for each in chain.facts("api", height) if each.method == CONFIG), None)
            if fact is not None and _chain_id(given) == _chain_id(json.loads(fact.answer)):
                _ask(node, chain, fact, report.check(f"constants, as in {chain.name}", DATABASE))
                return
    report.check("constants", DATABASE).not_offered("no chain with this id was recorded")


def _chain_id(answer: Json) -> Json:
    result = answer.get("result") if isinstance(answer, dict) else None
    return result.get("CHAIN_ID") if isinstance(result, dict) else None
