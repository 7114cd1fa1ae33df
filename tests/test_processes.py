"""A run of the tests in several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.processes import TOGETHER, unit_of

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/chain/test_chain.py::test_it", "tests/chain/test_chain.py"),
        ("tests/chain/test_chain.py::TestIt::test_it[a::b]", "tests/chain/test_chain.py"),
        ("tests/house/test_sizes.py::test_it", "tests/house/"),
    ],
)
def test_a_file_or_a_folder_is_run_by_one_process(test: str, unit: str) -> None:
    assert unit_of(test) == unit


def test_the_folders_that_stay_together_have_tests() -> None:
    assert all([*(ROOT / folder).rglob("test_*.py")] for folder in TOGETHER)


def run_in_two(folder: Path, **files: str) -> tuple[int, str]:
    """The exit code and the output of a run of two processes over files of tests."""
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-c", os.devnull, "--rootdir", str(folder), "-p", "tests.processes"]
    done = subprocess.run(  # noqa: S603 - ourselves
        [*command, "-p", "no:cacheprovider", "--processes", "2", "-rA", str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout


def test_all_tests_are_run_and_what_fails_is_shown_with_what_it_printed(tmp_path: Path) -> None:
    failing = "def test_wrong():\n    print('a hint')\n    assert 1 == 2\n"

    code, said = run_in_two(tmp_path, right="def test_right(): pass\n", wrong=failing + "def test_after(): pass\n")

    assert code == 1
    assert "2 passed" in said
    assert "1 failed" in said
    assert "assert 1 == 2" in said
    assert "a hint" in said


def test_what_is_made_for_the_whole_run_is_made_once_in_a_process_and_ends_with_it(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os, pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def made():\n"
        "    name = f'made-{os.getpid()}'\n"
        "    open(name, 'x').close()\n"
        "    yield\n"
        "    os.rename(name, name + '-ended')\n"
    )
    files = {f"file{n}": "def test_it(made): pass\ndef test_again(made): pass\n" for n in range(6)}

    code, said = run_in_two(tmp_path, **files)

    assert (code, "12 passed" in said) == (0, True)
    made = [path.name.endswith("-ended") for path in tmp_path.glob("made-*")]
    assert made in ([True], [True, True])


def test_a_process_that_ends_fails_its_tests_and_the_others_go_on(tmp_path: Path) -> None:
    ending = "import os\ndef test_first(): pass\ndef test_end(): os._exit(0)\ndef test_behind(): pass\n"

    code, said = run_in_two(tmp_path, ending=ending, right="def test_right(): pass\n")

    assert code == 1
    assert "FAILED test_ending.py::test_end" in said
    assert "FAILED test_ending.py::test_behind" in said
    assert "2 passed" in said


def test_a_run_whose_processes_have_all_ended_fails(tmp_path: Path) -> None:
    code, said = run_in_two(tmp_path, **{f"ending{n}": "import os\ndef test_end(): os._exit(0)\n" for n in range(3)})

    assert code != 0
    assert "2 failed" in said
    assert "all processes have ended, and 1 files are left" in said


def test_what_fails_at_the_end_of_a_process_fails_the_run(tmp_path: Path) -> None:
    fixture = (
        "import pytest\n@pytest.fixture(scope='session')\ndef made():\n    yield\n    raise OSError('not removed')\n"
    )
    (tmp_path / "conftest.py").write_text(fixture)

    code, said = run_in_two(tmp_path, first="def test_it(made): pass\n", second="def test_it(): pass\n")

    assert code != 0
    assert "2 passed" in said
    assert "a process has failed after its last test" in said
