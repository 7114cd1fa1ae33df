"""Writes the methods into `docs/api.md`, each with a request and an answer that a reference node was recorded with.

What stands in the document outside of the two marks is written by hand, and left alone.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledgerd.codec.json.text import Json
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, SortedSet, Vector
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.variants import NamedVariant, Variant
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.node.dev_api import DEV_API
from ledgerd.rpc.api.node.node_api import NODE_API
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.declarations import Api, Method
from ledgerd.rpc.describe.openrpc import name_of, words_of
from ledgerd.rpc.describe.schemas import Schemas
from scripts.spec_links import linked, section_called

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "api.md"
CHAINS = ROOT / "tests" / "vectors" / "chains"
BEGIN = "<!-- methods: generated from the declarations by `make docs`; a test fails when they are out of date -->"
END = "<!-- end of the methods -->"

EVERY_API: tuple[Api, ...] = (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY, HISTORY_API, STATE_API, NODE_API, DEV_API)

RECORDED = (
    "open-2/api-617",
    "open-2/answers-617",
    "open-2/account-histories-617",
    "open-1/api-2718",
    "open-1-at-4.1.0/api-2718",
    "open-1/answers-2718",
    "open-1/errors-2718",
    "open-main/api-900",
    "open-pm/api-2027",
    "open-big/api-207",
)
"""Where answers are looked for. Of each method the shortest is shown that says something."""

NEWER = "open-1-at-4.1.0/api-2718"
CHANGED = {
    "database_api.get_accounts",
    "database_api.get_config",
    "database_api.get_dynamic_global_properties",
    "database_api.lookup_account_names",
    "custom_protocol_api.get_account",
    "validator_api.get_validator_schedule",
}
"""The newest version of the reference, which answers these methods in another form than those before it."""

LATER = ("open-pm/api-2027", "open-big/api-207")
"""Where answers are looked for of the methods that came with hardforks 14 and 15, and of no others."""

OF_LATER = (
    "prediction_market_api.",
    "database_api.get_agent_permissions",
    "database_api.get_key_history",
)
"""With what the names of those begin."""

PROBE = "open-1/probe-2718"
"""Where transactions are looked for."""

BROADCAST = "network_broadcast_api.broadcast_transaction"

EMPTY = ('"result":[],', '"result":null,', f'"block_id":"{"0" * 40}"')
"""What stands in answers about nothing."""

LONGEST = 4000
"""Characters of a request or an answer that are shown."""


class Exchange(NamedTuple):
    """A recorded request and its answer, as texts."""

    request: str
    answer: str
    source: str = ""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """A table; a bar inside a cell would end it."""
    lines = [head, tuple("---" for _ in head), *rows]
    return [*(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines), ""]


# -- recorded answers


def exchanges(name: str) -> Iterator[Exchange]:
    """The requests of a file, and their answers; those that are not UTF-8 are left out."""
    for line in lzma.decompress((CHAINS / f"{name}.jsonl.xz").read_bytes()).splitlines():
        try:
            fact = json.loads(line.decode())
        except UnicodeDecodeError:
            continue
        request = fact["body"] if "body" in fact else json.dumps(fact["request"], ensure_ascii=False)
        yield Exchange(request, fact["answer"], name)


def called_by(exchange: Exchange) -> str:
    """The method of a request that was answered with a result; empty for any other."""
    if '"result":' not in exchange.answer or '"call"' not in exchange.request:
        return ""
    try:
        request, answer = json.loads(exchange.request), json.loads(exchange.answer)
    except ValueError:
        return ""
    if not isinstance(request, dict) or not isinstance(answer, dict):
        return ""
    match request.get("params"):
        case [str(api), str(method), [*_]]:
            return f"{api}.{method}"
    return ""


@cache
def best_exchanges() -> Mapping[str, Exchange]:
    """The exchange to show of each method."""
    best: dict[str, Exchange] = {BROADCAST: accepted_broadcast()}
    for name in RECORDED:
        for exchange in exchanges(name):
            called = called_by(exchange)
            if (name == NEWER) != (called in CHANGED) or (name in LATER) != called.startswith(OF_LATER):
                continue
            if called and called != BROADCAST and (called not in best or order(exchange) < order(best[called])):
                best[called] = exchange
    return best


def accepted_broadcast() -> Exchange:
    """The shortest transfer that a node was recorded to accept: `{}` is what both nodes answer to it.

    The reference answers `{}` to what it refuses as well, so its other answers to broadcasts are not shown.
    """
    facts = map(json.loads, lzma.decompress((CHAINS / f"{PROBE}.jsonl.xz").read_bytes()).splitlines())
    accepted = (json.dumps(fact["trx"]) for fact in facts if not fact["refused"])
    sent = min((text for text in accepted if '["transfer", ' in text), key=len)
    params = [*BROADCAST.split("."), [json.loads(sent)]]
    request = json.dumps({"jsonrpc": "2.0", "method": "call", "params": params, "id": 1})
    return Exchange(request, '{"jsonrpc":"2.0","result":{},"id":1}')


def order(exchange: Exchange) -> tuple[bool, bool, bool, int]:
    """Answers come first that say something and can be read; of those, short ones to questions not meant to be odd."""
    says_nothing = any(empty in exchange.answer for empty in EMPTY)
    return says_nothing, len(exchange.answer) > LONGEST, "errors" in exchange.source, len(exchange.answer)


def shortened(text: str) -> str:
    """A text without what is too long to read."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def request_of(method: Method, arguments: Sequence[Json]) -> str:
    """A request for a method with arguments."""
    params = [method.api, method.name, list(arguments)]
    return json.dumps({"jsonrpc": "2.0", "method": "call", "params": params, "id": 1})


def shown_exchange(method: Method, best: Mapping[str, Exchange]) -> list[str]:
    """A request and its answer; the request alone where none was recorded."""
    exchange = best.get(f"{method.api}.{method.name}")
    if exchange is not None:
        return ["```json", shortened(exchange.request), shortened(exchange.answer), "```", ""]
    return ["```json", request_of(method, method.examples[0]), "```", ""] if method.examples else []


# -- types


def words(kind: Kind) -> str:
    """What a kind is called, with links to the records."""
    if isinstance(kind, Printed):
        return words(kind.of)
    if isinstance(kind, Optional):
        return f"{words(kind.inner)} or null"
    if isinstance(kind, SortedMap):
        return f"array of pairs of {words(kind.key)} and {words(kind.value)}"
    if isinstance(kind, Vector):
        return f"{'set' if isinstance(kind, SortedSet) else 'array'} of {words(kind.element)}"
    if isinstance(kind, FixedArray):
        return f"{kind.size} of {words(kind.element)}"
    if isinstance(kind, NamedVariant):
        return "[operation](protocol/operations.md)"
    if isinstance(kind, Variant):
        return "one of " + ", ".join(f"`[{tag}, {each.title}]`" for tag, each in kind.kinds.items())
    if isinstance(kind, RecordKind) and has_own_table(kind):
        return f"[{kind.title}](#{anchor(kind)})"
    return kind.title


def anchor(kind: RecordKind) -> str:
    """The link of a record's heading."""
    return kind.title.lower().replace(" ", "-")


@cache
def has_own_table(kind: RecordKind) -> bool:
    """Whether a record is an object in JSON, and no operation: those stand in documents of their own."""
    return "$ref" in Schemas().of(kind) and kind.record not in OPERATIONS


def parts(kind: Kind) -> Iterator[Kind]:
    """What a kind consists of."""
    if isinstance(kind, Printed):
        yield kind.of
    elif isinstance(kind, Optional):
        yield kind.inner
    elif isinstance(kind, SortedMap):
        yield from (kind.key, kind.value)
    elif isinstance(kind, Vector | FixedArray):
        yield kind.element
    elif isinstance(kind, RecordKind):
        yield from (field.kind for field in kind.fields)


def collect(kind: Kind, seen: dict[str, RecordKind]) -> None:
    """Every record that a kind consists of."""
    if isinstance(kind, RecordKind) and has_own_table(kind):
        if kind.title in seen:
            return
        seen[kind.title] = kind
    for part in parts(kind):
        collect(part, seen)


def records() -> dict[str, RecordKind]:
    """The records of all arguments and results."""
    seen: dict[str, RecordKind] = {}
    for api in EVERY_API:
        for method in api:
            for kind in (method.codec.kind, *(each.codec.kind for each in method.parameters)):
                collect(kind, seen)
    return dict(sorted(seen.items(), key=lambda pair: pair[0].lower()))


def record_section(kind: RecordKind) -> list[str]:
    """One record and its fields."""
    said = " ".join((kind.record.__doc__ or "").split())
    section = [f"### {kind.title}", "", said, ""]
    if kind.fields:
        rows = ((f"`{field.name}`", field_words(field.kind)) for field in kind.fields)
        section += table(("field", "type"), rows)
    return section


def field_words(kind: Kind) -> str:
    """The type of a field; one that may be absent is left out then."""
    return f"{words(kind.inner)}; may be left out" if isinstance(kind, Optional) else words(kind)


# -- methods


def method_section(method: Method, best: Mapping[str, Exchange]) -> list[str]:
    """One method: what it takes, what it answers, and a real request."""
    summary, more = words_of(method)
    section = [f"### {method.name}", "", f"{summary} {more}".strip(), ""]
    if method.parameters:
        rows = (
            (f"`{name_of(each)}`", words(each.codec.kind), "" if each.is_required else f"`{default_of(each.default)}`")
            for each in method.parameters
        )
        section += table(("parameter", "type", "when left out"), rows)
    section += [f"Result: {words(method.codec.kind)}.", ""]
    return section + shown_exchange(method, best)


def default_of(value: object) -> str:
    """A default as a client would write it."""
    if isinstance(value, msgspec.Struct):
        return "{}"
    name = getattr(value, "name", None)
    return json.dumps(value) if name is None else json.dumps(name.lower())


def api_section(api: Api, best: Mapping[str, Exchange]) -> list[str]:
    """One API: its methods in the order of their declaration, then the older names."""
    cited = section_called("05", api.name)
    section = [f"## {api.name}", "", f"{api.summary} In full: {cited}." if cited else api.summary, ""]
    for method in api:
        if not method.alias_of:
            section += method_section(method, best)
    older = [(f"`{each.name}`", f"[{each.alias_of}](#{each.alias_of})") for each in api if each.alias_of]
    return section + (table(("older name", "is"), older) if older else [])


def methods() -> str:
    """Every API, and the records at the end."""
    best = best_exchanges()
    lines = [line for api in EVERY_API for line in api_section(api, best)]
    lines += ["## Records", "", "Objects in arguments and answers; keys stand in this order.", ""]
    lines += [line for kind in records().values() for line in record_section(kind)]
    return "\n".join(lines).rstrip()


def with_methods(document: str) -> str:
    """The document with the methods of today between its marks."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{linked(methods())}\n\n{END}{after}"


def main() -> int:
    """Write the document."""
    DOCUMENT.write_text(with_methods(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
