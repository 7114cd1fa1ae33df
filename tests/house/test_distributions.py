"""The distributions: what the client takes along stands by itself, and each brings what its code imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.distributions import CLIENT, KIT, NODE, PROJECTS, Distribution, read_distributions
from tests.house.source_tree import KNOWS_ONLY, LEVEL, PACKAGE, ROOT, imports, write_tree

ALL = read_distributions()
PLANTED = {
    "pyproject.toml": """
        project.dependencies = ["ledgerd-client==1", "lmdb>=1"]
        project.optional-dependencies.parquet = ["pyarrow"]
        tool.ledgerd.client = ["__init__.py", "codec"]
        tool.ledgerd.conformance = []
    """,
    "distributions/client/pyproject.toml": 'project.dependencies = ["orjson"]',
    "distributions/conformance/pyproject.toml": "project.dependencies = []",
    f"src/{PACKAGE}/__init__.py": "",
    f"src/{PACKAGE}/codec/json.py": "import orjson, struct",
    f"src/{PACKAGE}/node/data.py": "import lmdb, orjson\n\n\ndef export():\n    import pyarrow.parquet",
}


def reaching_out(client: Distribution, src: Path) -> list[str]:
    """Imports of rooms that the client does not take along."""
    found = []
    for path in client.files(src):
        for each in imports(path, src):
            package, _, rest = each.target.partition(".")
            room = rest.partition(".")[0]
            if package == PACKAGE and room in LEVEL.keys() - client.entries:
                found.append(f"{path.relative_to(src / PACKAGE)}:{each.line}: {room}")
    return found


def undeclared(distributions: dict[str, Distribution], src: Path) -> list[str]:
    """What is imported and no dependency, nor one of the client or of an extra where there are such."""
    client, node = distributions[CLIENT], distributions[NODE]
    at_hand = {CLIENT: client.brings, NODE: node.brings | node.may_bring | client.brings}
    at_hand[KIT] = distributions[KIT].brings | client.brings
    return [
        f"{name}: {each}"
        for name, distribution in distributions.items()
        for each in sorted(distribution.foreign_imports(src) - at_hand[name])
    ]


def unused(distributions: dict[str, Distribution], src: Path) -> list[str]:
    """Dependencies that no file of the distribution imports, but for the other distribution."""
    return [
        f"{name}: {each}"
        for name, distribution in distributions.items()
        for each in sorted(distribution.brings - distribution.foreign_imports(src) - {CLIENT.replace("-", "_")})
    ]


def planted(root: Path, changes: dict[str, str]) -> tuple[dict[str, Distribution], Path]:
    tree = write_tree(root, {**PLANTED, **changes})
    return read_distributions(tree), tree / "src"


def test_all_that_the_client_takes_along_is_there() -> None:
    package = ROOT / "src" / PACKAGE

    assert [name for name in ALL[CLIENT].entries if not (package / name).exists()] == []
    assert ALL[CLIENT].entries & LEVEL.keys() == {"sdk", *KNOWS_ONLY["sdk"]}
    assert ALL[NODE].entries - LEVEL.keys() == set()


def test_what_the_client_takes_along_stands_by_itself() -> None:
    assert reaching_out(ALL[CLIENT], ROOT / "src") == []


@pytest.mark.parametrize("text", ["import ledgerd.node.data", "def f():\n    from ledgerd import node"])
def test_a_client_that_needs_the_node_is_found(tmp_path: Path, text: str) -> None:
    distributions, src = planted(tmp_path, {f"src/{PACKAGE}/codec/more.py": text})

    assert [fault.partition(": ")[2] for fault in reaching_out(distributions[CLIENT], src)] == ["node"]


def test_what_is_imported_is_a_dependency_and_every_dependency_is_imported() -> None:
    assert undeclared(ALL, ROOT / "src") == []
    assert unused(ALL, ROOT / "src") == []


def test_no_fault_is_found_where_there_is_none(tmp_path: Path) -> None:
    distributions, src = planted(tmp_path, {})

    assert (undeclared(distributions, src), unused(distributions, src)) == ([], [])
    assert reaching_out(distributions[CLIENT], src) == []


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("codec/more.py", "def f():\n    import lmdb", "ledgerd-client: lmdb"),
        ("codec/more.py", "import pyarrow", "ledgerd-client: pyarrow"),
        ("node/more.py", "from rich.table import Table", "ledgerd: rich"),
    ],
)
def test_an_import_that_no_dependency_brings_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    distributions, src = planted(tmp_path, {f"src/{PACKAGE}/{file}": text})

    assert undeclared(distributions, src) == [fault]


@pytest.mark.parametrize(
    ("file", "text", "faults"),
    [
        ("codec/json.py", "import json", ["ledgerd-client: orjson"]),
        ("node/data.py", "import pyarrow", ["ledgerd: lmdb"]),
    ],
)
def test_a_dependency_that_nothing_imports_is_found(tmp_path: Path, file: str, text: str, faults: list[str]) -> None:
    distributions, src = planted(tmp_path, {f"src/{PACKAGE}/{file}": text})

    assert unused(distributions, src) == faults


def test_a_dependency_is_bounded_in_one_place() -> None:
    assert ALL[CLIENT].brings & ALL[NODE].brings == set()


def test_all_have_one_version_and_are_installed_with_the_client() -> None:
    version = ALL[NODE].project["version"]

    assert [ALL[name].project["dynamic"] for name in (CLIENT, KIT)] == [["version"]] * 2
    for name in (NODE, KIT):
        assert f"{CLIENT}=={version}" in ALL[name].project["dependencies"]


def test_all_are_published_under_one_licence() -> None:
    licences = {(ROOT / project.parent / "LICENSE").read_bytes() for project in PROJECTS.values()}

    assert licences == {(ROOT / "LICENSE").read_bytes()}
