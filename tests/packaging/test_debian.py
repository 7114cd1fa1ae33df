"""The package for Debian: its units, and what its scripts do however often they are called."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.build_program import BuildError
from scripts.releasing.debian import (
    COMPLETIONS,
    RECIPE,
    add_completions,
    debian_version,
    require_builder,
    unit_of_package,
)
from tests.house.source_tree import ROOT
from tests.packaging.environment import run

UNITS = sorted((ROOT / "share" / "ledgerd" / "systemd").glob("*.service"))
ACTIVE = ("ledgerd.service", "ledgerd-signer.service")
TOOLS = {
    "chown": "",
    "deb-systemd-helper": "",
    "deb-systemd-invoke": "",
    "getent": 'grep -q "^useradd.*/$2 " "$CALLS"',
    "install": 'for last in "$@"; do :; done; mkdir -p "$last"',
    "systemctl": 'case $2 in is-active) case " $ACTIVE " in *" $3 "*) ;; *) exit 3 ;; esac ;; esac',
    "useradd": "",
}
"""What changes the machine, made up: each writes down how it was called."""


class Root:
    """A root in which the package is unpacked, with a systemd that runs some units."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "root"
        self.tools = folder / "tools"
        self.calls = folder / "calls"
        self.calls.touch()
        self.tools.mkdir()
        for name, script in TOOLS.items():
            (self.tools / name).write_text(f'#!/bin/sh\n{script}\ncode=$?\necho "{name} $*" >>"$CALLS"\nexit $code\n')
            (self.tools / name).chmod(0o755)
        for place in ("run/systemd/system", "var/lib", "etc/ledgerd", "opt/ledgerd/lib/ledgerd/__pycache__"):
            (self.folder / place).mkdir(parents=True)
        (self.folder / "etc/ledgerd/config.ini").touch(0o644)
        (self.folder / "opt/ledgerd/interpreter").write_text("3.11\n/nonexistent\n")

    def call(self, script: str, *words: str, active: tuple[str, ...] = ()) -> list[str]:
        """Run a script as dpkg does; gives what it called."""
        before = self.calls.read_text()
        own = {"CALLS": str(self.calls), "ACTIVE": " ".join(active), "DPKG_ROOT": str(self.folder)}
        done = run("sh", str(RECIPE / script), *words, **{**own, "PATH": f"{self.tools}:{os.environ['PATH']}"})
        assert done.returncode == 0, done.stderr
        return self.calls.read_text().removeprefix(before).splitlines()


def test_each_shell_finds_what_it_completes_commands_with(tmp_path: Path) -> None:
    add_completions(tmp_path)

    for shell, place in COMPLETIONS.items():
        assert f"Made by `ledgerd completion {shell}`" in (tmp_path / place).read_text()


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path)


def test_a_first_installation_makes_users_and_starts_the_node_alone(root: Root) -> None:
    called = root.call("postinst", "configure", "")

    assert [line.split()[-1] for line in called if line.startswith("useradd")] == ["ledgerd", "ledgerd-signer"]
    assert [line for line in called if " start " in line] == ["deb-systemd-invoke start ledgerd.service"]
    assert (root.folder / "var/lib/ledgerd/config.ini").readlink() == Path("/etc/ledgerd/config.ini")
    assert (root.folder / "etc/ledgerd/config.ini").stat().st_mode & 0o777 == 0o640


def test_an_installation_that_was_interrupted_goes_on(root: Root) -> None:
    root.call("postinst", "configure", "")
    (root.folder / "var/lib/ledgerd/config.ini").unlink()
    again = root.call("postinst", "configure", "")

    assert [line for line in again if line.startswith(("useradd", "install"))] == []
    assert (root.folder / "var/lib/ledgerd/config.ini").is_symlink()


def test_an_upgrade_starts_again_what_ran_the_signer_first(root: Root) -> None:
    root.call("postinst", "configure", "")
    (root.folder / "etc/ledgerd/config.ini").chmod(0o600)

    stopped = root.call("prerm", "upgrade", "0.2.0", active=ACTIVE)
    root.call("prerm", "upgrade", "0.2.0")
    started = root.call("postinst", "configure", "0.1.0")

    assert [line.split()[-1] for line in stopped if " stop " in line][-2:] == ["ledgerd.service", ACTIVE[1]]
    assert [line.split()[-1] for line in started if " start " in line] == [ACTIVE[1], "ledgerd.service"]
    assert (root.folder / "etc/ledgerd/config.ini").stat().st_mode & 0o777 == 0o600
    assert not (root.folder / "run/ledgerd.were-active").exists()
    assert not (root.folder / "opt/ledgerd/lib/ledgerd/__pycache__").exists()


def test_an_upgrade_that_fails_starts_the_old_version_again(root: Root) -> None:
    root.call("prerm", "upgrade", "0.2.0", active=ACTIVE)

    assert "deb-systemd-invoke start ledgerd.service" in root.call("postinst", "abort-upgrade", "0.2.0")


def test_an_upgrade_starts_nothing_that_was_stopped(root: Root) -> None:
    root.call("prerm", "upgrade", "0.2.0")

    assert [line for line in root.call("postinst", "configure", "0.1.0") if " start " in line] == []


def test_a_configuration_from_before_the_package_stays(root: Root) -> None:
    own = root.folder / "var/lib/ledgerd/config.ini"
    own.parent.mkdir()
    own.write_text("chain = testnet\n")
    root.call("postinst", "configure", "")
    root.call("postrm", "purge")

    assert own.read_text() == "chain = testnet\n"


def test_data_and_their_owners_outlive_a_removal(root: Root) -> None:
    root.call("postinst", "configure", "")
    kept = root.folder / "var/lib/ledgerd/last_signed_block"
    kept.touch()
    called = root.call("prerm", "remove") + root.call("postrm", "remove") + root.call("postrm", "purge")
    root.call("postrm", "purge")

    assert kept.exists()
    assert not (kept.parent / "config.ini").is_symlink()
    assert [line for line in called if "userdel" in line] == []


def test_every_unit_is_stopped_and_forgotten_with_the_package() -> None:
    for name in ("prerm", "postrm"):
        text = (RECIPE / name).read_text(encoding="utf-8")
        assert {unit.name for unit in UNITS} == set(re.findall(r"ledgerd[a-z-]*\.service", text))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_of_the_package_names_what_is_in_it(unit: Path) -> None:
    text = unit_of_package(unit)

    assert "ExecStart=/usr/bin/ledgerd " in text
    assert "/usr/local" not in text
    for file in re.findall(r"^EnvironmentFile=/etc/ledgerd/(.+)$", text, re.MULTILINE):
        given = set(re.findall(r"^(\w+)=", (RECIPE / file).read_text(encoding="utf-8"), re.MULTILINE))
        assert given == set(re.findall(r"\$\{?(\w+)", re.findall(r"^ExecStart=(.+)$", text, re.MULTILINE)[0]))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_no_fault_in_a_unit(unit: Path, tmp_path: Path) -> None:
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("systemd-analyze is not on this machine")
    program = tmp_path / "usr/bin/ledgerd"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = tmp_path / unit.name
    file.write_text(unit_of_package(unit).replace("/usr/bin/ledgerd", str(program)))

    told = subprocess.run(  # noqa: S603 - our own file
        [verifier, "verify", "--recursive-errors=no", "--man=no", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert [line for line in told.stderr.splitlines() if unit.name in line] == []
    assert told.returncode == 0, told.stderr


def test_a_candidate_comes_before_its_release() -> None:
    versions = ("1.0.0a1", "1.0.0rc2", "1.0.0.dev3", "1.0.0")

    assert [debian_version(each) for each in versions] == ["1.0.0~a1", "1.0.0~rc2", "1.0.0~dev3", "1.0.0"]


def test_a_machine_that_builds_no_packages_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    with pytest.raises(BuildError, match="dpkg-deb is not on this machine: release on Debian or Ubuntu"):
        require_builder()
