"""`ledgerd doctor`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.cli.directory.doctor import ERRORS, SOUND, WARNINGS, WRONG_CONFIGURATION
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.doctor.ports import record_inbound
from ledgerd.state.files.lock import lock_writer
from tests.doctor.doubles import PeerDouble, TimeDouble
from tests.node.configurations import COMMITTEE_WIF
from tests.node.processes import PROGRAM, NodeProcess
from tests.plugins.distributions import made_distribution
from tests.ports import free_port

SECRET = "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4"


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[ExaminedNode]:
    """Those that were examined; the examination itself finds `FOUND`."""
    seen: list[ExaminedNode] = []

    def examine(node: ExaminedNode, _wall: object) -> Iterator[Finding]:
        seen.append(node)
        yield from FOUND

    FOUND.clear()
    monkeypatch.setattr("ledgerd.cli.directory.doctor.examine", examine)
    return seen


FOUND: list[Finding] = []

CONFIGURATION = """
chain = testnet
plugin = validator
enable-stale-production = true
required-participation = 0
validator = committee
private-key = {key}
shared-file-size = 64M
webserver-http-endpoint = 127.0.0.1:{http}
p2p-seed-node = 127.0.0.1:{seed}
ntp-server = 127.0.0.1:{time}
"""


def doctor(folder: Path, text: str, *words: str) -> int:
    file = folder / "config.ini"
    file.write_text(text)
    file.chmod(0o600)
    return main(["doctor", "--data-dir", str(folder), *words])


def test_a_sound_node_gets_no_word(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(tmp_path, "p2p-endpoint = 127.0.0.1:2001\np2p-seed-node = 127.0.0.1:2002\n") == SOUND
    assert capsys.readouterr().out == ""
    (node,) = examined
    assert (str(node.p2p_endpoint), *map(str, node.seeds)) == ("127.0.0.1:2001", "127.0.0.1:2002")
    assert not node.is_running


def test_findings_are_printed_with_what_to_do_and_where_to_read(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    FOUND.append(error("head-old", what="it is old", why="it matters", do="do this"))

    assert doctor(tmp_path, "") == ERRORS
    assert capsys.readouterr().out == (
        "error: head-old: it is old\n  why: it matters\n  do:  do this\n  see: docs/doctor.md#head-old\n"
    )
    assert len(examined) == 1


def test_only_warnings_have_a_code_of_their_own(tmp_path: Path, examined: list[ExaminedNode]) -> None:
    FOUND.append(warning("disk-slow", what="it is slow", why="it matters", do="do this"))

    assert doctor(tmp_path, "") == WARNINGS
    assert len(examined) == 1


def test_json_has_all_fields(tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]) -> None:
    FOUND.append(warning("disk-slow", what="it is slow", why="it matters", do="do this"))
    doctor(tmp_path, "", "--json")

    assert json.loads(capsys.readouterr().out) == {
        "format": 1,
        "findings": [
            {
                "name": "disk-slow",
                "severity": "warning",
                "what": "it is slow",
                "why": "it matters",
                "do": "do this",
                "page": "docs/doctor.md#disk-slow",
            }
        ],
        "plugins": [],
    }
    assert len(examined) == 1


def test_plugins_of_others_are_named_with_what_stands_against_them(
    tmp_path: Path,
    examined: list[ExaminedNode],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = 'from ledgerd.plugins import ApiPlugin as A\none, two = A("", api_version="1.0"), A("", api_version="2.0")'
    site = made_distribution(tmp_path / "site", "checked_plugins", source, "one", "two", "node_api")
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))

    assert doctor(tmp_path, "plugin = two\n") == SOUND
    from_it = "of ledgerd-checked_plugins 1.2"
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first.startswith(f"plugin node_api {from_it}: not enabled, it cannot be imported: AttributeError: module")
    assert rest == (
        f"plugin one {from_it}: not enabled, made for version 1.0 of the plugin API\n"
        f"plugin two {from_it}: enabled, it is made for version 2.0 of the plugin API, and this node has 1.0: "
        "get another one\n"
    )
    (node,) = examined
    assert [each.is_shadowed for each in node.plugins] == [True, False, False]


def test_json_of_a_sound_node_is_an_empty_list(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(tmp_path, "", "--json") == SOUND
    assert json.loads(capsys.readouterr().out) == {"format": 1, "findings": [], "plugins": []}
    assert len(examined) == 1


def test_a_wrong_configuration_is_named_and_ends_the_examination(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(tmp_path, "p2p-endpoint = 127.0.0.1\nplugin = nonsense\n") == WRONG_CONFIGURATION
    assert capsys.readouterr().out.count("error: configuration-wrong: ") == 2
    assert examined == []


def test_a_chain_file_that_is_missing_is_a_wrong_configuration(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(tmp_path, "chain = nowhere.toml\n") == WRONG_CONFIGURATION
    assert "nowhere.toml" in capsys.readouterr().out
    assert examined == []


def test_doubtful_and_ignored_options_are_warnings(
    tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]
) -> None:
    text = "required-participation = 33\np2p-stale-sync-detection = true\n"

    assert doctor(tmp_path, text) == WARNINGS
    out = capsys.readouterr().out
    assert "warning: configuration-doubtful: required-participation = 33 is less than one percent" in out
    assert "warning: options-ignored: these options do nothing in this node: p2p-stale-sync-detection" in out
    assert len(examined) == 1


def test_no_key_is_printed(tmp_path: Path, examined: list[ExaminedNode], capsys: pytest.CaptureFixture[str]) -> None:
    FOUND.append(error("key-readable", what=f"{SECRET} and {COMMITTEE_WIF}", why=SECRET, do=SECRET))
    doctor(tmp_path, f"validator = alice\nprivate-key = {SECRET}x\n", "--json")
    doctor(tmp_path, f"plugin = validator\nvalidator = alice\nprivate-key = {SECRET}\n", "--json")

    out = capsys.readouterr().out
    assert SECRET not in out
    assert COMMITTEE_WIF not in out
    (node,) = examined
    assert node.validators == ("alice",)
    assert len(node.signing_keys) == 1


def test_a_running_node_is_known_by_its_lock(tmp_path: Path, examined: list[ExaminedNode]) -> None:
    with lock_writer(tmp_path):
        doctor(tmp_path, "")
    doctor(tmp_path, "")

    assert [node.is_running for node in examined] == [True, False]


def test_options_that_the_node_is_started_with_are_given_after_two_dashes(
    tmp_path: Path, examined: list[ExaminedNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODE_SEED_NODES", "127.0.0.1:2003")
    words = ("--", "--p2p-endpoint=127.0.0.1:2001", "--environment", "--plugin", "snapshot validator")

    assert doctor(tmp_path, "p2p-seed-node = 127.0.0.1:2002\n", *words) == SOUND
    (node,) = examined
    assert (str(node.p2p_endpoint), *map(str, node.seeds)) == ("127.0.0.1:2001", "127.0.0.1:2003")


def test_a_real_node_is_sound_while_it_runs_and_when_it_has_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed, time_server = PeerDouble(), TimeDouble(lambda: time.time_ns() // 1_000)
    p2p, http = free_port(), free_port()
    text = CONFIGURATION.format(key=COMMITTEE_WIF, http=http, seed=seed.endpoint.port, time=time_server.endpoint.port)
    folder = tmp_path / "node"
    folder.mkdir()
    (folder / "config.ini").write_text(text)
    option = f"--p2p-endpoint=127.0.0.1:{p2p}"
    with NodeProcess("--data-dir", str(folder), option, program=PROGRAM) as node:
        node.wait_for("Validated block #3 ")
        assert doctor(folder, text) == WARNINGS
        assert f"not-shown-reachable: p2p-endpoint = 127.0.0.1:{p2p}" in capsys.readouterr().out
        record_inbound(folder, time.time_ns() // 1_000_000_000)
        code = doctor(folder, text)
        assert (capsys.readouterr().out, code) == ("", SOUND)
        assert node.stop() == 0

    code = doctor(folder, text, "--", option)
    assert (capsys.readouterr().out, code) == ("", SOUND)
    for each in (seed, time_server):
        each.close()
