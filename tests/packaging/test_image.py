"""The image of a release: what of packages it takes, how it is run, and that it is what the Dockerfile describes."""

from __future__ import annotations

import os
import re
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from scripts.build_program import BuildError
from scripts.releasing.image import RUN, SECOND, SYSTEM, USER, base_layer
from scripts.releasing.layers import Layer, digest_of
from scripts.releasing.packages import Package, fetched, files_of
from scripts.releasing.wheels import ARCHITECTURES
from tests.packaging.conftest import DOCKERFILE
from tests.packaging.debs import make_up
from tests.packaging.dockerfile import read_dockerfile

AMD64 = ARCHITECTURES["amd64"]
TIME = 1_700_000_000


@pytest.fixture
def packages(tmp_path: Path) -> list[Package]:
    make_up(tmp_path, "amd64")
    return fetched(AMD64, tmp_path / "amd64", tmp_path / "unused")


def files(layer: Layer) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=BytesIO(layer.write(6).content)) as archive:
        return {each.name: each for each in archive}


def test_packages_are_taken_as_a_system_has_them(packages: list[Package]) -> None:
    layer = base_layer(packages, TIME)
    found = files(layer)

    assert layer.entries["usr/bin/tool"][1] == layer.entries["usr/bin/same-tool"][1] == b"a tool\n"
    assert found["usr/bin/tool"].mode == 0o755, "nobody becomes root by a program"
    assert found["usr/bin/other-tool"].linkname == "tool"
    assert [found[name].linkname for name in ("bin", "lib")] == ["usr/bin", "usr/lib"]
    assert "sbin" not in found
    assert found["tmp"].mode == 0o1777
    assert [name for name in found if name.startswith(("usr/share/doc/base-files/", "usr/share/man/"))] == [
        "usr/share/doc/base-files/copyright"
    ]
    assert {each.mtime for each in found.values()} == {TIME}


def test_what_scripts_of_packages_would_do_is_done(packages: list[Package]) -> None:
    entries = base_layer(packages, TIME).entries

    assert entries["etc/ssl/certs/ca-certificates.crt"][1] == b"one\ntwo\n"
    installed = entries["var/lib/dpkg/status"][1].decode().split("\n\n")
    assert [re.findall("^Package: (.+)\nStatus: install ok installed$", each, re.MULTILINE) for each in installed] == [
        ["base-files"],
        ["ca-certificates"],
    ]


def test_a_layer_is_the_same_bytes_in_whatever_order_it_was_filled(packages: list[Package]) -> None:
    layers = Layer(TIME), Layer(TIME)
    for layer, order in zip(layers, (packages, packages[::-1]), strict=True):
        for each in order:
            layer.unpack(files_of(each))

    assert layers[0].write(6) == layers[1].write(6)


def test_folders_that_nobody_named_stand_before_what_is_in_them() -> None:
    layer = Layer(TIME)
    layer.file("a/b/c", b"")

    assert [*files(layer)] == ["a", "a/b", "a/b/c"]


def test_a_device_in_a_package_is_refused() -> None:
    archive = BytesIO()
    device = tarfile.TarInfo("./dev/odd")
    device.type = tarfile.CHRTYPE
    with tarfile.open(fileobj=archive, mode="w") as written:
        written.addfile(device)

    with pytest.raises(BuildError, match="dev/odd is no file, folder or link"):
        Layer(TIME).unpack(archive.getvalue())


APT = """#!/bin/sh
for word; do
    case $word in
    Dir::Cache::archives=*) archives=${word#*=} ;;
    APT::Architecture=*) architecture=${word#*=} ;;
    install) cp "$MADE_UP/$architecture"/*.deb "$archives" && exit "$ENDS_WITH" ;;
    esac
done
"""
"""Fetches what was made up."""


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    make_up(tmp_path / "made-up", "arm64")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/apt-get").write_text(APT)
    (tmp_path / "tools/apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    monkeypatch.setenv("MADE_UP", str(tmp_path / "made-up"))
    monkeypatch.setenv("ENDS_WITH", "0")
    return monkeypatch


@pytest.mark.usefixtures("apt")
def test_packages_are_fetched_for_the_other_kind_of_machine_and_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "arm64"
    packages = fetched(ARCHITECTURES["arm64"], kept, tmp_path / "workshop")

    assert [each.field("Package") for each in packages] == ["base-files", "ca-certificates"]
    assert {each.file for each in packages} == {*kept.iterdir()}


def test_packages_of_which_some_could_not_be_fetched_are_not_taken_later(
    tmp_path: Path, apt: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept" / "arm64"
    apt.setenv("ENDS_WITH", "100")
    for number in range(2):
        with pytest.raises(BuildError, match=r"failed: apt-get .* install"):
            fetched(ARCHITECTURES["arm64"], kept, tmp_path / f"workshop-{number}")


def test_packages_for_another_machine_are_refused(tmp_path: Path) -> None:
    make_up(tmp_path, "arm64")

    with pytest.raises(BuildError, match=r"\.deb is not for amd64"):
        fetched(AMD64, tmp_path / "arm64", tmp_path / "unused")


def test_a_damaged_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "odd.deb").write_bytes(b"!<arch>\n")

    with pytest.raises(BuildError, match=r"odd\.deb: "):
        fetched(AMD64, tmp_path, tmp_path / "unused")


def test_a_layer_names_what_it_is_uncompressed() -> None:
    blob = Layer(TIME).write(6)

    assert digest_of(b"\0" * 10240) == blob.diff_id


def test_it_is_run_as_the_dockerfile_says() -> None:
    stages = {each.name: each for each in read_dockerfile(DOCKERFILE).stages}
    told = [each for name in ("base", "latest") for each in stages[name].instructions]
    one = {each.name: each for each in told}

    assert RUN["Entrypoint"] == one["ENTRYPOINT"].words
    assert RUN["Volumes"] == {one["VOLUME"].text: {}}
    assert RUN["ExposedPorts"] == {f"{port}/tcp": {} for port in one["EXPOSE"].words}
    assert RUN["StopSignal"] == one["STOPSIGNAL"].text
    assert {each.text for each in told if each.name == "ENV"} < {*RUN["Env"]}
    times = dict(re.findall(r"--([a-z-]+)=(\d+)", one["HEALTHCHECK"].text))
    assert RUN["Healthcheck"] == {
        "Test": ["CMD", *one["HEALTHCHECK"].words],
        "Interval": int(times["interval"]) * SECOND,
        "Timeout": int(times["timeout"]) * SECOND,
        "StartPeriod": int(times["start-period"]) * SECOND,
        "Retries": int(times["retries"]),
    }
    (users,) = [each.text for each in told if "useradd" in each.text]
    assert f"--uid {USER} " in users
    assert f"\nledgerd:x:{USER}:{USER}::/var/lib/ledgerd:/usr/sbin/nologin\n" in SYSTEM["etc/passwd"]
