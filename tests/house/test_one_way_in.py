"""One way into the chain: nobody else writes to the fork database, and nobody outside reaches the chain's insides."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, imports, nodes_of, parse, python_files, write_tree

PARTS = frozenset({"store", "ledger", "trunk", "forks", "blocks", "pending", "linking", "choice"})
PRIVATE = frozenset({f"_{name}" for name in PARTS} | {"_parts", "_block_log", "parts"})

FORK_WRITES = frozenset({"start", "insert_base", "follow", "push", "pop", "remove", "narrow", "reset"})
FORK_FIELDS = frozenset({"head", "is_emergency"})
FORK_NAMES = frozenset({"forks", "_forks", "fork_database"})

INSIDE = frozenset({"ForkDatabase", "ForkItem", "ForkChoice", "Linking", "Trunk", "Blocks", "Pending", "Parts"})
"""What is made of the chain's insides: nothing outside has a use for the names."""

STATE_WRITERS = {"bench/bench_growth.py", "bench/bench_replica.py", "bench/market_rows.py"}
"""Programs that make a state before any node runs on it, as an import does."""


def is_chain(owner: ast.expr) -> bool:
    """Whether an expression is a chain, by its name: `chain`, `self._chain`, `part.chain`, `replayed_chain`."""
    match owner:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.rpartition("_")[2] == "chain"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="Chain"), attr="open")):
            return True
    return False


def names_in(annotation: ast.expr) -> set[str]:
    """The names in an annotation, also in one that is a string."""
    words = set()
    for node in ast.walk(annotation):
        match node:
            case ast.Name(id=name):
                words.add(name)
            case ast.Constant(value=str(text)):
                words |= set(text.replace("|", " ").split())
    return words


def chains_by_type(tree: ast.Module) -> set[str]:
    """The names of parameters and variables that are declared to be a chain, or are made as one."""
    found = set()
    for node in nodes_of(tree):
        match node:
            case (
                ast.arg(arg=name, annotation=ast.expr() as kind)
                | ast.AnnAssign(target=ast.Name(id=name), annotation=kind)
            ):
                if {"Chain", "ChainView"} & names_in(kind):
                    found.add(name)
            case ast.withitem(context_expr=made, optional_vars=ast.Name(id=name)):
                if is_chain(made):
                    found.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=made):
                if is_chain(made):
                    found.add(name)
    return found


def reaches_into_the_chain(path: Path) -> Iterator[tuple[int, str]]:
    """Attributes of a chain, however it is called, that are its insides; `getattr` with such a name counts."""
    tree = parse(path)
    known = chains_by_type(tree)

    def belongs(owner: ast.expr) -> bool:
        return is_chain(owner) or (isinstance(owner, ast.Name) and owner.id in known)

    for node in nodes_of(tree):
        match node:
            case ast.Attribute(value=owner, attr=name) if belongs(owner) and name in PARTS | PRIVATE:
                yield node.lineno, name
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]) if (
                belongs(owner) and name in PARTS | PRIVATE
            ):
                yield node.lineno, name


def writes_to_forks(path: Path) -> Iterator[tuple[int, str]]:
    """Calls that change a fork database, and assignments to its fields."""
    for node in nodes_of(parse(path)):
        match node:
            case ast.Attribute(value=ast.Name(id=owner) | ast.Attribute(attr=owner), attr=name, ctx=use):
                is_write = name in FORK_WRITES or (name in FORK_FIELDS and isinstance(use, ast.Store))
                if owner in FORK_NAMES and is_write:
                    yield node.lineno, f"{owner}.{name}"


def faults(root: Path) -> list[str]:
    """Every way into the chain beside `push_block` and `push_blocks`, and every look at it that is not by its view."""
    found: list[str] = []
    chain = root / "src" / PACKAGE / "chain"
    for path in python_files(root / "src", root / "bench", root / "scripts"):
        places: list[tuple[int, str]] = []
        if not path.is_relative_to(chain / "forks"):
            places += writes_to_forks(path)
        if not path.is_relative_to(chain) and path.relative_to(root).as_posix() not in STATE_WRITERS:
            places += reaches_into_the_chain(path)
            top = root / "src" if path.is_relative_to(root / "src") else root
            places += [(each.line, each.target) for each in imports(path, top) if is_inside(each.target)]
        found += [f"{path.relative_to(root).as_posix()}:{line}: {what}" for line, what in places]
    return found


def is_inside(target: str) -> bool:
    """Whether an imported name is one of the chain's insides."""
    return target.startswith(f"{PACKAGE}.chain.") and target.rpartition(".")[2] in INSIDE


def test_the_chain_has_one_way_in_and_one_view() -> None:
    assert faults(ROOT) == []


@pytest.mark.parametrize(
    "place", ["src/ledgerd/p2p/sync.py", "src/ledgerd/node/parts/peers.py", "bench/bench_chain.py"]
)
@pytest.mark.parametrize(
    "text",
    [
        "def f(chain): chain.forks.items_at(1)",
        "def f(self): return self._chain.ledger.globals",
        "def f(self): return self.part.chain.store",
        "def f(chain): return chain._ledger",
        "def f(chain): return chain.parts",
        "def f(chain): return getattr(chain, 'trunk')",
        "def f(copy: Chain): return copy.blocks.at(1)",
        "def f(copy: 'Chain'): return copy.pending",
        "def f(view: ChainView | None): return view.store",
        "def f():\n    with Chain.open(1) as copy:\n        copy.store.commit()",
        "def f(part):\n    copy = part.chain\n    copy.trunk.pop()",
        "from ledgerd.chain.forks.database import ForkDatabase",
        "from ledgerd.chain.interface.view import Parts",
    ],
)
def test_a_reach_into_the_chain_is_found(tmp_path: Path, place: str, text: str) -> None:
    assert faults(write_tree(tmp_path, {place: text})) != []


@pytest.mark.parametrize("place", ["src/ledgerd/chain/chain.py", "src/ledgerd/producer/loop.py", "scripts/tool.py"])
@pytest.mark.parametrize(
    "text",
    [
        "def f(self, block): self._forks.push(block)",
        "def f(forks, item): forks.remove(item.id)",
        "def f(forks, item): forks.head = item",
        "def f(choice): choice.forks.reset()",
    ],
)
def test_another_write_to_the_fork_database_is_found(tmp_path: Path, place: str, text: str) -> None:
    assert len(faults(write_tree(tmp_path, {place: text}))) == 1


def test_the_chain_itself_may_use_its_parts_and_others_its_view(tmp_path: Path) -> None:
    allowed = {
        "src/ledgerd/chain/forks/linking.py": "def f(self, block): self._forks.push(block)",
        "src/ledgerd/chain/offline/audit.py": "def f(chain): return chain.parts.store",
        "src/ledgerd/producer/facts.py": "def f(chain): return chain.head_number, chain.candidates_at(1), chain.state",
        "src/ledgerd/history/embedded/rebuild.py": "def f(store, queue): store.blocks.append(queue.pop())",
    }
    assert faults(write_tree(tmp_path, allowed)) == []
