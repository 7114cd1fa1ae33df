from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.options.application import DEPENDENCIES
from ledgerd.node.config.options.sections import SECTIONS
from ledgerd.node.config.templates import TEMPLATES, file_options
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.networks.chain_file import parameters_of
from scripts.generate_configuration_docs import DOCUMENT, FOLDER, with_options
from tests.node.configurations import COMMITTEE_KEY

OPTION = re.compile(r"^(?:# )?([a-z0-9-]+) = ", re.MULTILINE)
EVERY_NAME = {option.name for section in SECTIONS.values() for option in section.options}

LEFT_OUT = {"testnet_plugin", "block_archive", "state_api"}
"""Of networks of tests, one that fills the disk without end, and one that answers from what is not kept by default."""


def configured(name: str, folder: Path) -> Configuration:
    return read_configuration({"config-file": [str(FOLDER / name)], "data-dir": ["data"]}, folder)


def test_the_templates_of_the_repository_are_those_of_the_program() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}

    assert written == {name: template.text() for name, template in TEMPLATES.items()}, "run `make docs`"


def test_the_document_names_every_option() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert with_options(document) == document, "run `make docs`"
    assert {name for name in EVERY_NAME if f"| `{name}` |" not in document} == set()


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_explains_every_option_once_and_no_other(name: str) -> None:
    named = list(dict.fromkeys(OPTION.findall(TEMPLATES[name].text().partition("# logging:")[0])))

    assert named == [option.name for option in file_options()]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_comment_stands_before_each_option_of_a_template(name: str) -> None:
    blocks = TEMPLATES[name].text().partition("# logging:")[0].split("\n\n")

    explained = [block for block in blocks if OPTION.search(block)]
    assert all(re.match(r"# [A-Z]", block) for block in explained)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_read_without_a_remark(name: str, tmp_path: Path) -> None:
    configuration = configured(name, tmp_path)

    assert configuration.remarks == configuration.without_meaning == ()
    assert configuration.logging is not None


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_a_template_leaves_out_could_be_switched_on(name: str, tmp_path: Path) -> None:
    (tmp_path / "signing.key").write_text("", encoding="utf-8")
    (tmp_path / "signing.key").chmod(0o600)
    text = (FOLDER / name).read_text(encoding="utf-8")
    switched_on = "\n".join(
        line.removeprefix("# ")
        if OPTION.match(line) and not re.search("private-key =|guard-val|blacklist|validator-signer", line)
        else line
        for line in text.splitlines()
    )
    (tmp_path / "config.ini").write_text(switched_on, encoding="utf-8")

    read_configuration({"data-dir": ["."]}, tmp_path)


@pytest.mark.parametrize("name", ["config.ini", "config_witness.ini"])
def test_the_ports_of_the_main_network_are_those_that_are_documented(name: str, tmp_path: Path) -> None:
    configuration = configured(name, tmp_path)

    assert str(configuration.p2p.endpoint) == "0.0.0.0:2001"
    assert {peer.port for peer in configuration.p2p.seeds} == {2001}
    assert len(configuration.p2p.seeds) == 3
    assert configuration.webserver.http_endpoint is not None
    assert configuration.webserver.ws_endpoint is not None
    assert (configuration.webserver.http_endpoint.port, configuration.webserver.ws_endpoint.port) == (8090, 8091)
    assert configuration.chain.shared_file_size == 4 << 30
    assert configuration.application.chain == "mainnet"
    assert configuration.validator.keys == {}


def test_a_full_node_answers_everybody_with_every_plugin(tmp_path: Path) -> None:
    configuration = configured("config.ini", tmp_path)

    assert set(configuration.application.plugins) == set(DEPENDENCIES) - LEFT_OUT - {"validator_guard"}
    assert str(configuration.webserver.http_endpoint) == "0.0.0.0:8090"
    assert str(configuration.webserver.ws_endpoint) == "0.0.0.0:8091"


def test_a_validator_answers_its_own_machine_alone(tmp_path: Path) -> None:
    configuration = configured("config_witness.ini", tmp_path)
    webserver = configuration.webserver

    served = [webserver.http_endpoint, webserver.ws_endpoint, webserver.rpc_endpoint]
    assert [endpoint.host for endpoint in served if endpoint is not None] == ["127.0.0.1", "127.0.0.1"]
    assert set(configuration.application.plugins) == set(DEPENDENCIES) - LEFT_OUT
    assert configuration.validator.required_participation == 3300
    assert configuration.validator.names == ()
    assert not configuration.validator.allows_stale


def test_a_test_network_makes_blocks_by_itself(tmp_path: Path) -> None:
    configuration = configured("config_testnet.ini", tmp_path)

    assert parameters_of(configuration.application.chain).name == "VIZTEST"
    assert configuration.validator.names == ("committee",)
    assert [public_key_text(key.public) for key in configuration.validator.keys.values()] == [COMMITTEE_KEY]
    assert configuration.validator.allows_stale
    assert configuration.validator.required_participation == 0
    assert configuration.p2p.seeds == ()
    assert configuration.snapshot.trusted_peers == ()
    assert str(configuration.p2p.endpoint) == "0.0.0.0:2001"
