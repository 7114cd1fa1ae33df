"""How the options of a configuration reach the parts of the node."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ledgerd.history.settings import HistorySettings
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.parts.production import asks_for_time
from ledgerd.node.workers.settings import WorkerSettings, worker_settings
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.workers import endpoints_of
from tests.chain.networks import COMMITTEE_KEY


def configured(tmp_path: Path, **options: list[str]) -> Configuration:
    words = {name.replace("_", "-"): texts for name, texts in options.items()}
    return read_configuration({"data-dir": [str(tmp_path)], **words}, tmp_path)


def test_a_producer_has_the_names_and_keys_of_all_options(tmp_path: Path) -> None:
    settings = configured(tmp_path, validator=['"viz"'], emergency_private_key=[COMMITTEE_KEY.wif]).validator

    assert settings.names == ("committee", "viz")
    assert list(settings.keys) == [COMMITTEE_KEY.public]
    assert settings.required_participation == 3300
    assert COMMITTEE_KEY.wif not in repr(settings)


@pytest.mark.parametrize(
    ("options", "of_one", "asks"),
    [
        ({}, False, False),
        ({"validator": ['"viz"']}, False, True),
        ({"validator": ['"viz"']}, True, False),
        ({"validator": ['"viz"'], "ntp_server": ["127.0.0.1:9"]}, True, True),
        ({"ntp_server": ["127.0.0.1:9"]}, False, False),
    ],
)
def test_only_a_producer_with_others_to_agree_with_asks_for_the_time(
    tmp_path: Path, options: dict[str, list[str]], of_one: bool, asks: bool
) -> None:
    assert asks_for_time(configured(tmp_path, **options), is_network_of_one=of_one) is asks


def test_one_port_for_both_kinds_is_one_endpoint(tmp_path: Path) -> None:
    both = configured(
        tmp_path, webserver_http_endpoint=["127.0.0.1:8090"], webserver_ws_endpoint=["127.0.0.1:8090"]
    ).webserver
    two = configured(
        tmp_path, webserver_http_endpoint=["127.0.0.1:8090"], webserver_ws_endpoint=["127.0.0.1:8091"]
    ).webserver

    http, websocket = "webserver-http-endpoint", "webserver-ws-endpoint"
    assert endpoints_of(both) == [("127.0.0.1", 8090, Speech.BOTH, http)]
    assert endpoints_of(two) == [
        ("127.0.0.1", 8090, Speech.HTTP, http),
        ("127.0.0.1", 8091, Speech.WEBSOCKET, websocket),
    ]
    assert endpoints_of(configured(tmp_path).webserver) == []


def test_the_limits_of_clients_are_those_of_the_options(tmp_path: Path) -> None:
    options = configured(tmp_path, webserver_max_batch_size=["0"], webserver_request_timeout_sec=["7"])

    assert (options.webserver.limits.batch, options.webserver.limits.request_seconds) == (0, 7)
    assert options.webserver.limits.connections == 1024


def test_a_worker_is_told_what_it_needs_of_the_configuration(tmp_path: Path) -> None:
    told = worker_settings(
        configured(
            tmp_path, plugin=["account_history"], history_count_blocks=["9"], track_account_range=['["alice","bob"]']
        )
    )

    assert msgspec.json.decode(msgspec.json.encode(told), type=WorkerSettings) == told
    assert (told.data_dir, told.state) == (str(tmp_path), str(tmp_path / "state"))
    assert "operation_history" in told.plugins
    assert told.history == HistorySettings(count_blocks=9, account_ranges=(("alice", "bob"),))
    assert told.cached_answers == 10_000


def test_without_their_plugins_there_are_no_histories(tmp_path: Path) -> None:
    told = worker_settings(
        configured(tmp_path, plugin=["database_api"], skip_virtual_ops=["true"], webserver_cache_enabled=["false"])
    )

    assert "operation_history" not in told.plugins
    assert not told.history.keep_accounts
    assert told.history.skip_virtual
    assert told.cached_answers == 0


def test_peers_know_whether_the_emergency_key_is_here(tmp_path: Path) -> None:
    assert not configured(tmp_path, p2p_seed_node=["127.0.0.1:9"]).p2p.has_emergency_key
    assert configured(tmp_path, emergency_private_key=[COMMITTEE_KEY.wif]).p2p.has_emergency_key
