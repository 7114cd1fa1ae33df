from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.cli import main
from ledgerd.cli.process.version import BLOCKCHAIN_VERSION
from ledgerd.node.config.options.sections import every_option
from ledgerd.node.config.templates import TEMPLATES
from ledgerd.protocol.networks.parameters import NETWORKS
from ledgerd.protocol.types.versions import version_text
from tests.node.configurations import COMMITTEE_KEY, COMMITTEE_WIF


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stopped(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert isinstance(stop.value.code, int)
    return stop.value.code


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped("--help") == 0

    words = capsys.readouterr().out.replace(",", " ").split()
    assert [option.name for option in every_option() if f"--{option.name}" not in words] == []
    assert "--help" in words
    assert "--version" in words


def test_help_fits_on_a_terminal_and_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped("-h") == 0

    help_text = capsys.readouterr().out
    assert max(map(len, help_text.splitlines())) <= 100
    assert "Commands: init, doctor, adopt, compare" in help_text


def test_the_announced_version_is_that_of_the_networks() -> None:
    assert {version_text(network.version) for network in NETWORKS.values()} == {BLOCKCHAIN_VERSION}


def test_the_configuration_is_checked_and_what_was_understood_is_printed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine.ini").write_text(f"# mine\nprivate-key = {COMMITTEE_WIF}\nwitness = viz\nsingle-write-thread = 1")

    code = main(["--config-file", "mine.ini", "--check-config", "--p2p-endpoint", "--validator=bob"])

    out = capsys.readouterr().out
    assert code == 0
    assert f"configuration file: {here}/mine.ini\n" in out
    assert "  p2p-endpoint = 127.0.0.1:9876    [command line]\n" in out
    assert '  validator = "viz" "bob"    [mine.ini:3, command line]\n' in out
    assert f"  private-key = (the private key of {COMMITTEE_KEY})    [mine.ini:2]\n" in out
    assert COMMITTEE_WIF not in out
    assert "note: without meaning to this node: single-write-thread\n" in out
    assert out.endswith("The configuration is sound.\n")


def test_a_check_writes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check-config", "--data-dir", "data"]) == 0
    assert "data/config.ini (missing: every option has its default)" in capsys.readouterr().out
    assert list(here.iterdir()) == []


def test_a_wrong_configuration_ends_with_2_and_all_that_is_wrong(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mine.ini").write_text("plugn = chain\nskip-virtual-ops = perhaps")

    assert main(["--config-file", "mine.ini", "--check-config"]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.partition(": ")[2].partition(": ")[0] for line in printed.err.splitlines()] == [
        f"{here}/mine.ini:1",
        f"{here}/mine.ini:2",
    ]


def test_a_network_whose_file_is_not_there_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check-config", "--chain", "mine.toml"]) == 2
    assert "mine.toml: there is no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--p2p-endpont", "x"], "unrecognised option '--p2p-endpont'; the nearest one is --p2p-endpoint"),
        (["--chain"], "argument --chain: expected one argument"),
        (["--check-config=yes"], "argument --check-config: ignored explicit argument 'yes'"),
        (["--webserver-ca", "1"], "ambiguous option: --webserver-ca could match"),
        (["--check-config", "word"], "word: the node takes options, and no words beside them"),
    ],
)
def test_a_wrong_command_line_ends_with_2(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert stopped(*words) == 2
    assert capsys.readouterr().err.startswith(f"ledgerd: command line: {message}")


@pytest.mark.parametrize("word", ["--conf", "--config", "-c"])
def test_the_beginning_of_a_name_is_enough(word: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([word, "my.ini", "--check-conf", "-ddata"]) == 0
    assert f"{here}/data/my.ini" in capsys.readouterr().out


def test_options_that_the_reference_confuses_work_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--plugin", "validator", "--witness", '"bob"', f"--private-key={COMMITTEE_WIF}", "--ntp-server", "a.org"]

    assert main([*words, "--enable-stale-production", "--required-participation", "0", "--check-config"]) == 0
    assert '  validator = "bob"    [command line]\n' in capsys.readouterr().out


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_printed_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-template", name]) == 0
    assert capsys.readouterr().out == TEMPLATES[name].text()


def test_a_template_that_is_not_there_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-template", "other.ini"]) == 2
    assert "--print-template other.ini: is none of them" in capsys.readouterr().err
