"""How the house tests read the house: its Python files, and what each of them imports.

Reads by AST, so that an import inside a function or behind a condition counts like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "ledgerd"

# A room may import from rooms on floors below its own, and from itself; rooms on one floor are strangers.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("basics",),
    ("codec", "pricing"),
    ("protocol",),
    ("state",),
    ("chain",),
    ("supervision", "metrics", "client", "projections"),
    ("sdk",),
    ("rpc", "p2p", "producer", "history", "snapshot", "wallet"),
    ("doctor", "compare", "conformance", "signer", "archive", "explorer", "app"),
    ("replica", "plugins", "recording", "shadow"),
    ("node",),
    ("adopt", "testing"),
    ("cli",),
)
KNOWS_ONLY = {
    # How programs run, and nothing of the ledger.
    "supervision": {"basics"},
    # A wallet knows a node only by its answers: nothing of how a chain is followed is at hand in it.
    "wallet": {"basics", "codec", "protocol", "supervision", "client", "sdk"},
    # Whoever builds on the network installs it without a node.
    "sdk": {"basics", "codec", "pricing", "protocol", "client"},
}

LEVEL = {room: level for level, floor in enumerate(FLOORS) for room in floor}


@dataclass(frozen=True)
class Import:
    """One imported name as its full path, and the line that asks for it."""

    target: str
    line: int


def python_files(*folders: Path) -> Iterator[Path]:
    """Every Python file under the folders, in a fixed order."""
    for folder in folders:
        yield from sorted(folder.rglob("*.py"))


def parse(path: Path) -> ast.Module:
    """The tree of a file, which is not to be changed: all tests of the house share it."""
    return _parsed(path.read_text(encoding="utf-8"), str(path))


@cache
def _parsed(text: str, name: str) -> ast.Module:
    return ast.parse(text, filename=name)


@cache
def nodes_of(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Everything in the tree of a file, level by level: gone through once, as that takes longer than what a test asks.

    Left out is whether a name is read or written (`ast.expr_context`): a third of all nodes, and each name knows it.
    """
    found: list[ast.AST] = [tree]
    for node in found:  # what is added is gone through as well
        for value in vars(node).values():
            if type(value) is list:
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return tuple(found)


def module_name(path: Path, src: Path) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, src: Path) -> tuple[Import, ...]:
    """What a file imports; `from a import b` gives `a.b`, relative names are made full."""
    package = module_name(path, src)
    return _imports(parse(path), package if path.name == "__init__.py" else package.rpartition(".")[0])


@cache
def _imports(tree: ast.Module, inside: str) -> tuple[Import, ...]:
    return tuple(_imported(tree, inside.split(".") if inside else []))


def _imported(tree: ast.Module, package: list[str]) -> Iterator[Import]:
    for node in nodes_of(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = [*above, *([node.module] if node.module else [])]
            for alias in node.names:
                yield Import(".".join([*base, alias.name]), node.lineno)
        elif isinstance(node, ast.Call) and called_name(node) in {"import_module", "__import__"}:
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield Import(argument.value, node.lineno)


def called_name(call: ast.Call) -> str:
    """The last word of what is called: `import_module` for `importlib.import_module(...)`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def write_tree(root: Path, files: dict[str, str]) -> Path:
    """A tree of files, planted for a test of the tests."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
