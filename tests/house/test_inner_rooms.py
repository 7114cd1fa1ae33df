"""The import graph inside the rooms: floors there too, no circle of files, and no folder of too many modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, imports, module_name, python_files, write_tree

INNER_FLOORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "chain": (
        ("ledger",),
        ("log",),
        ("rules",),
        ("evaluators", "pending"),
        ("migrations",),
        ("steps",),
        ("forks",),
        ("interface",),
        ("chain",),
        ("offline",),
    ),
    "chain.rules": (("validators",), ("money",), ("accounts",), ("transactions", "markets")),
    "codec": (
        ("errors", "source"),
        ("json", "kinds"),
        ("types",),
        ("annotations", "listing"),
        ("codec",),
        ("partial",),
    ),
    "protocol": (
        ("secrets",),
        ("errors",),
        ("crypto",),
        ("types",),
        ("constants",),
        ("networks",),
        ("properties",),
        ("operations",),
        ("authorities",),
        ("blocks", "config_document"),
    ),
    "state": (
        ("errors",),
        ("tables",),
        ("files", "objects"),
        ("sessions", "views"),
        ("memory",),
        ("loading", "verify"),
        ("store",),
    ),
    "history": (
        ("errors", "settings"),
        ("store",),
        ("filters", "validator_report", "webhooks"),
        ("embedded",),
        ("columns",),
        ("parquet", "past", "postgres"),
    ),
    "snapshot": (
        ("errors", "settings", "triggers"),
        ("file",),
        ("importing",),
        ("exchange",),
    ),
    "producer": (
        ("outcome",),
        ("signing",),
        ("settings",),
        ("time",),
        ("doppelganger", "facts", "testnet_start"),
        ("decision",),
        ("streaks",),
        ("guard", "loop"),
    ),
    "replica": (
        ("digest", "settings", "source"),
        ("messages", "order"),
        ("copies", "serving"),
        ("process",),
    ),
    "cli": (
        ("arguments",),
        ("shared",),
        ("debug", "directory", "process", "tools"),
        ("main",),
        ("__main__",),
    ),
    "doctor": (
        ("finding", "examined_node"),
        ("clock", "disk", "keys", "ledger", "machine", "peers", "ports", "service"),
        ("examination",),
    ),
    "node": (
        ("build", "time_source"),
        ("config",),
        ("datadir",),
        ("workers",),
        ("parts",),
        ("part_table",),
        ("runtime",),
        ("lifecycle", "dev"),
        ("testnet",),
    ),
    "node.config": (
        ("values",),
        ("options", "ini"),
        ("given",),
        ("logging", "reading", "templates"),
        ("configuration",),
        ("network",),
    ),
    "metrics": (
        ("families",),
        ("table",),
        ("layout",),
        ("cells", "memory"),
        ("names", "meters", "reading"),
        ("exposition",),
    ),
    "p2p": (
        ("wire",),
        ("shared",),
        ("talk",),
        ("sync",),
        ("dialogue",),
        ("network_state", "turns"),
        ("driver", "report"),
    ),
    "wallet": (
        ("errors",),
        ("whole_file",),
        ("keys", "operations"),
        ("node",),
        ("transactions",),
        ("commands",),
        ("arguments",),
        ("shell",),
        ("command_line",),
    ),
    "explorer": (
        ("settings", "words"),
        ("node",),
        ("pages",),
        ("serving",),
        ("process",),
    ),
    "explorer.pages": (
        ("view",),
        ("lists",),
        ("drawing", "ledger", "people", "community", "betting"),
        ("every",),
        ("answering",),
    ),
    "signer": (
        ("locks", "clients", "record", "rule"),
        ("clock", "folder", "service"),
        ("serving",),
        ("process",),
    ),
    "rpc": (
        ("shares",),
        ("call",),
        ("link", "blocks", "settings"),
        ("api",),
        ("describe",),
        ("http",),
        ("worker",),
        ("workers",),
    ),
}
"""From the bottom: what stands in a room may import from the floors below its own there, and from itself."""

ROOMS_WITH_ROOMS = tuple(room for room in INNER_FLOORS if "." not in room)
MOST_ENTRIES = 12

Edges = dict[str, dict[str, int]]


def edges_of(src: Path) -> Edges:
    """For each file, by its module's name, the files that it imports, and the line of each import."""
    files = {module_name(path, src): path for path in python_files(src / PACKAGE)}
    edges: Edges = {name: {} for name in files}
    for name, path in files.items():
        for wanted in imports(path, src):
            target = wanted.target
            while target and target not in files:
                target = target.rpartition(".")[0]
            if target and target != name:
                edges[name].setdefault(target, wanted.line)
    return edges


def place_in(room: str, module: str) -> str:
    """What of a room a module is, or belongs to; empty for what stands elsewhere and for the room itself."""
    prefix = f"{PACKAGE}.{room}."
    return module.removeprefix(prefix).partition(".")[0] if module.startswith(prefix) else ""


def upward_imports(edges: Edges, floors: Mapping[str, tuple[tuple[str, ...], ...]]) -> Iterator[str]:
    """Every import inside a room that does not go down, and everything that stands on no floor of its room."""
    for room, rows in floors.items():
        level = {name: height for height, row in enumerate(rows) for name in row}
        standing = {place_in(room, module) for module in edges} - {""}
        yield from (f"{room}: {name} stands on no floor" for name in sorted(standing - set(level)))
        yield from (f"{room}: there is no {name} any more" for name in sorted(set(level) - standing))
        for module, wanted in edges.items():
            here = place_in(room, module)
            for target, line in wanted.items():
                there = place_in(room, target)
                is_known = here in level and there in level
                if is_known and here != there and level[there] >= level[here]:
                    yield f"{module}:{line} imports {target}, upwards"


def circles(edges: Edges) -> list[list[str]]:
    """The largest groups of files that import each other in a circle."""
    reached: dict[str, set[str]] = {}
    for name in edges:
        seen, waiting = set[str](), list(edges[name])
        while waiting:
            target = waiting.pop()
            if target not in seen:
                seen.add(target)
                waiting += edges[target]
        reached[name] = seen
    in_circles = [name for name, targets in reached.items() if name in targets]
    groups = {frozenset(each for each in reached[name] if name in reached[each]) for name in in_circles}
    return sorted(sorted(group) for group in groups)


def crowded(package: Path) -> Iterator[str]:
    """Folders below the package with more entries than a reader takes in at once."""
    for folder in sorted(path for path in package.rglob("*") if path.is_dir() and path.name != "__pycache__"):
        entries = [each for each in folder.iterdir() if each.name != "__pycache__"]
        if len(entries) > MOST_ENTRIES:
            yield f"{folder.relative_to(package).as_posix()}: {len(entries)} entries"


def test_every_import_inside_a_room_goes_down() -> None:
    assert [*upward_imports(edges_of(ROOT / "src"), INNER_FLOORS)] == []


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles(edges_of(ROOT / "src")) == []


def test_no_room_and_no_folder_is_crowded() -> None:
    assert [*crowded(ROOT / "src" / PACKAGE)] == []


FLOORS = {"rpc": (("call",), ("link", "blocks"), ("http",))}


@pytest.mark.parametrize(
    "text",
    [
        "from ledgerd.rpc.http.service import Service",
        "from ledgerd.rpc.http import service",
        "from ..http import service",
        "def f():\n    import ledgerd.rpc.http.service",
        "if TYPE_CHECKING:\n    from ledgerd.rpc.http.service import Service",
        "importlib.import_module('ledgerd.rpc.http.service')",
        "from ledgerd.rpc.blocks import archive",
    ],
)
def test_an_upward_import_is_found(tmp_path: Path, text: str) -> None:
    files = {"call/dispatch.py": "", "link/link.py": text, "blocks/archive.py": "", "http/service.py": ""}
    src = write_tree(tmp_path, {f"{PACKAGE}/rpc/{name}": each for name, each in files.items()})

    (fault,) = upward_imports(edges_of(src), FLOORS)

    assert fault.startswith("ledgerd.rpc.link.link:")
    assert fault.endswith("upwards")


def test_what_stands_on_no_floor_and_a_floor_of_nothing_are_found(tmp_path: Path) -> None:
    files = {"call/dispatch.py": "", "link/link.py": "import ledgerd.rpc.call.dispatch", "http.py": "", "pipes.py": ""}
    src = write_tree(tmp_path, {f"{PACKAGE}/rpc/{name}": each for name, each in files.items()})

    assert [*upward_imports(edges_of(src), FLOORS)] == [
        "rpc: pipes stands on no floor",
        "rpc: there is no blocks any more",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("from ledgerd.state import b", "import ledgerd.state.c"),
        ("if TYPE_CHECKING:\n    from ledgerd.state.b import B", "from .c import C"),
        ("def f():\n    from ledgerd.state.b import B", "from ledgerd.state.c import C"),
    ],
)
def test_a_circle_is_found(tmp_path: Path, one: str, other: str) -> None:
    files = {"a.py": one, "b.py": other, "c.py": "import ledgerd.state.a", "d.py": "import ledgerd.state.a"}
    src = write_tree(tmp_path, {f"{PACKAGE}/state/{name}": each for name, each in files.items()})

    assert circles(edges_of(src)) == [["ledgerd.state.a", "ledgerd.state.b", "ledgerd.state.c"]]


def test_two_files_that_import_each_other_are_found_and_a_chain_of_imports_is_not(tmp_path: Path) -> None:
    files = {"a.py": "from . import b", "b.py": "from . import a", "c.py": "from . import a, d", "d.py": ""}
    src = write_tree(tmp_path, {f"{PACKAGE}/cli/{name}": each for name, each in files.items()})

    assert circles(edges_of(src)) == [["ledgerd.cli.a", "ledgerd.cli.b"]]


@pytest.mark.parametrize("folder", ["node", "p2p/wire", "rpc/http/deep"])
def test_a_folder_of_13_is_found_and_one_of_12_is_not(tmp_path: Path, folder: str) -> None:
    base = {f"{room}/__init__.py": "" for room in ROOMS_WITH_ROOMS}
    files = {f"{folder}/m{number}.py": "" for number in range(11)} | {f"{folder}/__init__.py": ""}
    package = write_tree(tmp_path, base | files)

    assert [*crowded(package)] == []
    write_tree(package, {f"{folder}/more/__init__.py": ""})
    assert [*crowded(package)] == [f"{folder}: 13 entries"]
