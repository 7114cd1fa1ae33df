"""Nothing is defined for tests alone: each definition of the source is used by the source, a script or a bench.

Uses are told by name, so that a method counts as used where any method of its name is. Fields of records are left out:
what is written and read as bytes or JSON is used by generated code.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, called_name, parse, python_files, write_tree

USERS = ("src", "scripts", "bench")

PLAIN_DECORATORS = {
    "abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager", "dataclass",
    "lru_cache", "overload", "override", "property", "setter", "staticmethod", "total_ordering", "wraps",
}  # fmt: skip
"""Any other one hands what it decorates to somebody who calls it."""

CALLED_BY_LIBRARIES = {
    "connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing",
    "datagram_received", "error_received",  # asyncio's protocols
    "on_message_begin", "on_url", "on_header", "on_headers_complete", "on_body", "on_message_complete",  # httptools
    "emit", "format", "formatException", "render",  # logging, rich
    "error", "exit", "format_help",  # argparse
    "get_completions", "load_history_strings", "store_string",  # prompt_toolkit
    "readable", "readinto", "makefile",  # io, http.client
    "asend", "athrow",  # `async for` and generators
}  # fmt: skip

_WALLETS = "how wallets of this network come to keys, as recorded from them; tests derive published keys with it"
_FIXED = "mathematics that recorded vectors fix by itself; what a bet gets is tested against it"
_MEASURED = "the memory that a peer can make us use, which simulations and hostile peers in tests hold to its bound"


EXCEPTIONS: dict[str, str] = {
    "p2p/shared/peer.py:buffered": _MEASURED,
    "p2p/talk/mempool.py:remembered": _MEASURED,
    "pricing/fixed_point.py:div_q": _FIXED,
    "pricing/fixed_point.py:mul_q": _FIXED,
    "pricing/lmsr.py:buy_cost": _FIXED,
    "pricing/lmsr.py:sell_return": _FIXED,
    "protocol/keys.py:from_brain_key": _WALLETS,
}
"""`file:name` of what is right as it is, and why; all names of a folder with `folder/`."""


@dataclass(frozen=True)
class Definition:
    """A name, where it is given, and the lines that do not count as uses of it: its own."""

    name: str
    file: str
    lines: range
    owner: str = ""
    """The enumeration that it is a member of."""

    @property
    def key(self) -> str:
        return f"{self.file}:{self.name}"


Uses = dict[str, dict[str, list[int]]]
"""Of each name, by file, the lines."""


def _decorator(node: ast.expr) -> str:
    match node:
        case ast.Call(func=inner):
            return _decorator(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(_decorator(each) not in PLAIN_DECORATORS for each in node.decorator_list)


def _named(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _is_enumeration(node: ast.ClassDef) -> bool:
    return any(_decorator(base).endswith(("Enum", "Flag")) for base in node.bases)


def definitions(path: Path, src: Path) -> Iterator[Definition]:
    """What a file defines for others: at its top, and in its classes; fields of records are not among them."""
    file = path.relative_to(src / PACKAGE).as_posix()

    def inside(body: list[ast.stmt], owner: ast.ClassDef | None) -> Iterator[Definition]:
        for node in body:
            own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_called_elsewhere = owner is not None and node.name in CALLED_BY_LIBRARIES
                if not _is_registered(node) and not is_called_elsewhere:
                    yield Definition(node.name, file, own)
                if isinstance(node, ast.ClassDef):
                    yield from inside(node.body, node)
            elif isinstance(node, ast.If | ast.Try):
                yield from inside(node.body, owner)
            elif owner is None or (_is_enumeration(owner) and isinstance(node, ast.Assign)):
                member_of = "" if owner is None else owner.name
                yield from (Definition(name, file, own, member_of) for name in _named(node))

    for each in inside(parse(path).body, None):
        if not re.fullmatch(r"__\w+__|_", each.name):
            yield each


def _names_in(text: str) -> Iterator[str]:
    """The names that a text refers to: `module:function`, and the name of a class in an annotation."""
    if re.fullmatch(r"[\w.]+:\w+", text):
        yield text.rpartition(":")[2]
    elif re.fullmatch(r"_?[A-Z]\w*(\[.*\]| \| None)?", text):
        yield from re.findall(r"\w+", text)


def uses(*folders: Path) -> Uses:
    """Every name that is read or called, with the files and lines; an import alone is no use."""
    found: Uses = defaultdict(lambda: defaultdict(list))
    for path in python_files(*folders):
        where = path.as_posix()
        for node in ast.walk(parse(path)):
            names: list[str] = []
            match node:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                    names = [name]
                case ast.Constant(value=str(text)) if len(text) < 200:
                    names = [*_names_in(text)]
                case ast.Call(args=[_, ast.Constant(value=str(name)), *_]) if called_name(node) in {
                    "getattr",
                    "hasattr",
                }:
                    names = [name]
                case ast.Call(func=ast.Name(id="says"), keywords=cases):
                    names = [each.arg for each in cases if each.arg] + re.findall(r"\{(\w+)\}", ast.unparse(node))
                case ast.ImportFrom() | ast.Import():
                    names = [alias.name for alias in node.names if alias.asname]
                case ast.MatchClass(kwd_attrs=words):
                    names = [*words]
            if isinstance(node, ast.expr | ast.stmt | ast.pattern):
                for name in names:
                    found[name][where].append(node.lineno)
    return found


def members_used_as_a_whole(*folders: Path) -> set[str]:
    """What is called, passed or gone through: enumerations whose members come from values or names there."""
    found = set()
    for path in python_files(*folders):
        for node in ast.walk(parse(path)):
            match node:
                case ast.Call(func=function, args=arguments):
                    found |= {each.id for each in (function, *arguments) if isinstance(each, ast.Name)}
                case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
                    found.add(name)
                case ast.Starred(value=ast.Name(id=name)) | ast.keyword(value=ast.Name(id=name)):
                    found.add(name)
    return found


def unused(root: Path, exceptions: dict[str, str]) -> list[str]:
    """Definitions that nothing uses, save where they stand themselves; and exceptions that are none any more."""
    src, folders = root / "src", [root / folder for folder in USERS]
    used, whole = uses(*folders), members_used_as_a_whole(*folders)
    settings = root / "pyproject.toml"
    entry_points = settings.read_text(encoding="utf-8") if settings.exists() else ""
    found = set()
    for path in python_files(src / PACKAGE):
        for each in definitions(path, src):
            lines = [(file, line) for file, many in used.get(each.name, {}).items() for line in many]
            is_used = any(file != path.as_posix() or line not in each.lines for file, line in lines)
            if not is_used and each.owner not in whole and f':{each.name}"' not in entry_points:
                found.add(each.key)
    excused = {key for key in found if key in exceptions or f"{key.partition('/')[0]}/" in exceptions}
    stale = {each for each in exceptions if not any(key == each or key.startswith(each) for key in excused)}
    return sorted(found - excused) + [f"{each}: needs no exception" for each in sorted(stale)]


def test_everything_is_used() -> None:
    assert unused(ROOT, EXCEPTIONS) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def pause():\n    pass", "pause"),
        ("async def pause():\n    pass", "pause"),
        ("class State:\n    pass", "State"),
        ("LARGEST = 5", "LARGEST"),
        ("LARGEST: int = 5", "LARGEST"),
        ("Names = dict[str, int]", "Names"),
        ("if WINDOWS:\n    LARGEST = 5", "LARGEST"),
        ("def again():\n    return again()", "again"),
        ("class State:\n    def again(self):\n        return self.again()\nSTART = State()\nprint(START)", "again"),
        ("class State:\n    @property\n    def count(self):\n        return 1\nprint(State)", "count"),
        ("class State:\n    @classmethod\n    def made(cls):\n        return cls()\nprint(State)", "made"),
        ("class Origin(Enum):\n    PEER = 1\n    PAUSE = 2\nx = Origin.PEER\nprint(x)", "PAUSE"),
        ("from ledgerd.state import a as b\ndef alone():\n    pass", "alone"),
    ],
)
def test_what_nothing_uses_is_found(tmp_path: Path, text: str, name: str) -> None:
    files = {f"src/{PACKAGE}/state/store.py": text, "tests/test_store.py": f"from ledgerd.state.store import *\n{name}"}
    importing = {f"src/{PACKAGE}/state/__init__.py": f"from ledgerd.state.store import {name}\n"}

    assert unused(write_tree(tmp_path, files), {}) == [f"state/store.py:{name}"]
    assert unused(write_tree(tmp_path, importing), {}) == [f"state/store.py:{name}"]


@pytest.mark.parametrize(
    "text",
    [
        "def begin():\n    pass\nbegin()",
        "def _begin():\n    pass\nSTEPS = (_begin,)\nprint(STEPS)",
        "@evaluates(Transfer)\ndef transfer(ledger):\n    pass",
        "@API.method()\ndef get_accounts(view):\n    pass",
        "class Link(asyncio.Protocol):\n    def data_received(self, data):\n        pass\nLink()",
        "class Kind(IntEnum):\n    A = 1\n    B = 2\ndef read(byte):\n    return Kind(byte)\nread(1)",
        "class Kind(Flag):\n    A = 1\nALL = [*Kind]\nprint(ALL)",
        "class Told(msgspec.Struct):\n    name: str\n    size: int = 0\nTold('')",
        "class Reader:\n    def __len__(self):\n        return 0\nReader()",
        "def parts():\n    pass\nPARTS = 'ledgerd.state.store:parts'\nprint(PARTS)",
        "class Head:\n    pass\ndef of(head: 'Head'):\n    pass\nof(1)",
        "class Head:\n    def size(self):\n        pass\nprint(getattr(Head, 'size'))",
        "class Move:\n    EN = says('Move', 'moved', is_own='stayed')\n    def is_own(self):\n        pass\nMove()",
        "class Move:\n    EN = says('Move', '{who} moved')\n    def who(self):\n        pass\nMove()",
    ],
)
def test_what_is_used_is_no_fault(tmp_path: Path, text: str) -> None:
    assert unused(write_tree(tmp_path, {f"src/{PACKAGE}/state/store.py": text}), {}) == []


@pytest.mark.parametrize("folder", ["scripts", "bench", "src/ledgerd/node"])
def test_a_use_in_a_script_a_bench_or_another_room_counts(tmp_path: Path, folder: str) -> None:
    files = {f"src/{PACKAGE}/state/store.py": "def begin():\n    pass", f"{folder}/a.py": "store.begin()"}

    assert unused(write_tree(tmp_path, files), {}) == []


def test_an_exception_that_is_none_any_more_is_found(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {f"src/{PACKAGE}/state/store.py": "def begin():\n    pass"})

    assert unused(root, {"state/store.py:begin": "why"}) == []
    assert unused(root, {"state/": "why"}) == []
    assert unused(root, {"state/": "why", "state/store.py:end": "why"}) == ["state/store.py:end: needs no exception"]
