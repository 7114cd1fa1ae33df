"""`docs/containers.md`: what can be run of it is run; the rest names options, files and variables that there are."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import node_arguments
from ledgerd.cli.main import parser
from tests.house.source_tree import ROOT
from tests.packaging.conftest import DOCKERFILE, PLAIN_PYTHON, Sources, succeeded
from tests.packaging.container import Container, require_root
from tests.packaging.dockerfile import read_dockerfile

DOCUMENT = (ROOT / "docs" / "containers.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```sh ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = read_dockerfile(DOCKERFILE)
ENTRY = (DOCKERFILE.parent / "entry.sh").read_text(encoding="utf-8")

OF_RUN = {"--detach", "--env", "--init", "--name", "--publish", "--restart", "--rm", "--stop-timeout", "--volume"}
OF_BUILD = {"--build-arg", "--file", "--tag", "--target"}
OF_COMPOSE = {"--detach", "--file", "--profile"}
WITHOUT_VALUE = {"--detach", "--init", "--rm"}


def blocks(kind: str) -> list[str]:
    return [text for marked, text in BLOCK.findall(DOCUMENT) if marked == kind]


def commands(start: str) -> list[list[str]]:
    """The commands for an engine that begin with these words, the rest of each in words."""
    lines = "".join(blocks("engine")).replace("\\\n", " ").splitlines()
    return [shlex.split(line.removeprefix(start)) for line in lines if line.startswith(start)]


def options(words: list[str]) -> Iterator[tuple[str, str]]:
    """The options that words begin with; takes them out of the list."""
    while words and words[0].startswith("-"):
        name = words.pop(0)
        yield name, "" if name in WITHOUT_VALUE else words.pop(0)


def test_every_block_is_marked_as_something() -> None:
    assert DOCUMENT.count("```sh") == len(BLOCK.findall(DOCUMENT)) > 10
    assert {kind for kind, _ in BLOCK.findall(DOCUMENT)} == {"", "root", "packages", "engine"}
    starts = (
        "docker build ",
        "docker load ",
        "docker run ",
        "docker logs ",
        "docker exec ",
        "docker compose ",
        "curl ",
    )
    lines = "".join(blocks("engine")).replace("\\\n", " ").splitlines()
    assert [line for line in lines if not line.startswith(starts)] == []
    assert blocks("packages") == ["sudo ./install-deps-linux.sh\n"]
    assert "./install-deps-linux.sh" in [each.text for stage in FILE.stages for each in stage.all("RUN")]


def test_images_are_built_by_the_dockerfile() -> None:
    for words in commands("docker build "):
        given = dict(options(words))
        assert given.keys() <= OF_BUILD
        assert ROOT / given["--file"] == DOCKERFILE
        assert given["--tag"] == f"ledgerd:{FILE.stage(given['--target']).name}"
        assert words == ["."]
    arguments = {each.text.partition("=")[0] for stage in FILE.stages for each in stage.all("ARG")}
    assert set(re.findall(r"--build-arg (\w+)=", DOCUMENT)) <= {*arguments, *FILE.arguments}


@pytest.mark.parametrize("words", commands("docker run "), ids=" ".join)
def test_containers_are_run_with_what_the_image_has(words: list[str]) -> None:
    words = list(words)
    given = list(options(words))
    image, *rest = words

    assert {name for name, _ in given} <= OF_RUN
    assert image in {"ledgerd:latest", "ledgerd:testnet"}
    exposed = {port for stage in FILE.stages for each in stage.all("EXPOSE") for port in each.words}
    for name, value in given:
        if name == "--publish":
            outside, inside = value.split(":")[-2:]
            assert outside == inside
            assert inside in exposed
        elif name == "--volume":
            assert value.split(":")[1] in {"/var/lib/ledgerd", "/etc/ledgerd/config.ini"}
            assert value.split(":")[1] in ENTRY
        elif name == "--env":
            assert f"`{value}`" in DOCUMENT
    if rest and rest[0].startswith("-"):
        node_arguments(str, []).parse_args(rest)
    elif rest:
        assert rest[0] == "ledgerd"
        parser().parse_args(rest[1:])


def test_the_other_commands_name_what_there_is() -> None:
    names = {dict(options(list(words)))["--name"] for words in commands("docker run ") if "--name" in words}
    assert {words[-1] for words in commands("docker logs ")} <= names
    assert commands("docker exec ") == [["ledgerd", "ledgerd-entry", "--check-health"]]
    for words in commands("docker compose "):
        given = dict(options(words))
        compose = (ROOT / given["--file"]).read_text(encoding="utf-8")
        assert given.keys() <= OF_COMPOSE
        assert words.pop(0) == "up"
        assert f"\n  {words[-1]}:\n" in compose
        assert given.get("--profile", "") in compose


def test_every_variable_of_the_image_is_told() -> None:
    told = set(re.findall(r"^\| `(\w+)` \|", DOCUMENT, re.MULTILINE))
    read_by_entry = set(re.findall(r"\$\{((?:NODE|LEDGERD)_\w+)", ENTRY))

    assert told == {*read_by_entry, "NODE_SEED_NODES", "NODE_PRIVATE_KEY"}


def test_every_option_of_the_build_is_told(sources: Sources) -> None:
    help_text = succeeded(sources.script("build-linux.sh", "--help")).stdout
    known = set(re.findall(r"(?<![\w-])(--[a-z-]+)", help_text)) - {"--help"}
    short = {"--type": "-t", "--static": "-s"}

    rows = "".join(line for line in DOCUMENT.splitlines() if line.startswith("| `-"))
    assert {name for name in known if f"`{name}`" not in rows and f"`{short.get(name)}`" not in rows} == set()


def test_what_is_done_in_the_sources_works(sources: Sources, tmp_path: Path) -> None:
    script = tmp_path / "commands.sh"
    script.write_text(f"#!/bin/sh\nset -eu\ncd {sources.folder}\n" + "\n".join(blocks("")))
    script.chmod(0o755)

    told = succeeded(sources.script(str(script))).stdout

    assert "(full, mainnet)" in told
    assert "(low memory, mainnet)" in told
    assert "The configuration is sound." in told


def test_a_service_is_installed_as_told(sources: Sources, tmp_path: Path) -> None:
    require_root()
    tools = tmp_path / "own" / "usr" / "local" / "sbin"
    tools.mkdir(parents=True)
    for name in ("systemctl", "journalctl"):
        (tools / name).write_text(f'#!/bin/sh\necho "{name} $*"\n')
        (tools / name).chmod(0o755)
    tmp_path.joinpath("own", "source").mkdir()
    (block,) = blocks("root")
    script = (
        f"set -eu\ncd /source\n{block}\nstat -c '%U %a' /var/lib/ledgerd/config.ini\n/usr/local/bin/ledgerd --version"
    )

    with Container(
        tmp_path,
        Path("/"),
        [],
        ["sh", "-c", script],
        environment={"PYTHON": PLAIN_PYTHON},
        volumes={"/source": sources.folder},
    ) as machine:
        assert machine.wait() == 0, machine.log

    assert "systemctl enable --now ledgerd" in machine.out
    assert "ledgerd 640" in machine.out
    assert machine.out[-1].endswith("(full, mainnet)")
