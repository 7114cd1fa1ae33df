"""The scripts that install and build, as far as they can be run on any machine: what they ask the system for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.house.source_tree import ROOT
from tests.packaging.conftest import PLAIN_PYTHON

REAL = ("bash", "cat", "dirname", "env", "ln", "mktemp", "nproc", "rm", "sed", "sha256sum", "sh", "tar")
"""Programs that do in a test what they always do."""

INSTALLER = """
for word in "$@"; do
    case $word in
    python3 | python3.*[0-9]) ln -sf {python} {tools}/$word ;;
    esac
done
"""


def shell_scripts() -> list[Path]:
    """Every file of the repository that a shell runs."""
    folders = (ROOT, ROOT / "scripts", ROOT / ".ci", *(ROOT / "share" / "ledgerd").iterdir())
    files = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    return [path for path in files if re.match(rb"#!.*\b(ba)?sh\n", path.read_bytes()[:40])]


def test_shellcheck_finds_nothing() -> None:
    found = shutil.which("shellcheck")
    if found is None:
        assert not os.environ.get("CI"), "CI installs shellcheck: scripts/install-tools"
        pytest.skip("shellcheck is not installed: scripts/install-tools does that, as root")
    scripts = shell_scripts()

    assert {"entry.sh", "ledgerd", "build-linux.sh", "run"} <= {path.name for path in scripts}
    told = subprocess.run([found, *scripts], capture_output=True, text=True, check=False)  # noqa: S603 - our own files
    assert told.stdout + told.stderr == ""


class Machine:
    """A made-up machine: what its package manager has, and what was asked of it."""

    def __init__(self, folder: Path) -> None:
        self.tools = folder / "tools"
        self.tools.mkdir()
        self.asked_file = folder / "asked"
        self.asked_file.touch()
        for name in REAL:
            self.tools.joinpath(name).symlink_to(shutil.which(name) or "/nonexistent")
        self.has("id", "echo 0")

    def has(self, name: str, script: str) -> None:
        tool = self.tools / name
        tool.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.asked_file}\n{script}\n')
        tool.chmod(0o755)

    def has_apt(self, candidates: Mapping[str, str]) -> None:
        known = {"python3-venv": "1", **candidates}
        rows = " ".join(f"{name}) echo '  Candidate: {version}' ;;" for name, version in known.items())
        self.has("apt-cache", f'case $2 in {rows} *) echo "  Candidate: (none)" ;; esac')
        self.has("apt-get", INSTALLER.format(python=PLAIN_PYTHON, tools=self.tools))

    def has_dnf(self, packages: str) -> None:
        """Its `python3` stays what it is."""
        self.has(
            "dnf",
            f'if [ $1 = --quiet ]; then case " {packages} " in *" $4 "*) exit 0 ;; *) exit 1 ;; esac; fi'
            + INSTALLER.format(python=PLAIN_PYTHON, tools=self.tools).replace("python3 | ", ""),
        )
        self.has("rpm", "exit 1")

    def run(self, script: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own script
            [ROOT / script, *words],
            env={"PATH": str(self.tools), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def asked(self, name: str) -> list[str]:
        """What a tool was asked for."""
        lines = self.asked_file.read_text().splitlines()
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


INSTALL = "install-deps-linux.sh"


def test_nothing_is_installed_by_another_user_than_root(machine: Machine) -> None:
    machine.has_apt({"python3": "3.12.3-0ubuntu2"})
    machine.has("id", "echo 1000")

    refused = machine.run(INSTALL)

    assert refused.returncode == 1
    assert "must run as root: sudo ./install-deps-linux.sh" in refused.stderr
    assert machine.asked("apt-get") == []


def test_the_python_of_the_distribution_is_taken_where_it_is_recent(machine: Machine) -> None:
    machine.has_apt({"python3": "3.12.3-0ubuntu2"})

    done = machine.run(INSTALL)

    assert done.returncode == 0, done.stderr
    assert machine.asked("apt-get")[-1].endswith("ca-certificates python3 python3-venv")
    assert "now run ./build-linux.sh" in done.stdout


def test_another_python_of_the_distribution_is_the_next_choice(machine: Machine) -> None:
    machine.has_apt({"python3": "3.9.2-3", "python3.12": "3.12.1-1", "python3.11": "3.11.2-1"})

    assert machine.run(INSTALL).returncode == 0
    assert machine.asked("apt-get")[-1].endswith("ca-certificates python3.12 python3.12-venv")


def test_where_venv_is_missing_the_rest_of_ubuntu_is_enabled(machine: Machine) -> None:
    machine.has_apt({"python3": "3.12.3-0ubuntu2", "python3-venv": "(none)"})
    machine.has("add-apt-repository", "")

    assert machine.run(INSTALL).returncode == 0
    assert machine.asked("add-apt-repository") == ["--yes universe"]
    assert machine.asked("apt-get")[:2] == ["update", "update"]


@pytest.mark.parametrize(
    "candidates",
    [
        {"python3": "3.8.2-0ubuntu2", "python3.9": "3.9.5-3ubuntu0~20.04.1"},
        {"python3": "3.10.6-1~22.04.1", "python3.11": "3.11.0~rc1-1~22.04"},
    ],
    ids=["Ubuntu 20.04", "Ubuntu 22.04"],
)
def test_an_old_distribution_gets_a_python_from_its_source(machine: Machine, candidates: dict[str, str]) -> None:
    machine.has_apt(candidates)
    machine.has("curl", "exit 22")

    failed = machine.run(INSTALL)

    assert failed.returncode == 1
    assert "build-essential" in machine.asked("apt-get")[-1]
    assert [words.split()[-1].split("/")[2] for words in machine.asked("curl")] == ["www.python.org", "deb.debian.org"]
    assert "the source of Python could not be fetched" in failed.stderr


def test_a_source_that_is_not_the_expected_one_is_not_used(machine: Machine) -> None:
    machine.has_apt({})
    machine.has("curl", 'while [ "$1" != --output ]; do shift; done; echo something else >"$2"')

    failed = machine.run(INSTALL, "--python-from-source")

    assert failed.returncode == 1
    assert failed.stderr.count("not the file that was expected, and not used") == 2


def test_dnf_is_understood_too(machine: Machine) -> None:
    machine.has_dnf("python3.12 python3.11")
    machine.has("python3", "exit 1")

    done = machine.run(INSTALL)

    assert "ready: " in done.stdout, done.stderr
    assert machine.asked("dnf") == [
        "--assumeyes install python3 ca-certificates",
        "--quiet list --available python3.13",
        "--quiet list --available python3.12",
        "--assumeyes install python3.12 python3.12-pip",
    ]


def test_a_machine_with_neither_is_told_what_to_do(machine: Machine) -> None:
    failed = machine.run(INSTALL)

    assert failed.returncode == 1
    assert "neither apt nor dnf is here: install Python 3.11 or later yourself" in failed.stderr


def test_help_is_given_to_everybody_and_a_wrong_option_is_refused(machine: Machine) -> None:
    machine.has("id", "echo 1000")

    assert machine.run(INSTALL, "--help").stdout.startswith("Usage: install-deps-linux.sh")
    assert machine.run(INSTALL, "--bogus").returncode == 1


def pretended(version: str) -> str:
    """A Python that says to be of another version."""
    code = f"import sys; sys.version_info = ({version.replace('.', ', ')}); exec(sys.argv[1])"
    return f'exec {PLAIN_PYTHON} -c "{code}" "$2"'


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        ({"python3": "3.14", "python3.12": "3.12", "python3.14": "3.14"}, "python3.12"),
        ({"python3": "3.13", "python3.12": "3.12"}, "python3"),
        ({"python3": "3.10", "python3.14": "3.14"}, "python3.14"),
        ({"python3": "3.10"}, ""),
    ],
)
def test_a_python_that_there_are_wheels_for_is_taken_before_a_newer_one(
    machine: Machine, versions: dict[str, str], chosen: str
) -> None:
    for name, version in versions.items():
        machine.has(name, pretended(version))

    found = machine.run("scripts/find-python")

    assert (found.stdout.strip(), found.returncode) == (chosen, 0 if chosen else 1)


# -- the other platforms


def test_each_build_script_knows_its_platform(machine: Machine) -> None:
    machine.has("uname", "echo Linux")
    assert "this is not macOS" in machine.run("build-mac.sh").stderr
    machine.has("uname", "echo Darwin")
    refused = machine.run("build-linux.sh")
    assert refused.returncode == 1
    assert "this is not Linux" in refused.stderr


def test_on_a_mac_the_same_options_are_read(machine: Machine) -> None:
    machine.has("uname", "echo Darwin")

    told = machine.run("build-mac.sh", "--skip-deps", "-l", "--testnet", "--help", PYTHON=PLAIN_PYTHON)
    assert told.stdout.startswith("usage: build-mac.sh")
    refused = machine.run("build-mac.sh", "--bogus", PYTHON=PLAIN_PYTHON)
    assert refused.returncode == 1
    assert "unrecognized arguments: --bogus" in refused.stderr


def test_on_a_mac_without_python_homebrew_brings_one_unless_told_not_to(machine: Machine, tmp_path: Path) -> None:
    machine.has("uname", "echo Darwin")
    brought = tmp_path / "brewed" / "bin"
    brought.mkdir(parents=True)
    (brought / "python3.13").symlink_to(PLAIN_PYTHON)

    without = machine.run("build-mac.sh", "--help")
    assert without.returncode == 1
    assert "install Homebrew" in without.stderr

    machine.has("brew", f'[ "$1" != --prefix ] || echo {brought.parent}')
    assert machine.run("build-mac.sh", "--skip-deps", "--help").returncode == 1
    assert machine.asked("brew") == []
    assert machine.run("build-mac.sh", "--help").returncode == 0
    assert machine.asked("brew")[0] == "install python@3.13"


def test_the_batch_file_asks_for_both_variables_and_builds_as_the_others_do() -> None:
    for name in ("build-mingw.bat", "share/ledgerd/program/ledgerd.cmd"):
        text = (ROOT / name).read_bytes()
        assert text.count(b"\n") == text.count(b"\r\n") > 5, "Windows wants its own ends of lines"
        assert b"\r\n\r\n" not in text
        assert text.isascii()
    batch = (ROOT / "build-mingw.bat").read_text()
    for variable in ("BOOST_ROOT", "OPENSSL_ROOT_DIR"):
        assert re.search(rf"if not defined {variable} \(\n.*{variable}.*\n    exit /b 1\n\)", batch)
    called = re.search(r'"%~dp0(.+)" build-mingw.bat %\*', batch)
    assert called is not None
    assert (ROOT / called[1].replace("\\", "/")).is_file()


def test_a_python_that_is_there_already_is_not_built_again(machine: Machine) -> None:
    machine.has_apt({"python3": "3.8.2-0ubuntu2"})
    machine.tools.joinpath("python3.13").symlink_to(PLAIN_PYTHON)

    done = machine.run(INSTALL)

    assert "python3.13 is recent enough, and is used" in done.stdout, done.stderr
    assert machine.asked("apt-get") == ["update"]
