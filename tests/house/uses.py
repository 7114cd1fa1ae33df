"""How the house tests tell what is used: the names that files define, and where each is read or called.

A name at the top of a file is used there, or where it is imported from that file. A method is used where a method of
its name is, a private one only in its file, in those that import from it, and in those that it imports from.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.house.source_tree import PACKAGE, called_name, imports, module_name, nodes_of, parse, python_files

PLAIN_DECORATORS = {
    "abstractmethod", "asynccontextmanager", "cache", "cached_property", "classmethod", "contextmanager", "dataclass",
    "lru_cache", "overload", "override", "property", "setter", "staticmethod", "total_ordering", "wraps",
}  # fmt: skip
"""Any other one hands what it decorates to somebody who calls it."""

CALLED_BY_LIBRARIES = {
    "connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing",
    "datagram_received", "error_received", "get_buffer", "buffer_updated",  # asyncio's protocols
    "on_message_begin", "on_url", "on_status", "on_header", "on_headers_complete", "on_body",
    "on_message_complete",  # httptools
    "do_GET", "do_POST", "log_message", "close_connection",  # http.server
    "emit", "format", "formatException", "render",  # logging, rich
    "error", "exit", "format_help",  # argparse
    "get_completions", "load_history_strings", "store_string",  # prompt_toolkit
    "readable", "readinto",  # io
    "asend", "athrow",  # `async for` and generators
    "teardown", "runtest",  # hypothesis, pytest
}  # fmt: skip

Lines = dict[Path, list[int]]


@dataclass(frozen=True)
class Definition:
    """A name, where it is given, and the lines that do not count as uses of it: its own."""

    name: str
    path: Path
    lines: range
    owner: str = ""
    """The class that it is a member of."""
    is_member: bool = False
    """Of an enumeration."""


@dataclass
class Uses:
    """Every name that some files read or call, with the files and lines; an import alone is no use."""

    bare: dict[str, Lines] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    """By itself."""
    dotted: dict[str, Lines] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    """Of something."""
    told: dict[str, Lines] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    """In a text that names it."""
    importers: dict[str, set[tuple[Path, str]]] = field(default_factory=lambda: defaultdict(set))
    """Who imports a name, by its full path, and how it is called there."""
    known: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The modules that a file imports from, and the packages above them."""
    dynamic: set[Path] = field(default_factory=set)
    """Files that import modules by names that they put together."""
    asking: set[Path] = field(default_factory=set)
    """Files that ask for members of something by names that they are given."""
    whole: set[str] = field(default_factory=set)
    """What is called, passed or gone through: the members of such an enumeration come from values or names."""

    def add(self, other: Uses) -> None:
        """Add what other files use, none of which is among these."""
        for mine, others in ((self.bare, other.bare), (self.dotted, other.dotted), (self.told, other.told)):
            for name, lines in others.items():
                mine[name] |= lines
        for name, importers in other.importers.items():
            self.importers[name] |= importers
        self.known |= other.known
        self.dynamic |= other.dynamic
        self.asking |= other.asking
        self.whole |= other.whole


def uses(root: Path, *folders: Path) -> Uses:
    """What is used in folders of a tree."""
    found = Uses()
    for path in python_files(*folders):
        base = _base(path, root)
        aliases: dict[str, str] = {}
        for node in nodes_of(parse(path)):
            _note(found, path, node)
            if isinstance(node, ast.ImportFrom):
                aliases |= {alias.name: alias.asname for alias in node.names if alias.asname}
        for each in imports(path, base):
            name = each.target.rpartition(".")[2]
            found.importers[each.target].add((path, aliases.get(name, name)))
            found.known[path] |= {*_prefixes(each.target)}
    for path in (each for folder in folders for each in sorted(folder.rglob("*.md"))):
        _note_document(found, path)
    return found


def _note_document(found: Uses, path: Path) -> None:
    """What the examples in Python of a guide use, which is there for those who build on this project."""
    for text in re.findall(r"^```python[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for node in ast.walk(ast.parse(text)):
            _note(found, path, node)
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    found.importers[f"{node.module}.{alias.name}"].add((path, alias.asname or alias.name))
                    found.known[path] |= {*_prefixes(f"{node.module}.{alias.name}")}


def _prefixes(target: str) -> Iterator[str]:
    while target:
        yield target
        target = target.rpartition(".")[0]


def _base(path: Path, root: Path) -> Path:
    return root / "src" if path.is_relative_to(root / "src") else root


def _note(found: Uses, path: Path, node: ast.AST) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            found.bare[name][path].append(node.lineno)
        case ast.Attribute(attr=name, ctx=ast.Load()):
            found.dotted[name][path].append(node.lineno)
        case ast.Constant(value=str(text)) if len(text) < 200:
            for name in _names_in(text):
                found.told[name][path].append(node.lineno)
        case ast.Call(args=[_, ast.Constant(value=str(name)), *_]) if called_name(node) in {"getattr", "hasattr"}:
            found.told[name][path].append(node.lineno)
        case ast.Call(args=[_, *_]) if called_name(node) == "getattr":
            found.asking.add(path)
        case ast.Call() if called_name(node) == "import_module":
            found.dynamic.add(path)
        case ast.Call(keywords=cases) if called_name(node) == "words":
            # The sentence of an operation names properties of it.
            for name in (*(each.arg or "" for each in cases), *re.findall(r"\{(\w+)\}", ast.unparse(node))):
                found.told[name][path].append(node.lineno)
        case ast.MatchClass(kwd_attrs=names):
            for name in names:
                found.dotted[name][path].append(node.lineno)
    _note_whole(found.whole, node)


def _note_whole(whole: set[str], node: ast.AST) -> None:
    match node:
        case ast.Call(func=function, args=arguments):
            whole |= {each.id for each in (function, *arguments) if isinstance(each, ast.Name)}
        case ast.For(iter=ast.Name(id=name)) | ast.comprehension(iter=ast.Name(id=name)):
            whole.add(name)
        case ast.Starred(value=ast.Name(id=name)) | ast.keyword(value=ast.Name(id=name)):
            whole.add(name)


def _names_in(text: str) -> Iterator[str]:
    """The names that a text refers to: `module:function`, the name of a class in an annotation, code that imports."""
    if re.fullmatch(r"[\w.]*:\w+", text):
        yield text.rpartition(":")[2]
    elif " import " in text:
        yield from re.findall(r" import (\w+)", text)
    elif re.fullmatch(r"_?[A-Z]\w*(\[.*\]| \| None)?", text):
        yield from re.findall(r"\w+", text)


def is_used(each: Definition, found: Uses, root: Path) -> bool:
    """Whether anything but itself uses it."""
    module = module_name(each.path, _base(each.path, root))

    def somewhere(table: dict[str, Lines], name: str, may_use: Callable[[Path], bool]) -> bool:
        places = table.get(name, {}).items()
        return any(may_use(path) for path, lines in places if path != each.path or {*lines} - {*each.lines})

    def is_here(path: Path) -> bool:
        return path == each.path

    def knows_it(path: Path) -> bool:
        return is_here(path) or path in found.dynamic or module in found.known[path]

    def is_related(path: Path) -> bool:
        return knows_it(path) or module_name(path, _base(path, root)) in found.known[each.path]

    if somewhere(found.told, each.name, lambda _: True):
        return True
    if each.owner:
        if (each.is_member and each.owner in found.whole) or each.path in found.asking:
            return True
        may_use = is_related if each.name.startswith("_") else lambda _: True
        return somewhere(found.dotted, each.name, may_use) or somewhere(found.bare, each.name, is_here)
    return (
        somewhere(found.bare, each.name, is_here)
        or somewhere(found.dotted, each.name, knows_it)
        or any(
            path != each.path and path in found.bare.get(name, {})
            for place in _prefixes(module)  # a package above may hand it on
            for path, name in found.importers.get(f"{place}.{each.name}", ())
        )
    )


def definitions(path: Path) -> Iterator[Definition]:
    """What a file defines for others: at its top and in its classes, and what its objects keep; fields of records are
    not among them.
    """

    def inside(body: list[ast.stmt], owner: ast.ClassDef | None) -> Iterator[Definition]:
        for node in body:
            own = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            member_of = "" if owner is None else owner.name
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                is_called_elsewhere = owner is not None and node.name in CALLED_BY_LIBRARIES
                if not _is_registered(node) and not is_called_elsewhere:
                    yield Definition(node.name, path, own, member_of)
                if isinstance(node, ast.ClassDef):
                    yield from inside(node.body, node)
                    yield from _attributes(path, node)
            elif isinstance(node, ast.If | ast.Try):
                yield from inside(node.body, owner)
            elif owner is None or (_is_enumeration(owner) and isinstance(node, ast.Assign)):
                yield from (Definition(name, path, own, member_of, is_member=bool(owner)) for name in _named(node))

    for each in inside(parse(path).body, None):
        if not re.fullmatch(r"__\w+__|_", each.name):
            yield each


def handed_on(path: Path) -> list[str]:
    """The names that a file imports from this project."""
    return [
        alias.asname or alias.name
        for node in nodes_of(parse(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
        for alias in node.names
    ]


def _attributes(path: Path, owner: ast.ClassDef) -> Iterator[Definition]:
    """What objects of a class keep."""
    kept = {
        node.attr
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }
    for name in sorted(kept - CALLED_BY_LIBRARIES):
        yield Definition(name, path, range(0), owner.name)


def _decorator(node: ast.expr) -> str:
    match node:
        case ast.Call(func=inner):
            return _decorator(inner)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(_decorator(each) not in PLAIN_DECORATORS for each in node.decorator_list)


def _is_enumeration(node: ast.ClassDef) -> bool:
    return any(_decorator(base).endswith(("Enum", "Flag")) for base in node.bases)


def _named(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
                yield from (each.id for each in names if isinstance(each.ctx, ast.Store))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
