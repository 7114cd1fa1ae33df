"""Nothing is defined for nobody, or for tests alone: each definition of the source is used by the source, a script, a
bench or an example of a guide, each helper of tests, scripts and benches by one of them, each option and metric by the
part that it is for.

Fields of records are left out: what is written and read as bytes or JSON is used by generated code. Arguments that a
function does not read are the linter's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from ledgerd.metrics.families import Family
from ledgerd.node.config.options.sections import SECTIONS
from tests.house.source_tree import PACKAGE, ROOT, module_name, python_files, write_tree
from tests.house.uses import Definition, Uses, definitions, handed_on, is_used, uses

_WALLETS = "how wallets of this network come to keys, as recorded from them; tests derive published keys with it"
_MEASURED = "the memory that a peer can make us use, which simulations and hostile peers in tests hold to its bound"

_COUNTED = "how often work was done, which tests of a chain hold to its bound"
_GENERATED = "read by the functions that declarations are compiled to"


EXCEPTIONS: dict[str, str] = {
    "chain/forks/choice.py:tried": _COUNTED,
    "codec/kinds.py:normalised": _GENERATED,
    "p2p/shared/peer.py:buffered": _MEASURED,
    "p2p/talk/mempool.py:remembered": _MEASURED,
    "protocol/crypto/keys.py:from_brain_key": _WALLETS,
}
"""`file:name` of what is right as it is, and why."""

SOURCE = ROOT / "src" / PACKAGE
USERS = ("src", "scripts", "bench", "docs", "examples")
"""The examples in Python of a guide are uses by those who build on this project."""
FOR_OTHERS = ("sdk", "testing", "app", "plugins")
"""Rooms whose public names are for programs of others; what is private in them has to be used there."""
HELPERS = ("tests", "scripts", "bench")
CALLED_BY_PYTEST = ("test_", "Test", "pytest")


@cache
def used_here(*folders: str) -> Uses:
    """What is used in folders of this project, which no test changes."""
    found = Uses()
    for folder in folders:
        found.add(_used_in_one(folder))
    return found


@cache
def _used_in_one(folder: str) -> Uses:
    return uses(ROOT, ROOT / folder)


def used_in(root: Path, *folders: str) -> Uses:
    """What is used in folders of a tree."""
    return used_here(*folders) if root == ROOT else uses(root, *(root / folder for folder in folders))


def unused(root: Path, exceptions: dict[str, str]) -> list[str]:
    """Definitions of the source that nothing uses; and exceptions that are none any more."""
    source = root / "src" / PACKAGE
    found = used_in(root, *USERS)
    settings = root / "pyproject.toml"
    entry_points = settings.read_text(encoding="utf-8") if settings.exists() else ""
    keys = {
        f"{each.path.relative_to(source).as_posix()}:{each.name}"
        for each in _unused_in(root, found, source)
        if f':{each.name}"' not in entry_points
        and (each.name.startswith("_") or each.path.relative_to(source).parts[0] not in FOR_OTHERS)
    }
    return sorted(keys - exceptions.keys()) + [
        f"{each}: needs no exception" for each in sorted(exceptions.keys() - keys)
    ]


def unused_helpers(root: Path) -> list[str]:
    """What tests, scripts and benches define, and none of them uses."""
    found = used_in(root, "src", *HELPERS)
    return sorted(
        f"{each.path.relative_to(root).as_posix()}:{each.name}"
        for folder in HELPERS
        for each in _unused_in(root, found, root / folder)
        if not each.name.startswith(CALLED_BY_PYTEST)
    )


def _unused_in(root: Path, found: Uses, folder: Path) -> Iterator[Definition]:
    for path in python_files(folder):
        yield from (each for each in definitions(path) if not is_used(each, found, root))


def unused_exports(root: Path) -> list[str]:
    """What a package hands on, and nobody takes from it: `package:name`."""
    found = used_in(root, *USERS)
    return [
        f"{package}:{name}"
        for path in python_files(root / "src" / PACKAGE)
        if path.name == "__init__.py"
        for package in [module_name(path, root / "src")]
        for name in handed_on(path)
        if path not in found.bare.get(name, {}) and not found.importers.get(f"{package}.{name}", set()) - {(path, name)}
    ]


def unread_options(found: Uses, records: Mapping[str, Iterable[str]]) -> list[str]:
    """Fields of records of options that nobody reads."""
    return [f"{section}: {name}" for section, names in records.items() for name in names if name not in found.dotted]


def unset_families(found: Uses, families: Iterable[str], declared: Path) -> list[str]:
    """Metrics that no part sets."""
    places = [found.bare, found.dotted]
    return [
        name
        for name in families
        if all(path.is_relative_to(declared) for place in places for path in place.get(name, {}))
    ]


def test_everything_is_used() -> None:
    assert unused(ROOT, EXCEPTIONS) == []


def test_every_helper_is_used() -> None:
    assert unused_helpers(ROOT) == []


def test_everything_that_a_package_hands_on_is_taken_from_it() -> None:
    assert unused_exports(ROOT) == [f"{PACKAGE}.cli:main"]  # the program's entry


def test_every_option_is_read_by_a_part() -> None:
    records = {name: section.record.__annotations__ for name, section in SECTIONS.items()}
    assert unread_options(used_here(*USERS), records) == []


def test_every_metric_is_set_by_a_part() -> None:
    tables = SOURCE / "metrics" / "table"
    modules = [import_module(module_name(path, ROOT / "src")) for path in python_files(tables)]
    families = {name for each in modules for name, value in vars(each).items() if isinstance(value, Family)}
    assert len(families) > 50
    assert unset_families(used_here(*USERS), sorted(families), tables) == []


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
        "class Move:\n    EN = words('Move', 'moved', is_own='stayed')\n    def is_own(self):\n        pass\nMove()",
        "class Move:\n    EN = words('Move', '{who} moved')\n    def who(self):\n        pass\nMove()",
    ],
)
def test_what_is_used_is_no_fault(tmp_path: Path, text: str) -> None:
    assert unused(write_tree(tmp_path, {f"src/{PACKAGE}/state/store.py": text}), {}) == []


@pytest.mark.parametrize("folder", ["scripts", "bench", "src/ledgerd/node"])
def test_a_use_in_a_script_a_bench_or_another_room_counts(tmp_path: Path, folder: str) -> None:
    files = {
        f"src/{PACKAGE}/state/store.py": "def begin():\n    pass",
        f"{folder}/a.py": "from ledgerd.state import store\nstore.begin()",
    }

    assert unused(write_tree(tmp_path, files), {}) == []


def test_a_use_in_an_example_of_a_guide_counts(tmp_path: Path) -> None:
    files = {
        f"src/{PACKAGE}/client/client.py": "class Client:\n    def blocks(self): ...\n    def left(self): ...",
        "docs/sdk.md": f"```python\nfrom {PACKAGE}.client.client import Client\nClient().blocks()\n```\n`left()`\n",
    }

    assert unused(write_tree(tmp_path, files), {}) == ["client/client.py:left"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class Reader:\n    def __init__(self):\n        self._size = 0\nReader()", "_size"),
        ("class Reader:\n    def _size(self):\n        return 0\nReader()", "_size"),
        ("SIZE = 0", "SIZE"),
    ],
)
def test_a_use_of_the_same_name_elsewhere_does_not_count(tmp_path: Path, text: str, name: str) -> None:
    other = (
        f"class Writer:\n    {name} = 1\n    def of(self):\n        return self.{name}, {name}\nprint(Writer().of())"
    )
    files = {f"src/{PACKAGE}/state/views/reader.py": text, f"src/{PACKAGE}/state/writer.py": other}

    assert unused(write_tree(tmp_path, files), {}) == [f"state/views/reader.py:{name}"]


def test_a_helper_that_no_test_uses_is_found(tmp_path: Path) -> None:
    helpers = "def made():\n    pass\ndef left_over():\n    pass"
    files = {"tests/chains.py": helpers, "tests/test_a.py": "from tests.chains import made\ndef test_a():\n    made()"}

    assert unused_helpers(write_tree(tmp_path, files)) == ["tests/chains.py:left_over"]


def test_a_name_that_is_handed_on_to_nobody_is_found(tmp_path: Path) -> None:
    package = "from ledgerd.state.store import State, Store\n__all__ = ['State', 'Store']"
    user = "from ledgerd.state import Store\nStore()"
    files = {f"src/{PACKAGE}/state/__init__.py": package, f"src/{PACKAGE}/chain/chain.py": user}

    assert unused_exports(write_tree(tmp_path, files)) == ["ledgerd.state:State"]


def test_an_option_or_a_metric_that_nobody_has_is_found(tmp_path: Path) -> None:
    table = tmp_path / "src" / PACKAGE / "metrics" / "table"
    files = {
        "metrics/table/peers.py": "PEERS = 1\nBANS = 2\nALL = (PEERS, BANS)",
        "p2p/a.py": "table.PEERS\nsettings.port",
    }
    root = write_tree(tmp_path, {f"src/{PACKAGE}/{name}": text for name, text in files.items()})
    found = uses(root, root / "src")

    assert unset_families(found, ["PEERS", "BANS"], table) == ["BANS"]
    assert unread_options(found, {"p2p": ["port", "host"]}) == ["p2p: host"]


def test_an_exception_that_is_none_any_more_is_found(tmp_path: Path) -> None:
    root = write_tree(tmp_path, {f"src/{PACKAGE}/state/store.py": "def begin():\n    pass"})

    excused = {"state/store.py:begin": "why"}
    assert unused(root, excused) == []
    assert unused(root, excused | {"state/store.py:end": "why"}) == ["state/store.py:end: needs no exception"]
