"""`ledgerd api`: whose configuration it reads, what of it counts, and what it refuses."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from ledgerd.cli.main import main, parser
from ledgerd.cli.process.api import configuration_of
from ledgerd.node.workers.api_node.process import ANY_STATE, WITH_HISTORY, plugins_of, settings_of
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from tests.node.configurations import COMMITTEE_WIF

OF_THE_NODE = """\
webserver-http-endpoint = 127.0.0.1:8090
webserver-ws-endpoint = 127.0.0.1:8091
metrics-endpoint = 127.0.0.1:9190
webserver-thread-pool-size = 5
webserver-max-batch-size = 7
plugin = database_api raw_block
shared-file-dir = elsewhere

[log.console_appender.stderr]
stream = std_error

[logger.default]
level = warn
appenders = stderr
"""
OTHER_WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


FOLLOWING = ("--http", "127.0.0.1:0", "--follow")
MISSING_FILES = (
    *("--follow-certificate", "no-own.pem", "--follow-certificate-key", "no-own.key"),
    *("--follow-authority", "no-authority.pem"),
)


def chosen(folder: Path, *words: str) -> argparse.Namespace:
    return parser(["api"]).parse_args(["api", "--data-dir", str(folder), *words])


def test_the_configuration_of_the_node_counts_but_for_its_addresses_and_its_log(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(OF_THE_NODE, encoding="utf-8")

    found = configuration_of(chosen(tmp_path, "--http", "127.0.0.1:8190", "--workers", "1"))

    assert found.webserver.http_endpoint == Endpoint("127.0.0.1", 8190)
    assert (found.webserver.ws_endpoint, found.metrics.endpoint, found.logging) == (None, None, None)
    assert (found.webserver.thread_pool_size, found.webserver.limits.batch) == (1, 7)
    assert set(plugins_of(found)) >= {"database_api", "raw_block"}
    assert "committee_api" not in plugins_of(found)
    assert settings_of(found, "").state == str(tmp_path / "elsewhere")


def test_a_configuration_of_its_own_counts_whole(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text("webserver-max-batch-size = 1\n", encoding="utf-8")
    own = tmp_path / "own.ini"
    own.write_text(OF_THE_NODE, encoding="utf-8")

    found = configuration_of(chosen(tmp_path, "--config-file", str(own), "--history", "postgresql:///ledger"))

    assert found.webserver.http_endpoint == Endpoint("127.0.0.1", 8090)
    assert found.metrics.endpoint == Endpoint("127.0.0.1", 9190)
    assert found.logging is not None
    assert (found.webserver.limits.batch, found.history.store) == (7, "postgresql:///ledger")


def test_where_no_plugin_is_named_what_any_state_has_is_served(tmp_path: Path) -> None:
    words = ("--http", "127.0.0.1:0")
    assert plugins_of(configuration_of(chosen(tmp_path, *words))) == ANY_STATE
    (tmp_path / "history").mkdir()
    assert plugins_of(configuration_of(chosen(tmp_path, *words))) == (*ANY_STATE, *WITH_HISTORY)
    assert plugins_of(configuration_of(chosen(tmp_path, *words, "--plugin", "raw_block")))[:2] == (
        "json_rpc",
        "chain",
    )


def test_a_file_with_a_private_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(f"# private-key = {OTHER_WIF}\n", encoding="utf-8")
    with pytest.raises(OperatorError, match="holds a private key, which an API node has no use for") as refused:
        configuration_of(chosen(tmp_path, "--http", "127.0.0.1:0"))
    assert OTHER_WIF not in str(refused.value)
    (tmp_path / "config.ini").write_text(f"emergency-private-key = {COMMITTEE_WIF}\n", encoding="utf-8")
    assert configuration_of(chosen(tmp_path, "--http", "127.0.0.1:0")).webserver.http_endpoint is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is nothing to listen on: give --http HOST:PORT, --ws HOST:PORT or both"),
        (("--http", "here"), "webserver-http-endpoint"),
        (("--http", "127.0.0.1:0", "--node", "nowhere"), "nowhere is no address of a node"),
        (("--http", "127.0.0.1:0", "--history", "sqlite:"), "history-store"),
        (("--http", "127.0.0.1:0", "--workers", "0"), "webserver-thread-pool-size"),
        (("--http", "127.0.0.1:0", "--http", "127.0.0.1:1"), "cannot be specified more than once"),
        ((*FOLLOWING, "http://a:1"), "--follow is neither unix:/PATH nor tcp://HOST:PORT"),
        ((*FOLLOWING, "tcp://127.0.0.1:99999"), "--follow is neither unix:/PATH nor tcp://HOST:PORT"),
        ((*FOLLOWING, "tcp://192.0.2.1:8095"), "--follow: without certificates it must be an address of this machine"),
        ((*FOLLOWING, "unix:/a", "--follow-authority", "b"), "--follow: a Unix socket needs no certificates"),
        (("--http", "127.0.0.1:0", "--follow-authority", "b"), "--follow: the certificates are for a place, and none"),
        ((*FOLLOWING, "tcp://a:1", "--follow-authority", "b"), "--follow: the certificate, its key and the authority"),
        ((*FOLLOWING, "tcp://a:1", *MISSING_FILES), "no-authority.pem holds no certificate"),
        ((*FOLLOWING, "unix:/a", "--shared-file-dir", "b"), "leave shared-file-dir out"),
    ],
)
def test_what_it_is_told_wrongly_is_said(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=f"^{WRONG_CONFIGURATION}$"):
        main(["api", "--data-dir", str(tmp_path), *words])
    assert said in capsys.readouterr().err


def test_the_directory_of_a_node_is_not_replaced_by_a_replica(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "data.mdb").write_bytes(b"of a node")

    with pytest.raises(SystemExit, match=f"^{WRONG_CONFIGURATION}$"):
        main(["api", "--data-dir", str(tmp_path), *FOLLOWING, "unix:/a"])

    assert "holds the state of a node: give the replica a --data-dir of its own" in capsys.readouterr().err
    assert (tmp_path / "state" / "data.mdb").read_bytes() == b"of a node"
