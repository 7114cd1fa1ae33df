"""What is published: each wheel works alone in a fresh environment.

That the same sources give the same bytes at another place is seen with all that is released (`test_release.py`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scripts.build_distributions import PROJECTS
from tests.house.distributions import CLIENT, KIT, NODE, read_distributions
from tests.house.source_tree import PACKAGE, ROOT
from tests.memory import memory_folder
from tests.node.processes import LOOPBACK, NodeProcess
from tests.packaging.conftest import ENOUGH, succeeded
from tests.packaging.environment import Environment, files_of, modules_of, requirements_of, run

COMMIT = "0123456789abcdef0123456789abcdef01234567"
IMPORT_ALL = """
import importlib, json, sys
missing = {}
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as failure:
        missing[name] = failure.name
print(json.dumps(missing))
"""
LOADED = "; import sys; print(*(name.partition('.')[0] for name in sys.modules if '__main__' != name))"
FOR_SOME_CALLS = {"cryptography", "email", "multiprocessing", "websockets", "xml"}
"""What a program that only asks nodes never loads, or not before it asks."""
INSTALLED = "import importlib.metadata as m; print(*(each.name for each in m.distributions()))"
PIPED = '"$0" questions --chain open-2 | "$1" -m ledgerd.conformance.adapter | "$0" library - --chain open-2 --json'
RECORDED = "open-pm2"
FOUND = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if importlib.util.find_spec(name)))"


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def published(place: Path) -> dict[str, bytes]:
    given = {"LEDGERD_REVISION": COMMIT, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONPATH": str(ROOT)}
    succeeded(run(sys.executable, "-m", "scripts.build_distributions", str(place / "published"), **given))
    return {path.name: path.read_bytes() for path in (place / "published").iterdir()}


@pytest.fixture(scope="module")
def wheels(place: Path, published: dict[str, bytes]) -> dict[str, Path]:
    """The wheel of each distribution."""
    names = {
        name: [file for file in published if file.startswith(f"{name.replace('-', '_')}-")]
        for name in (NODE, CLIENT, KIT)
    }
    return {
        name: place / "published" / next(file for file in files if file.endswith(".whl"))
        for name, files in names.items()
    }


@pytest.fixture(scope="module")
def with_client(place: Path, wheels: dict[str, Path]) -> tuple[Environment, set[str]]:
    environment = Environment(place / "with-client")
    return environment, environment.install(CLIENT, wheels)


@pytest.fixture(scope="module")
def with_node(place: Path, wheels: dict[str, Path]) -> Environment:
    environment = Environment(place / "with-node")
    environment.install(NODE, wheels)
    return environment


def test_the_client_alone_can_be_imported_whole(
    with_client: tuple[Environment, set[str]], wheels: dict[str, Path]
) -> None:
    modules = modules_of(wheels[CLIENT])

    assert {f"{PACKAGE}.sdk", f"{PACKAGE}.protocol.crypto.keys"} <= set(modules)
    assert json.loads(with_client[0].tell(IMPORT_ALL, *modules)) == {}


def test_beside_the_client_there_is_only_what_it_declares(with_client: tuple[Environment, set[str]]) -> None:
    environment, needed = with_client

    assert set(environment.tell(INSTALLED).split()) == {CLIENT, *needed}
    assert environment.tell(FOUND, *read_distributions()[NODE].brings - {"ledgerd_client"}) == ""
    assert environment.tell(FOUND, f"{PACKAGE}.node", f"{PACKAGE}.state", f"{PACKAGE}.sdk") == f"{PACKAGE}.sdk"


def test_the_client_loads_what_is_heavy_when_it_is_used(with_client: tuple[Environment, set[str]]) -> None:
    environment, needed = with_client
    packages = {each.replace("-", "_") for each in needed}

    nothing = set(environment.tell("import ledgerd.sdk" + LOADED).split())
    names = set(environment.tell("from ledgerd.sdk import *" + LOADED).split())

    assert nothing & {*packages, "asyncio"} == set()
    assert names & FOR_SOME_CALLS == set()


def test_the_node_with_its_client_can_be_imported_but_for_extras(
    with_node: Environment, wheels: dict[str, Path]
) -> None:
    modules = modules_of(wheels[CLIENT]) + modules_of(wheels[NODE])

    missing = json.loads(with_node.tell(IMPORT_ALL, *modules))

    assert set(missing.values()) <= read_distributions()[NODE].may_bring
    assert [name for name in missing if name.startswith(f"{PACKAGE}.cli.")] == []


def test_an_installed_node_knows_its_commit(with_node: Environment) -> None:
    told = succeeded(run(str(with_node.programs / NODE), "--version")).stdout

    assert f"git_revision:       {COMMIT}\n" in told
    assert f"ledgerd_version:    {read_distributions()[NODE].project['version']} (full, mainnet)\n" in told


def test_an_installed_node_has_the_templates_beside_its_program(with_node: Environment) -> None:
    brought = with_node.programs.parent / "share" / "ledgerd" / "config"

    assert {each.name for each in brought.iterdir()} == {
        each.name for each in (ROOT / "share/ledgerd/config").iterdir()
    }


def test_every_file_of_the_package_is_in_one_wheel_alone(wheels: dict[str, Path]) -> None:
    client, node, kit = (set(files_of(wheels[name])) for name in (CLIENT, NODE, KIT))
    recorded = {name for name in kit if name.startswith(f"{PACKAGE}/conformance/vectors/")}

    src = ROOT / "src"
    tree = {path.relative_to(src).as_posix() for path in (src / PACKAGE).rglob("*") if path.is_file()}
    assert client & node == client & kit == node & kit == set()
    assert {name for name in client | node | kit - recorded if name.startswith(f"{PACKAGE}/")} - {
        f"{PACKAGE}/build.json"
    } == {name for name in tree if "__pycache__" not in name}


def test_node_and_kit_ask_for_the_client_of_their_version(wheels: dict[str, Path]) -> None:
    version = read_distributions()[NODE].project["version"]

    for name in (NODE, KIT):
        assert f"{CLIENT}=={version}" in map(str, requirements_of(wheels[name]))
    assert wheels[CLIENT].name == f"ledgerd_client-{version}-py3-none-any.whl"


def test_a_wheel_from_the_repository_is_that_from_its_source_distribution(
    place: Path, published: dict[str, bytes]
) -> None:
    given = {"LEDGERD_REVISION": COMMIT, "SOURCE_DATE_EPOCH": "1700000000"}
    build = "import os, sys, hatchling.build as b; os.chdir(sys.argv[1]); b.build_wheel(sys.argv[2])"
    direct = place / "direct"
    direct.mkdir()
    for project in PROJECTS:
        succeeded(run(sys.executable, "-c", build, str(project), str(direct), **given))

    assert len(published) == 2 * len(PROJECTS)
    assert {path.name: path.read_bytes() for path in direct.iterdir()}.items() <= published.items()


def test_the_kit_alone_compares_our_library_and_a_node_with_a_recorded_chain(
    place: Path, wheels: dict[str, Path], with_node: Environment
) -> None:
    alone = Environment(place / "with-kit")
    alone.install(KIT, wheels)
    kit, python = str(alone.programs / KIT), str(alone.programs / "python")

    of_library = succeeded(run("sh", "-c", PIPED, kit, python)).stdout
    assert {each["verdict"] for each in json.loads(of_library)["checks"]} == {"pass"}
    assert alone.tell(FOUND, f"{PACKAGE}.chain", f"{PACKAGE}.node") == ""

    recorded, data, node = place / "recorded", place / "data", str(with_node.programs / NODE)
    data.mkdir()
    (guide,) = re.findall(r"^```ini\n(.*?)^```", (ROOT / "docs/conformance.md").read_text(), re.MULTILINE | re.DOTALL)
    (data / "config.ini").write_text(guide)
    succeeded(run(kit, "blocks", RECORDED, str(recorded)))
    succeeded(run(node, "replay", "--block-log", str(recorded / "block_log"), "--data-dir", str(data)))
    with NodeProcess("--data-dir", str(data), *LOOPBACK, program=[node]) as process:
        table = succeeded(run(kit, "node", f"http://127.0.0.1:{process.port()}")).stdout
    checks = [line.split() for line in table.splitlines() if line.startswith(RECORDED)]
    assert {cells[4] for cells in checks} == {"pass"}
    assert {"account_history", "prediction_market_api", "database_api"} <= {cells[3] for cells in checks}
