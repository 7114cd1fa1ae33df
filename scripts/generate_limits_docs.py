"""Writes `docs/limits.md`: every limit of a node, from the constants that declare them.

A limit is a number whose name says so (`MOST_CONNECTIONS`, `PUSHED_BYTES_A_SECOND`), one that `docs/threats.md` names,
or a field of a record of limits. What it limits is said by the text after it, or else by its name.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "ledgerd"
SOURCE = ROOT / "src" / PACKAGE
DOCUMENT = ROOT / "docs" / "limits.md"
THREATS = ROOT / "docs" / "threats.md"

ROOMS = (
    *("p2p", "rpc", "explorer", "client", "node", "chain", "state", "snapshot", "history", "replica", "plugins"),
    *("shadow", "producer", "signer", "metrics", "supervision", "basics"),
)
"""The rooms whose code runs in or beside a node, what strangers reach first; of others, what `threats.md` names."""

NAME = re.compile(
    r"(MOST|MAX|LARGEST|LONGEST|FARTHEST|KEPT)(_|$)|(^|_)(REMEMBERED|BACKLOG|BURST)$"
    r"|_(A_SECOND|OF_ADDRESS|OF_CLIENT|AT_ONCE|BYTES)$"
)
TIME = re.compile(r"(^|_)SECONDS$")
"""A limit where it is explained; else it may be a pause."""
COUNTED_BY = ("Quota", "Quotas", "SharedQuota")
NAMED = re.compile(r"`([a-z][\w.]*)\.([A-Z][A-Z_0-9]*) = [0-9.]+`")

HEAD = f"""# Limits of a node

For operators and auditors: look up how much of anything others can make a node keep, do or wait for.

[threats.md](threats.md) says which attack each limit holds, and which test proves it. Options are in
[configuration.md](configuration.md); a limit that is one has its default here. Names are those of the code in
`src/{PACKAGE}`; times are in seconds, sizes in bytes.

This page is generated from the declarations by `make docs`; a test fails when it is out of date.
"""


class Limit(NamedTuple):
    """A limit, as it is declared."""

    module: str
    name: str
    value: float
    what: str


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _said(following: ast.stmt | None) -> str:
    """The first sentence of a text behind a declaration, if there is one."""
    match following:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return re.split(r"(?<=[.;:])\s", " ".join(text.split()), maxsplit=1)[0].rstrip(".;:")
    return ""


def names_in(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names that are given at one place, each with what is said of it."""
    for node, following in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, _said(following)
            case ast.Assign(targets=[ast.Tuple(elts=names)]):
                yield from ((each.id, _said(following)) for each in names if isinstance(each, ast.Name))


def _quotas_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that quotas are made with, each with what is said of the quota."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node, following in zip(function.body, [*function.body[1:], None], strict=True):
                for call in ast.walk(node):
                    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in COUNTED_BY:
                        yield from ((each.id, _said(following)) for each in call.args if isinstance(each, ast.Name))


@cache
def limits() -> list[Limit]:
    """All of them, in the order of rooms and modules."""
    threats = set(NAMED.findall(THREATS.read_text(encoding="utf-8")))
    others = sorted(each.name for each in SOURCE.iterdir() if each.is_dir() and each.name not in ROOMS)
    return [
        found
        for room in (*ROOMS, *others)
        for path in sorted((SOURCE / room).rglob("*.py"))
        for found in _limits_of(path, threats, is_of_node=room in ROOMS)
    ]


def _limits_of(path: Path, threats: set[tuple[str, str]], *, is_of_node: bool) -> Iterator[Limit]:
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body, counted = tree.body, dict(_quotas_in(tree))
    for name, what in names_in(body):
        is_limit = bool(NAME.search(name) or (TIME.search(name) and what))
        if name.isupper() and ((is_of_node and is_limit) or name in counted or (module, name) in threats):
            value = getattr(import_module(f"{PACKAGE}.{module}"), name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield Limit(module, name, value, counted.get(name) or what or _words(name))
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == "Limits":
            defaults = getattr(import_module(f"{PACKAGE}.{module}"), node.name)()
            for name, what in names_in(node.body):
                if isinstance(value := getattr(defaults, name), int | float):
                    yield Limit(module, name, value, what or _words(name))


def document() -> str:
    """The whole page."""
    parts, room = [HEAD], ""
    for each in limits():
        if each.module.partition(".")[0] != room:
            room = each.module.partition(".")[0]
            parts.append(f"\n## {room}\n\n| limit | what it limits | value | where |\n|---|---|---|---|\n")
        what = each.what.replace("|", "\\|")
        parts.append(f"| `{each.name}` | {what} | {each.value:,} | `{each.module}` |\n")
    return "".join(parts)


def main() -> int:
    """Write the page."""
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
