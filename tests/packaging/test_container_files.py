"""The Dockerfile, the compose file and the unit of the system: they name what there is, and agree with each other."""

from __future__ import annotations

import re
from configparser import RawConfigParser
from fnmatch import fnmatch
from pathlib import Path

import pytest

from ledgerd.node.config.options.sections import BY_NAME
from tests.house.source_tree import ROOT
from tests.packaging.conftest import DOCKERFILE
from tests.packaging.dockerfile import Stage, read_dockerfile

FILE = read_dockerfile(DOCKERFILE)
SERVICE = ROOT / "share" / "ledgerd" / "systemd" / "ledgerd.service"
COMPOSE = (DOCKERFILE.parent / "compose.yaml").read_text(encoding="utf-8")


def ignored(path: str) -> bool:
    """Whether the build of the image does not see a file of the sources."""
    patterns = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    hidden = False
    for pattern in patterns:
        rule = pattern.removeprefix("!")
        if pattern and not pattern.startswith("#") and (fnmatch(path, rule) or path.startswith(f"{rule}/")):
            hidden = not pattern.startswith("!")
    return hidden


def chain(name: str) -> list[Stage]:
    return FILE.chain(name)


def single(image: str, name: str) -> str:
    (text,) = [each.text for stage in chain(image) for each in stage.all(name)]
    return text


@pytest.mark.parametrize("stage", FILE.stages, ids=lambda stage: stage.name)
def test_what_is_copied_into_an_image_exists(stage: Stage) -> None:
    for each in stage.all("COPY"):
        words = each.words
        if words[0].startswith("--from="):
            assert FILE.stage(words[0].removeprefix("--from=")).all("RUN")
            assert words[1:] == ["/source/build/programs/ledgerd", "/usr/local/lib/ledgerd"]
            continue
        for source in words[:-1]:
            assert (ROOT / source).exists()
            assert not ignored(source)


def test_nothing_else_of_the_sources_is_seen_by_the_build() -> None:
    assert all(map(ignored, ("tests/vectors", "docs", ".git", ".venv", "build")))


def test_the_image_that_is_built_unless_told_otherwise_is_the_latest() -> None:
    assert FILE.stages[-1].name == "latest"
    assert {stage.name for stage in FILE.stages} >= {"latest", "testnet"}


@pytest.mark.parametrize("image", ["latest", "testnet"])
def test_an_image_is_run_as_the_requirements_say(image: str) -> None:
    assert single(image, "EXPOSE").split() == ["2001", "8090", "8091"]
    assert single(image, "VOLUME") == "/var/lib/ledgerd"
    assert single(image, "ENTRYPOINT") == '["ledgerd-entry"]'
    assert single(image, "HEALTHCHECK").endswith('CMD ["ledgerd-entry", "--check-health"]')


def test_each_image_begins_with_the_template_of_its_kind() -> None:
    templates = {image: chain(image)[-1].all("ENV")[0].text for image in ("latest", "testnet")}

    assert templates == {
        "latest": "LEDGERD_TEMPLATE=config.ini",
        "testnet": "LEDGERD_TEMPLATE=config_testnet.ini",
    }
    assert "--testnet" in FILE.stage("build-testnet").all("RUN")[0].text


def test_the_node_of_an_image_is_nobody_special() -> None:
    made = next(each.text for each in FILE.stage("base").all("RUN") if "useradd" in each.text)
    entry = (DOCKERFILE.parent / "entry.sh").read_text(encoding="utf-8")

    assert "--uid 2001 --gid ledgerd" in made
    assert "user=ledgerd\n" in entry
    assert '--reuid "$user"' in entry
    assert "--no-new-privs" in entry


def test_a_dockerfile_with_an_instruction_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM x AS y\nADD a b\n")

    with pytest.raises(ValueError, match="ADD a b"):
        read_dockerfile(tmp_path / "Dockerfile")


def test_lines_that_go_on_and_comments_between_them_are_read_as_docker_does(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("ARG B=x\nFROM ${B} AS y\nRUN one \\\n# why\n    && two\nCOPY a b c/\n")

    (stage,) = read_dockerfile(tmp_path / "Dockerfile").stages

    assert (stage.name, stage.base) == ("y", "x")
    assert [each.text for each in stage.instructions] == ["one && two", "a b c/"]


def test_the_compose_file_names_what_there_is() -> None:
    for path in re.findall(r"dockerfile: (.+)", COMPOSE):
        assert ROOT / path == DOCKERFILE
    assert (DOCKERFILE.parent / re.findall(r"context: (.+)", COMPOSE)[0]).resolve() == ROOT
    assert set(re.findall(r"target: (.+)", COMPOSE)) <= {stage.name for stage in FILE.stages}
    assert set(re.findall(r"- \./[\w-]+:(.+)", COMPOSE)) == {"/var/lib/ledgerd"}
    exposed = set(single("latest", "EXPOSE").split())
    assert {inside for _, inside in re.findall(r'- "(?:[\d.]+:)?(\d+):(\d+)"', COMPOSE)} == exposed
    assert "\t" not in COMPOSE


MONITORING = ROOT / "share" / "ledgerd" / "monitoring"
WATCHED = (MONITORING / "compose.yaml").read_text(encoding="utf-8")


def test_the_compose_file_of_the_monitoring_names_what_there_is() -> None:
    """No engine runs it here: its paths, ports and options are those of the files that it brings together."""
    assert (MONITORING / re.findall(r"context: (.+)", WATCHED)[0]).resolve() == ROOT
    assert [ROOT / path for path in re.findall(r"dockerfile: (.+)", WATCHED)] == [DOCKERFILE]
    assert set(re.findall(r"target: (.+)", WATCHED)) <= {stage.name for stage in FILE.stages}
    mounted = dict(re.findall(r"- (\./[\w./-]+):([\w./-]+):ro", WATCHED))
    assert [path for path in mounted if not (MONITORING / path).exists()] == []
    services = re.findall(r"^  (\w+):$", WATCHED.partition("\nvolumes:")[0], re.MULTILINE)
    assert services == ["node", "prometheus", "grafana"]
    configured = re.findall(r"--config.file=([\w./-]+)", WATCHED)[0]
    scraped = (MONITORING / "prometheus-compose.yml").read_text(encoding="utf-8")
    assert mounted[f"./{Path(configured).name}"] == configured
    rules = re.findall(r"rule_files:\n  - (.+)", scraped)
    assert [mounted[f"./{each}"] for each in rules] == [str(Path(configured).parent / each) for each in rules]
    [(host, port)] = re.findall(r'targets: \["(\w+):(\d+)"\]', scraped)
    assert host in services
    assert f"--metrics-endpoint=0.0.0.0:{port}" in WATCHED
    source = (MONITORING / "grafana" / "datasource.yaml").read_text(encoding="utf-8")
    assert re.findall(r"url: http://(\w+):9090", source) == ["prometheus"]
    boards = re.findall(r"path: (.+)", (MONITORING / "grafana" / "dashboards.yaml").read_text(encoding="utf-8"))
    assert boards == [mounted["./dashboards"]]
    assert {each for each in re.findall(r'- "(.+):\d+:\d+"', WATCHED) if each} == {"127.0.0.1"}
    assert "untested with a container engine" in (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
    assert "metrics-endpoint" in BY_NAME


def test_the_unit_lets_processes_give_way_and_ends_none_without_a_word() -> None:
    lines = SERVICE.read_text(encoding="utf-8").splitlines()
    filters = [line.partition("=")[2].split() for line in lines if line.startswith("SystemCallFilter=")]
    denied = next(place for place, words in enumerate(filters) if words[0].startswith("~") and "@resources" in words)

    assert any("setpriority" in words for words in filters[denied + 1 :])
    assert "SystemCallErrorNumber=EPERM" in lines


def test_the_unit_restarts_confines_and_waits() -> None:
    unit = RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # the names of systemd have capitals
    unit.read(SERVICE, encoding="utf-8")
    service = unit["Service"]

    assert service["ExecStart"].split() == ["/usr/local/bin/ledgerd", "--data-dir", "/var/lib/ledgerd"]
    assert service["Restart"] == "on-failure"
    assert int(service["TimeoutStopSec"]) >= 30
    assert service["KillMode"] == "mixed"
    assert service["StateDirectory"] == "ledgerd"
    assert (service["User"], service["NoNewPrivileges"], service["ProtectSystem"]) == ("ledgerd", "yes", "strict")
    assert service["CapabilityBoundingSet"] == ""
