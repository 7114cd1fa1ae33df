"""What the repository says about itself: its lock, its commands and its documents agree with each other."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.distributions import OURS, PROJECTS, needed_by
from tests.house.source_tree import FLOORS, ROOT, write_tree
from tests.house.test_links import documents

HOST = re.compile(r"\w+://|--index-url|--extra-index-url|--find-links|@ file|\bpypi\b|pythonhosted", re.IGNORECASE)
LOCAL_PATH = re.compile(r"(?<![\w.~/-])/(?:home|root|Users|work|opt(?!/ledgerd\b)|mnt|tmp)/\w|[A-Z]:\\Users|file:///")
"""A package for Debian puts the program into a folder of its own in /opt, which is a place on any machine."""
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
COMMAND = re.compile(r"(?:^|`)make ([a-z]+)\b", re.MULTILINE)
RUNTIME_LOCK = "requirements-runtime.lock"
SITE_LOCK = "requirements-site.lock"
BUILT_IN = "postgres"
"""The extra that a built program has."""
NOT_OURS = {"__pycache__", "build", "dist", "node_modules"}


def lock_entries(lock: str) -> list[str]:
    """Each pin with the lines that continue it; comments left out."""
    lines = [line for line in lock.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    return [" ".join(line.split()) for line in lines]


def faults_of_lock(lock: str) -> list[str]:
    """Places in the lock that name an index or a path, or install what no hash vouches for."""
    found = [f"names a place: {line}" for line in lock.splitlines() if HOST.search(line) or LOCAL_PATH.search(line)]
    for entry in lock_entries(lock):
        if not PINNED.match(entry):
            found.append(f"not pinned: {entry}")
        elif "--hash=sha256:" not in entry:
            found.append(f"no hash: {entry}")
    return found


def unsatisfied(project: str, lock: str) -> list[str]:
    """What pyproject.toml asks for and the lock does not give."""
    table = tomllib.loads(project)
    wanted = [*table["build-system"]["requires"], *table["project"]["dependencies"]]
    for extra in table["project"].get("optional-dependencies", {}).values():
        wanted += extra
    pins = {canonicalize_name(m[1]): m[2] for entry in lock_entries(lock) if (m := PINNED.match(entry))}
    found = []
    for requirement in map(Requirement, wanted):
        if requirement.name in OURS:
            continue
        pinned = pins.get(canonicalize_name(requirement.name))
        if pinned is None:
            found.append(f"{requirement}: not in the lock")
        elif not requirement.specifier.contains(pinned, prereleases=True):
            found.append(f"{requirement}: the lock has {pinned}")
    return found


def name_of(pin: str) -> str:
    """The package that a pin is of."""
    return canonicalize_name(pin.partition("==")[0])


def needed_at_run_time(project: str, pins: list[str]) -> set[str]:
    """What pyproject.toml asks for, and what that asks for, as the installed packages say.

    A pin that is not for this platform is believed to be needed where it is.
    """
    table = tomllib.loads(project)["project"]
    asked = [*table["dependencies"], *table.get("optional-dependencies", {}).get(BUILT_IN, ())]
    elsewhere = {name_of(pin) for pin in pins if not _is_for_here(pin)}
    return (needed_by(map(Requirement, asked)) | elsewhere) - OURS


def without_marker(entry: str) -> str:
    """A pin that is for every platform includes the same for some."""
    return re.sub(r" ; .*?(?= --hash)", "", entry)


def _is_for_here(pin: str) -> bool:
    marker = Requirement(pin.partition(" --hash")[0]).marker
    return marker is None or marker.evaluate()


def targets(makefile: str) -> set[str]:
    """The targets of the Makefile, several of which may stand before one colon."""
    return {name for line in re.findall(r"^([a-z][a-z ]*):", makefile, re.MULTILINE) for name in line.split()}


def unknown_commands(text: str, makefile: str) -> set[str]:
    """Commands that a document tells the reader to run and the Makefile does not have."""
    return set(COMMAND.findall(text)) - targets(makefile)


def own_files(root: Path) -> Iterator[Path]:
    """The files of the repository; what tools leave behind, and the environment, are not read."""
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in NOT_OURS and (not f.startswith(".") or f == ".ci")]
        for name in sorted(files):
            path = Path(folder, name)
            if path.name != ".git" and path != Path(__file__):
                yield path


def local_paths(root: Path) -> list[str]:
    """Lines of text files that name a place on somebody's machine."""
    found = []
    for path in own_files(root):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = enumerate(text.splitlines(), 1)
        found += [f"{path.relative_to(root).as_posix()}:{n}" for n, line in lines if LOCAL_PATH.search(line)]
    return found


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_lock_names_no_index_and_hashes_every_pin() -> None:
    assert faults_of_lock(read("requirements.lock")) == []
    assert faults_of_lock(read(RUNTIME_LOCK)) == []
    assert faults_of_lock(read(SITE_LOCK)) == []


def test_a_built_program_takes_the_pins_that_the_tests_ran_with() -> None:
    pins = lock_entries(read(RUNTIME_LOCK))

    tested = lock_entries(read("requirements.lock"))
    assert [pin for pin in pins if pin not in tested and without_marker(pin) not in tested] == []
    assert needed_at_run_time(read("pyproject.toml"), pins) == {name_of(pin) for pin in pins}


def test_a_package_that_only_tests_need_is_found_in_a_program() -> None:
    project = '[project]\ndependencies = ["rich>=13"]\n'

    assert needed_at_run_time(project, ["rich==15.0.0"]) >= {"rich", "pygments", "markdown-it-py", "mdurl"}
    assert "pytest" not in needed_at_run_time(project, ["rich==15.0.0", "pytest==9.2.0"])


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://index.example/simple",
        "--find-links /opt/wheels",
        "# from file:///opt/simple",
        "rich @ file:///opt/rich.whl --hash=sha256:00",
        "rich==15.0.0",
        "rich>=15.0.0 --hash=sha256:00",
        "-e .",
    ],
)
def test_a_fault_in_the_lock_is_found(line: str) -> None:
    assert faults_of_lock(f"orjson==3.11.0 \\\n    --hash=sha256:00\n{line}\n") != []


def test_the_lock_satisfies_the_project() -> None:
    lock = read("requirements.lock")

    assert [fault for project in PROJECTS.values() for fault in unsatisfied(read(str(project)), lock)] == []


def test_the_lock_of_the_site_has_what_the_site_asks_for() -> None:
    groups = tomllib.loads(read("pyproject.toml"))["dependency-groups"]

    pinned = {name_of(entry) for entry in lock_entries(read(SITE_LOCK))}
    assert {Requirement(each).name for each in groups["site"]} <= pinned


@pytest.mark.parametrize(
    ("lock", "fault"),
    [
        ("lmdb==1.5\nhatchling==2\npytest==9", "lmdb>=1.6: the lock has 1.5"),
        ("hatchling==2\npytest==9", "lmdb>=1.6: not in the lock"),
        ("lmdb==1.6\npytest==9", "hatchling>=1: not in the lock"),
        ("lmdb==1.6\nhatchling==2\npytest==8", "pytest>=9: the lock has 8"),
    ],
)
def test_a_lock_that_does_not_satisfy_the_project_is_found(lock: str, fault: str) -> None:
    project = """
        build-system.requires = ["hatchling>=1"]
        project.dependencies = ["lmdb>=1.6"]
        project.optional-dependencies.dev = ["pytest>=9"]
    """

    assert unsatisfied(project, lock) == [fault]


def test_every_make_target_is_a_script_that_can_be_run() -> None:
    names = targets(read("Makefile"))

    assert names == {"run", "test", "check", "bench", "docs", "pictures", "site"}
    assert [name for name in names if not os.access(ROOT / "scripts" / name, os.X_OK)] == []


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_the_commands_of_a_document_exist(document: Path) -> None:
    assert unknown_commands(document.read_text(encoding="utf-8"), read("Makefile")) == set()


def test_a_command_that_does_not_exist_is_found() -> None:
    text = "They make do. Run `make test`, then `make coffee`:\n\nmake tea   # hot\n"

    assert unknown_commands(text, "run test:\n\t@scripts/$@\n") == {"coffee", "tea"}


def test_ci_checks_all_and_runs_the_test_command_of_the_readme() -> None:
    stages = dict(re.findall(r"^stage (\w+) (.+)$", read(".ci/run"), re.MULTILINE))

    assert list(stages) == ["setup", "lint", "format", "layering", "tools", "clients", "test", "types"]
    assert f"\n{stages['test']} " in read("README.md")


@pytest.mark.parametrize("room", [room for floor in FLOORS for room in floor])
def test_the_architecture_names_every_room(room: str) -> None:
    assert f"`{room}`" in read("docs/architecture.md")


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    assert local_paths(ROOT) == []


@pytest.mark.parametrize(
    "text",
    ["see /home/ann/ledgerd", "/root/x", "/opt/ann", "open('/tmp/x')", "C:\\Users\\ann", "file:///x", "(/work/a)"],
)
def test_a_place_on_somebodys_machine_is_found(tmp_path: Path, text: str) -> None:
    tree = write_tree(tmp_path, {"docs/notes.md": f"first\n{text}\n", ".venv/pyvenv.cfg": text})

    assert local_paths(tree) == ["docs/notes.md:2"]


def test_a_path_of_the_repository_is_no_fault(tmp_path: Path) -> None:
    text = "src/work/x https://example.org/home/a /opt/ledgerd/lib ~/opt/x ./tmp/x PYTHON=/path/to/python3"

    assert local_paths(write_tree(tmp_path, {"README.md": text})) == []
