"""`build-linux.sh`: what it leaves behind runs from anywhere without the sources, in each of its flavours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ledgerd.node.build import INDEXING_PLUGINS
from scripts.build_program import compile_modules, take_compiled
from tests.house.source_tree import ROOT
from tests.node.processes import NodeProcess, words_of_testnet
from tests.packaging.conftest import Built, Sources, copied_sources, succeeded
from tests.recorded import recorded_log

VERSION = re.compile(r"blockchain_version: [\d.]+\ngit_revision: +\w+\nledgerd_version: +[\d.]+ \((.*)\)\n")
OF_THE_REFERENCE = (
    ("-t", "Release"),
    ("--type", "Debug"),
    ("-s",),
    ("--static",),
    ("--no-lock-check",),
    ("--boost-root", "/nowhere"),
    ("--openssl-root", "/nowhere"),
    ("-j", "2"),
    ("--jobs", "1"),
)


def run(program: Path, *words: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own program
        [program, *words],
        cwd=cwd or "/",
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def flavour(program: Path) -> str:
    found = VERSION.fullmatch(succeeded(run(program, "--version")).stdout)
    assert found is not None
    return found[1]


def test_a_program_tells_what_it_was_built_as(built: Built) -> None:
    assert flavour(built.full / "ledgerd") == "full, mainnet"
    assert flavour(built.small / "ledgerd") == "low memory, testnet"


def test_a_program_runs_without_its_sources_through_links(sources: Sources, built: Built, tmp_path: Path) -> None:
    (tmp_path / "near").symlink_to(built.full / "ledgerd")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "ledgerd").symlink_to("../near")

    away = sources.folder.rename(sources.folder.with_name("away"))
    try:
        assert flavour(tmp_path / "deep" / "ledgerd") == "full, mainnet"
        on_path = run(Path("/bin/sh"), "-c", "ledgerd --version", PATH=f"{tmp_path / 'deep'}:{os.environ['PATH']}")
    finally:
        away.rename(sources.folder)

    assert VERSION.fullmatch(succeeded(on_path).stdout)


def test_what_lies_where_a_program_is_started_is_not_mistaken_for_a_part_of_it(built: Built, tmp_path: Path) -> None:
    for name in ("json.py", "ledgerd.py", "msgspec.py"):
        (tmp_path / name).write_text("raise SystemExit('mistaken')")
    elsewhere = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "PYTHONSTARTUP": str(tmp_path / "json.py")}

    assert VERSION.fullmatch(succeeded(run(built.full / "ledgerd", "--version", cwd=tmp_path, **elsewhere)).stdout)


def test_a_program_holds_the_packages_of_its_lock_and_no_others(built: Built) -> None:
    lock = (ROOT / "requirements-runtime.lock").read_text(encoding="utf-8")
    lines = re.finditer(r"^([\w-]+)==\S+(?P<marker> ; sys_platform == 'win32')?", lock, re.MULTILINE)
    pinned = {found[1].replace("-", "_") for found in lines if not found["marker"]}
    held = {each.name.partition("-")[0] for each in (built.full / "lib").glob("*.dist-info")}

    assert held == {*pinned, "ledgerd", "ledgerd_client"}


def test_a_program_brings_the_templates_along(built: Built) -> None:
    for template in (ROOT / "share" / "ledgerd" / "config").iterdir():
        brought = built.full / "share" / "ledgerd" / "config" / template.name
        assert brought.read_bytes() == template.read_bytes()


def test_a_program_for_little_memory_starts_without_the_plugins_that_index(built: Built, tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(f"plugin = database_api {' '.join(sorted(INDEXING_PLUGINS))}\n")

    told = succeeded(run(built.small / "ledgerd", "--data-dir", str(tmp_path), "--check-config")).stdout

    plugins = next(line for line in told.splitlines() if line.startswith("plugins that run:"))
    assert "database_api" in plugins
    assert not INDEXING_PLUGINS & set(plugins.split())
    assert f"built for low memory, and runs without the plugins {', '.join(sorted(INDEXING_PLUGINS))}" in told
    assert "  chain = testnet    [default]" in told


def test_a_program_for_little_memory_runs_a_template_that_names_them(built: Built, tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path), program=[str(built.small / "ledgerd")]) as node:
        node.wait_for("Validated block #1 ")
        assert node.head >= 1
        assert node.call("account_history", "get_account_history", "committee", -1, 1)["code"]
        assert node.stop() == 0

    assert node.log.count("this program was built for low memory, and runs without the plugins") == 1
    assert "Traceback" not in node.log


def test_a_program_for_little_memory_keeps_no_history(built: Built, tmp_path: Path) -> None:
    refused = run(built.small / "ledgerd", "history", "rebuild", "--data-dir", str(tmp_path))

    assert refused.returncode == 1
    assert refused.stderr == "ledgerd: this program was built for low memory, and keeps no history\n"


FOR_CLIENTS = ('{"table":"KeyReference"', '{"table":"CustomProtocol"', '{"table":"ProjectedBlock"')
"""Kept by plugins that the small program lacks; no block depends on it."""


def test_programs_of_all_flavours_come_to_the_same_state(built: Built, tmp_path: Path) -> None:
    (tmp_path / "block_log").write_bytes(recorded_log("open-2"))
    states = []
    for name, program in (("full", built.full / "ledgerd"), ("small", built.small / "ledgerd")):
        data = tmp_path / name
        data.mkdir()
        (data / "config.ini").write_text(
            f"chain = testnet\nshared-file-size = 64M\nplugin = {' '.join(sorted(INDEXING_PLUGINS))}\n"
        )
        words = ["--data-dir", str(data)]
        succeeded(run(program, "replay", "--block-log", str(tmp_path / "block_log"), *words, "--to", "60"))
        lines = succeeded(run(program, "state", *words, "--json")).stdout.splitlines(keepends=True)
        states.append("".join(line for line in lines if not line.startswith(FOR_CLIENTS)))

    assert states[0] == states[1]
    assert '"name":"alice"' in states[0]


@pytest.mark.parametrize("words", OF_THE_REFERENCE, ids=" ".join)
def test_options_of_the_reference_s_script_are_accepted(sources: Sources, words: tuple[str, ...]) -> None:
    done = succeeded(sources.script("build-linux.sh", *words, "--help"))

    assert done.stdout.startswith("usage: build-linux.sh")


@pytest.mark.parametrize("words", [("--bogus",), ("-j", "none"), ("-j", "0"), ("--low",), ("word",)], ids=" ".join)
def test_an_option_that_there_is_not_ends_with_1(sources: Sources, words: tuple[str, ...]) -> None:
    refused = sources.script("build-linux.sh", *words)

    assert refused.returncode == 1
    assert refused.stderr.startswith("build-linux.sh: ")
    assert "./build-linux.sh --help" in refused.stderr


def test_without_a_recent_python_it_is_said_how_to_come_by_one(sources: Sources) -> None:
    refused = sources.script("build-linux.sh", PYTHON="/bin/false")

    assert refused.returncode == 1
    assert "run install-deps-linux.sh as root" in refused.stderr


def test_a_build_that_fails_leaves_the_last_program_as_it_was(tmp_path: Path) -> None:
    other = copied_sources(tmp_path / "sources")
    other.program.mkdir(parents=True)
    (other.program / "ledgerd").write_text("the last one")
    (other.folder / "requirements-runtime.lock").write_text("lmdb==3.0.0\n")

    failed = other.script("build-linux.sh")

    assert failed.returncode == 1
    assert "build-linux.sh: failed: " in failed.stderr
    assert (other.program / "ledgerd").read_text() == "the last one"


def test_only_of_a_module_that_is_the_same_the_last_build_has_what_is_compiled(tmp_path: Path) -> None:
    last, fresh = tmp_path / "last", tmp_path / "fresh"
    for name, text in (("same.py", "SAME = 1"), ("room/same.py", "SAME = 2"), ("other.py", "OTHER = 1")):
        for folder in (last, fresh):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    compile_modules(last, jobs=1)
    (fresh / "other.py").write_text("OTHER = 2")
    (fresh / "new.py").touch()

    names = ("same.py", "room/same.py", "other.py", "new.py")
    assert [take_compiled(fresh / name, fresh, last) for name in names] == [True, True, False, False]
    taken = {path.relative_to(fresh): path.read_bytes() for path in fresh.rglob("*.pyc")}
    assert {path.parent.as_posix() for path in taken} == {"__pycache__", "room/__pycache__"}
    assert all((last / path).read_bytes() == content for path, content in taken.items())


def test_an_install_puts_a_command_below_the_prefix(sources: Sources, tmp_path: Path) -> None:
    before = tmp_path / "there" / "lib" / "ledgerd" / "of-an-older-version"
    before.mkdir(parents=True)

    done = sources.script("build-linux.sh", "--install", "-t", "Release", PREFIX="/there", DESTDIR=str(tmp_path))

    assert "note: --type is without meaning: nothing is compiled" in succeeded(done).stdout
    assert flavour(tmp_path / "there" / "bin" / "ledgerd") == "full, mainnet"
    assert not before.exists()
    assert sorted(path.name for path in (tmp_path / "there" / "lib").iterdir()) == ["ledgerd"]


def moved_to_python(program: Path, folder: Path, version: str) -> Path:
    """The program as if it had been built with a Python that is gone."""
    folder.mkdir()
    shutil.copy(program / "ledgerd", folder)
    (folder / "lib").symlink_to(program / "lib")
    (folder / "interpreter").write_text(f"{version}\n/gone/python\n")
    return folder / "ledgerd"


def test_a_program_without_its_python_takes_another_of_the_same_version(built: Built, tmp_path: Path) -> None:
    version, python = (built.full / "interpreter").read_text().splitlines()
    moved = moved_to_python(built.full, tmp_path / "program", version)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / f"python{version}").symlink_to(python)

    done = run(moved, "--version", PATH=f"{tmp_path}/bin:/usr/bin:/bin")

    assert VERSION.fullmatch(succeeded(done).stdout)


def test_a_program_whose_python_is_missing_says_which_one_it_wants(built: Built, tmp_path: Path) -> None:
    refused = run(moved_to_python(built.full, tmp_path / "program", "3.99"), "--version")

    assert refused.returncode == 1
    assert "built for Python 3.99, and there is none" in refused.stderr
