"""`scripts/release`: the same bytes at two places, whose sums are signed and whose parts are listed with licences."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from scripts.build_program import BuildError, link_or_copy, python_version
from scripts.releasing.__main__ import LOOSELY, TIGHTLY
from scripts.releasing.image import USER
from scripts.releasing.licences import ALLOWED, fits, needed, require_licences
from scripts.releasing.program import archive
from scripts.releasing.sums import sign, write_sums
from scripts.releasing.wheels import unpack
from tests.house.distributions import NODE, read_distributions
from tests.memory import memory_folder
from tests.packaging.conftest import ARCHITECTURE, ENOUGH, PLAIN_PYTHON, succeeded
from tests.packaging.container import Container, require_root
from tests.packaging.environment import run
from tests.packaging.layouts import read_layout
from tests.packaging.releases import GUIDE, Place, commit_of, pinned_hashes, refusal, succeeds

VERSION = str(read_distributions()[NODE].project["version"])


class Released(NamedTuple):
    """A release, and another one of the same commit."""

    place: Place
    sources: Path
    commit: str
    folder: Path
    again: Path


@pytest.fixture(scope="module")
def released(wheels: Path) -> Iterator[Released]:
    with TemporaryDirectory(dir=memory_folder(ENOUGH)) as text:
        folder = Path(text)
        place = Place(folder, wheels)
        here, there = folder / "here", folder / "deeper" / "elsewhere"
        commit = commit_of(here, modified=1)
        assert commit_of(there, modified=1_800_000_000, permissions=0o020) == commit
        results = (folder / "released", folder / "again")
        begun = [
            place.begin(here, VERSION, str(results[0])),
            place.begin(there, VERSION, str(results[1]), umask=0o077),
        ]
        for each in begun:
            succeeds(each)
        yield Released(place, here, commit, *results)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_two_releases_of_a_commit_at_two_places_are_the_same_bytes(released: Released) -> None:
    first, second = contents(released.folder), contents(released.again)

    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_the_guide_lists_what_is_released(released: Released) -> None:
    for name in contents(released.folder):
        told = name.replace(VERSION, "VERSION").replace(ARCHITECTURE.debian, "amd64")
        assert f"`{told.replace(f'python{python_version()}', 'python3.11')}`" in GUIDE


def test_the_program_of_an_archive_runs_and_knows_its_commit(released: Released, tmp_path: Path) -> None:
    packed = released.folder / f"ledgerd-{VERSION}-linux-{ARCHITECTURE.debian}-python{python_version()}.zip"
    with ZipFile(packed) as opened:
        opened.extractall(tmp_path)
        assert {entry.external_attr >> 16 & 0o777 for entry in opened.infolist()} == {0o644, 0o755}
        assert opened.getinfo("ledgerd/ledgerd").external_attr >> 16 & 0o777 == 0o755
        assert [name for name in opened.namelist() if name.endswith(".pyc")] == []

    told = succeeded(run("sh", str(tmp_path / "ledgerd" / "ledgerd"), "--version", LEDGERD_PYTHON=PLAIN_PYTHON))

    assert f"git_revision:       {released.commit}\n" in told.stdout


def test_an_archive_is_packed_at_the_level_that_is_asked_for(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.mkdir()
    (program / "text").write_text("a" * 10_000)
    for level in (LOOSELY, TIGHTLY):
        archive(program, tmp_path / f"{level}.zip", 1_700_000_000, level)

    sizes = [(tmp_path / f"{level}.zip").stat().st_size for level in (LOOSELY, TIGHTLY)]
    assert sizes[0] > 10_000 > sizes[1]


INSTALLATION = """
set -eu
rm -rf /var/lib/ledgerd /var/lib/ledgerd-signer # of the machine that is below the container, for which they stay
folder=$LEDGERD_PYTHON # let the user of the node come to it, wherever it is
while [ "$folder" != / ]; do folder=$(dirname "$folder"); chmod a+x "$folder"; done
dpkg=$(command -v dpkg)
install() { "$dpkg" --force-depends --force-unsafe-io --force-confdef --install /release/ledgerd_*.deb >&2; }
stand_in() { # for the Python of the program, which compiles for four seconds
    python=$(sed -n 2p /opt/ledgerd/interpreter)
    mv -f "$python" "$python.real" || true
    printf '#!/bin/sh\necho "$*" >/compiled; mkdir -p /opt/ledgerd/lib/ledgerd/__pycache__\n' >"$python"
    chmod +x "$python"
}
install
[ ! -x "$(sed -n 2p /opt/ledgerd/interpreter)" ] || [ -e /opt/ledgerd/lib/ledgerd/__pycache__ ]
/usr/bin/ledgerd --version
stat -c '%U:%G %a' /etc/ledgerd/config.ini /var/lib/ledgerd /var/lib/ledgerd-signer
cd /var/lib/ledgerd
setpriv --reuid ledgerd --regid ledgerd --init-groups /usr/bin/ledgerd --data-dir . --check-config
setpriv --reuid ledgerd --regid ledgerd --init-groups /usr/bin/ledgerd doctor --data-dir . --json >/findings || true
"$LEDGERD_PYTHON" -c 'import json; print("found", *(x["name"] for x in json.load(open("/findings"))["findings"]))'
echo '# mine' >>/etc/ledgerd/config.ini
stand_in
install
cat /compiled
tail -n 1 /etc/ledgerd/config.ini
"$dpkg" --remove ledgerd >&2
tail -n 1 /etc/ledgerd/config.ini
[ ! -e /opt/ledgerd ] && [ ! -e /usr/bin/ledgerd ]
"$dpkg" --purge ledgerd >&2
[ ! -e /etc/ledgerd ] && [ ! -e /usr/lib/systemd/system/ledgerd.service ]
getent passwd ledgerd && ls -A /var/lib/ledgerd
echo nothing else
"""
NOT_OF_THE_PACKAGE = {
    *("clock-unknown", "not-shown-reachable", "seeds-silent", "snapshot-peers-silent"),
    *("disk-nearly-full", "disk-slow", "memory-low"),
    "state-missing",
}
"""Findings that come of a machine without a network, of the machine itself, or of a node that has never run."""


def test_a_package_is_installed_upgraded_and_removed_and_leaves_nothing_but_data(
    released: Released, tmp_path: Path
) -> None:
    require_root()
    with Container(
        tmp_path,
        Path("/"),
        [],
        ["sh", "-c", INSTALLATION],
        environment={"LEDGERD_PYTHON": str(Path(PLAIN_PYTHON).resolve()), "DEBIAN_FRONTEND": "noninteractive"},
        volumes={"/release": released.folder},
    ) as machine:
        assert machine.wait() == 0, machine.log

    out = machine.out
    assert f"git_revision:       {released.commit}" in out
    assert [line for line in out if re.fullmatch(r"\S+:\S+ \d{3}", line)] == [
        "root:ledgerd 640",
        "ledgerd:ledgerd 750",
        "ledgerd-signer:ledgerd-signer 700",
    ]
    assert "The configuration is sound." in out
    (found,) = [line.split()[1:] for line in out if line.startswith("found")]
    assert set(found) <= NOT_OF_THE_PACKAGE
    assert "-m compileall -q -f -j 0 -s  /opt/ledgerd/lib" in out
    assert out.count("# mine") == 2
    assert out[-1] == "nothing else"


def image_of(released: Released) -> Path:
    return released.folder / f"ledgerd-{VERSION}-linux-{ARCHITECTURE.debian}.oci.tar"


def test_an_image_is_sound_and_a_container_of_it_makes_blocks(released: Released, tmp_path: Path) -> None:
    require_root()
    image = read_layout(image_of(released))
    settings = image.config["config"]
    assert (image.name, image.platform) == (
        f"ledgerd:{VERSION}",
        {"architecture": ARCHITECTURE.debian, "os": "linux"},
    )
    assert settings["Labels"]["org.opencontainers.image.revision"] == released.commit
    root, opened, volume = (tmp_path / name for name in ("root", "opened", "volume"))
    image.unpack(root)
    volume.mkdir()
    python = Path(PLAIN_PYTHON).resolve()
    (opened / str(python.parent).lstrip("/")).mkdir(parents=True)  # let the user of the node come to this machine's

    with Container(
        tmp_path,
        Path("/"),
        [opened, root],
        settings["Entrypoint"],
        environment={
            **image.environment(),
            "LEDGERD_PYTHON": str(python),
            "LEDGERD_TEMPLATE": "config_testnet.ini",
        },
        volumes=dict.fromkeys(settings["Volumes"], volume),
    ) as node:
        node.wait_for("start listening for ws requests")
        node.wait_for("Validated block #2 ")
        node.run(*settings["Healthcheck"]["Test"][1:])
        assert f"git_revision:       {released.commit}\n" in node.run("ledgerd", "--version").stdout
        assert {f"0.0.0.0:{port.partition('/')[0]}" for port in settings["ExposedPorts"]} <= node.listeners()
        assert Path(f"/proc/{node.first}").stat().st_uid == USER
        assert node.stop(signal.SIGTERM) == 0
    assert {path.lstat().st_uid for path in (volume, *volume.rglob("*"))} == {USER}


def test_what_an_image_has_beside_the_program_is_listed_with_hashes(released: Released) -> None:
    document = json.loads(image_of(released).with_suffix(".cdx.json").read_bytes())

    listed = {each["purl"]: each for each in document["components"]}
    fetched = {hashlib.sha256(file.read_bytes()).hexdigest() for file in released.place.debian.rglob("*.deb")}
    exact = f"@1%3A2%2Bdeb~3?arch={ARCHITECTURE.debian}"
    assert [*listed] == [f"pkg:deb/debian/{name}{exact}" for name in ("base-files", "ca-certificates")]
    assert {hashed["content"] for each in listed.values() for hashed in each["hashes"]} == fetched
    assert document["metadata"]["component"]["type"] == "container"


def test_a_package_says_what_it_keeps_over_upgrades(released: Released) -> None:
    (package,) = released.folder.glob("*.deb")
    kept = succeeded(run("dpkg-deb", "--info", str(package), "conffiles")).stdout.split()

    assert kept == [f"/etc/ledgerd/{name}" for name in ("api.conf", "config.ini", "explorer.conf", "signer.conf")]
    depends = succeeded(run("dpkg-deb", "--field", str(package), "Depends")).stdout
    assert f"python3 (>= {python_version()}~)" in depends


def test_a_release_is_checked_by_the_commands_of_the_guide(released: Released, tmp_path: Path) -> None:
    shutil.copytree(released.folder, tmp_path, dirs_exist_ok=True, copy_function=link_or_copy)
    (tmp_path / "allowed_signers").write_text(released.place.signers)
    (commands,) = re.findall(r"```sh check\n(.*?)```", GUIDE, re.DOTALL)
    checking = f"cd {tmp_path} && set -e\n{commands}"

    assert "Good " in succeeded(run("sh", "-c", checking)).stdout
    succeeded(run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path.parent / "another")))
    another = (tmp_path.parent / "another.pub").read_text()
    (tmp_path / "allowed_signers").write_text(released.place.signers.partition(" ")[0] + " " + another)
    assert run("sh", "-c", checking).returncode != 0
    (tmp_path / "allowed_signers").write_text(released.place.signers)
    listed = tmp_path / f"ledgerd-{VERSION}.cdx.json"
    other = listed.read_text() + " "
    listed.unlink()  # it is the file of the release itself
    listed.write_text(other)
    assert run("sh", "-c", checking).returncode != 0
    write_sums_without_signature(tmp_path)
    assert run("sh", "-c", checking).returncode != 0


def write_sums_without_signature(folder: Path) -> None:
    """Sums that fit the files, and not their signature."""
    signature = folder / "SHA256SUMS.sig"
    kept = signature.read_bytes()
    for name in ("SHA256SUMS", signature.name, "allowed_signers"):
        (folder / name).rename(folder.parent / name)
    write_sums(folder)
    signature.write_bytes(kept)
    (folder.parent / "allowed_signers").rename(folder / "allowed_signers")


def test_the_list_of_parts_has_every_package_with_its_licence_and_the_hash_of_its_wheel(released: Released) -> None:
    document = json.loads((released.folder / f"ledgerd-{VERSION}.cdx.json").read_bytes())

    listed = {each["name"]: each for each in document["components"]}
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["version"] == VERSION
    assert document["metadata"]["component"]["properties"][0]["value"] == released.commit
    assert len(listed) == len(list(released.place.wheels.iterdir()))
    for each in listed.values():
        assert {hashed["content"] for hashed in each["hashes"]} < pinned_hashes()
        assert fits(each["licenses"][0]["expression"])
        assert each["purl"] == f"pkg:pypi/{each['name']}@{each['version']}"
    needs = {each["ref"]: each["dependsOn"] for each in document["dependencies"]}
    assert needs[listed["jinja2"]["purl"]] == [listed["markupsafe"]["purl"]]
    assert {*needs} == {each["purl"] for each in (*listed.values(), document["metadata"]["component"])}


def test_a_release_is_refused_over_what_lies_there(released: Released) -> None:
    assert f"{released.folder} is not empty" in refusal(released.sources, VERSION, str(released.folder))


def test_a_release_of_another_version_is_refused(released: Released, tmp_path: Path) -> None:
    assert f"says version {VERSION}, not 9.9" in refusal(released.sources, "9.9", str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_a_release_of_changed_sources_is_refused(released: Released, tmp_path: Path) -> None:
    planted = released.sources / "src" / "ledgerd" / "planted.py"
    planted.touch()
    try:
        assert "(src/ledgerd/planted.py)" in refusal(released.sources, VERSION, str(tmp_path / "none"))
    finally:
        planted.unlink()


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MPL-2.0 AND (Apache-2.0 OR GPL-2.0-only)", True),
        ("MIT OR Apache-2.0 AND GPL-2.0-only", True),
        ("(MIT OR Apache-2.0) AND GPL-2.0-only", False),
        ("(MIT", False),
        ("", False),
    ],
)
def test_a_licence_fits_by_the_choices_that_it_gives(expression: str, allowed: bool) -> None:
    assert fits(expression) is allowed


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(BuildError, match="not the expression of a licence: MIT License"):
        fits("MIT License")


def test_every_dependency_on_any_system_has_a_licence_that_fits() -> None:
    assert {"tzdata", "pyarrow", "psycopg"} <= require_licences(needed(), {}).keys()


def test_a_package_whose_licence_is_unknown_is_named() -> None:
    with pytest.raises(BuildError, match="nobody-knows-it: its licence is unknown"):
        require_licences({"msgspec", "nobody-knows-it"}, {})


def test_a_package_whose_licence_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(ALLOWED, "LGPL-3.0-only")

    with pytest.raises(BuildError, match=re.escape("psycopg: the licence LGPL-3.0-only is not in ALLOWED")):
        require_licences({"psycopg"}, {})


def test_a_wheel_that_an_installer_would_have_to_spread_is_refused(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "odd-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("odd-1.data/scripts/odd", "#!python\n")

    with pytest.raises(BuildError, match=re.escape("odd-1-py3-none-any.whl has files for other places")):
        unpack([tmp_path / "odd-1-py3-none-any.whl"], tmp_path / "lib")


def test_a_command_that_leaves_no_signature_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no signature stands beside SHA256SUMS after: true"):
        sign(write_sums(tmp_path), "true")
