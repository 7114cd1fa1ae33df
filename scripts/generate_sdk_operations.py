"""Writes the methods of `ledgerd.sdk.transactions.operations`, one for each operation that can be sent, from the
declarations of the protocol.
"""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap

from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import Optional, Vector
from ledgerd.codec.types.numbers import Boolean
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.codec.types.strings import FixedBytes, Text
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.operations import FAMILIES, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.times import TimeKind
from ledgerd.sdk.transactions.operations.fields import (
    SENDABLE,
    fields_of_operation,
    is_asked,
    is_asset,
    is_authority,
    is_name,
)
from ledgerd.sdk.transactions.operations.parameters import IN_SHARES
from ledgerd.wallet.operations.words import sentence_of

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "src" / "ledgerd" / "sdk" / "transactions" / "operations"

GROUPS = {
    "accounts": ("accounts", "account_market", "agents", "proposals", "content", "custom", "validators"),
    "money": ("transfers", "awards", "invites", "escrow", "committee", "paid_subscriptions"),
    "markets": ("markets", "bets", "liquidity", "leverage", "oracles", "disputes"),
}
"""The families of operations, by the file of their methods."""

PARAMETERS = "ledgerd.sdk.transactions.operations.parameters"
HEAD = '''"""Operations of {title} as methods: generated from their declarations by `make docs`; not edited by hand."""

# ruff: noqa: {rules} - an operation has as many parameters as it has fields, under their names

from __future__ import annotations

'''
LINE = 100
MOST_IN_ORDER = 5
"""Parameters that may be given without their names."""


def documents() -> dict[Path, str]:
    """Each file with its text."""
    grouped: dict[str, list[type[Operation]]] = defaultdict(list)
    group_of = {family: group for group, families in GROUPS.items() for family in families}
    for module, declared in FAMILIES.items():
        for operation in declared:
            if operation in SENDABLE:
                grouped[group_of[module.__name__.rpartition(".")[2]]].append(operation)
    return {FOLDER / f"{group}.py": _formatted(_file(group, grouped[group])) for group in GROUPS}


def _file(group: str, operations: list[type[Operation]]) -> str:
    imports: dict[str, set[str]] = defaultdict(set)
    imports[PARAMETERS].add("OperationMethods")
    imports["typing"].add("Self")
    methods = [_method(each, imports) for each in operations]
    head = "".join(f"from {module} import {', '.join(sorted(names))}\n" for module, names in sorted(imports.items()))
    rules = "A002, PLR0913" if any(_hides_builtin(each) for each in operations) else "PLR0913"
    title = f"{group.title().removesuffix('s')}Operations"
    return (
        f"{HEAD.format(title=group, rules=rules)}{head}\n\n"
        f'class {title}(OperationMethods):\n    """Adds operations of {group}."""\n\n' + "\n\n".join(methods)
    )


def _method(operation: type[Operation], imports: Mapping[str, set[str]]) -> str:
    fields = fields_of_operation(operation)
    needed = [each for each in fields if is_asked(each)]
    others = [each for each in fields if not is_asked(each)]
    typed = [f"{each.attribute}: {_type(each, each.kind, imports)}" for each in needed]
    named = [_with_default(each, imports) for each in others]
    parameters = ["self", *typed, *(["*"] if named else []), *named]
    if len(typed) > MOST_IN_ORDER:
        parameters = ["self", "*", *typed, *named]
    values = ", ".join(each.attribute for each in fields)
    lines = wrap(sentence_of(operation), LINE)
    sentence = "\n        ".join([*lines, ""] if len(lines) > 1 else lines)
    return (
        f"    def {name_of(operation)}({', '.join(parameters)}) -> Self:\n"
        f'        """{sentence}"""\n'
        f'        return self._make("{name_of(operation)}", {values})\n'
    )


def _hides_builtin(operation: type[Operation]) -> bool:
    return any(hasattr(builtins, each.attribute) for each in fields_of_operation(operation))


def _with_default(field: Field, imports: Mapping[str, set[str]]) -> str:
    """What is false unless JSON says otherwise has to be given: a program that forgets it means neither."""
    is_needed = isinstance(field.kind, Boolean) and field.default() is False
    kind = _type(field, field.kind, imports)
    return f"{field.attribute}: {kind}" if is_needed else f"{field.attribute}: {kind} = {field.default()!r}"


def _type(field: Field, kind: Kind, imports: Mapping[str, set[str]]) -> str:
    def of_parameters(name: str) -> str:
        imports[PARAMETERS].add(name)
        return name

    if isinstance(kind, Optional):
        return f"{_type(field, kind.inner, imports)} | None"
    if is_asset(kind):
        return of_parameters("SharesAmount" if field.attribute in IN_SHARES else "VizAmount")
    if is_authority(kind):
        return of_parameters("SomeAuthority")
    if isinstance(kind, TimeKind):
        return of_parameters("PointInTime")
    if isinstance(kind, FixedBytes):
        return of_parameters("SomeKey") if kind.title == "public key" else "bytes | str"
    if isinstance(kind, Vector):
        imports["collections.abc"].add("Iterable")
        return f"Iterable[{_type(field, kind.element, imports)}]"
    if isinstance(kind, RecordKind | Variant):
        return " | ".join(_records(kind, imports))
    if isinstance(kind, Text) or is_name(kind):
        return "str"
    return "bool" if isinstance(kind, Boolean) else "int"


def _records(kind: RecordKind | Variant, imports: Mapping[str, set[str]]) -> Iterator[str]:
    for each in [kind] if isinstance(kind, RecordKind) else kind.kinds.values():
        imports[each.record.__module__].add(each.record.__name__)
        yield each.record.__name__


def _formatted(text: str) -> str:
    """As every file here is formatted, with its imports in order."""
    for words in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
        name = FOLDER / "generated.py"
        run = [sys.executable, "-m", "ruff", *words, "--stdin-filename", str(name), "-"]
        text = subprocess.run(run, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout  # noqa: S603 - of this environment
    return text


def main() -> int:
    """Write the files."""
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
