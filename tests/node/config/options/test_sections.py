from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.options.application import ALWAYS, DEPENDENCIES, with_dependencies
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.types.endpoint import Endpoint
from tests.node.configurations import COMMITTEE_KEY, COMMITTEE_WIF, problems, read

VIZ_WIF = "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4"
VIZ_KEY = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"


def test_plugins_start_in_the_order_of_the_reference() -> None:
    lines = """validator / chain p2p / network_broadcast_api database_api / json_rpc webserver / committee_api
    invite_api validator_api paid_subscription_api custom_protocol_api / account_by_key block_info raw_block /
    operation_history / account_history / snapshot"""

    assert " ".join(with_dependencies(tuple(lines.replace("/", "").split()))) == (
        "json_rpc chain p2p snapshot validator network_broadcast_api database_api webserver committee_api invite_api "
        "validator_api paid_subscription_api custom_protocol_api account_by_key block_info raw_block operation_history "
        "account_history"
    )


@pytest.mark.parametrize("name", DEPENDENCIES)
def test_each_plugin_starts_after_those_that_it_depends_on(name: str) -> None:
    order = with_dependencies((name,))

    assert len(order) == len(set(order))
    assert {name, *ALWAYS} <= set(order)
    assert all(order.index(needed) < order.index(each) for each in order for needed in DEPENDENCIES[each])


def test_lists_of_plugins_may_have_empty_places(tmp_path: Path) -> None:
    plugins = read(tmp_path, "plugin = raw_block  ,\tblock_info,\nplugin =").application.plugins

    assert plugins == ("json_rpc", "chain", "raw_block", "block_info", "p2p", "webserver")


def test_an_unknown_plugin_brings_the_nearest_one(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "plugin = chain databse_api")

    assert problem.startswith(
        "FILE:1: plugin = databse_api: names no plugin; the nearest one is database_api; of others none is"
    )


@pytest.mark.parametrize("network", ["mainnet", "testnet"])
def test_a_network_is_chosen_by_a_word(tmp_path: Path, network: str) -> None:
    assert read(tmp_path, f"chain = {network}").application.chain == network


def test_the_file_of_a_network_is_relative_to_the_current_directory(tmp_path: Path) -> None:
    assert read(tmp_path, "chain = mine.toml").application.chain == str(tmp_path / "mine.toml")


def test_the_write_wait_is_the_sum_of_all_attempts(tmp_path: Path) -> None:
    assert read(tmp_path, "max-write-wait-retries = 2").chain.write_wait == 1.5


def test_the_directory_of_the_state_is_relative_to_the_data_directory(tmp_path: Path) -> None:
    assert read(tmp_path, "").chain.shared_file_dir == tmp_path / "node_data_dir" / "state"
    assert read(tmp_path, "shared-file-dir = /srv/state").chain.shared_file_dir == Path("/srv/state")


def test_the_interval_of_statistics_has_a_floor(tmp_path: Path) -> None:
    assert read(tmp_path, "dlt-stats-interval-sec = 5").p2p.stats_interval_sec == 30


def test_the_endpoint_of_rpc_stands_for_both_where_neither_is_given(tmp_path: Path) -> None:
    webserver = read(tmp_path, "rpc-endpoint = localhost:8090").webserver

    assert webserver.http_endpoint == webserver.ws_endpoint == Endpoint("localhost", 8090)


def test_the_endpoint_of_rpc_is_ignored_with_a_remark_beside_another(tmp_path: Path) -> None:
    configuration = read(tmp_path, "rpc-endpoint = localhost:8090\nwebserver-ws-endpoint = localhost:8091")

    assert configuration.webserver.http_endpoint is None
    assert configuration.remarks == (
        "rpc-endpoint is ignored, since webserver-http-endpoint or webserver-ws-endpoint is given",
    )


def test_nobody_answers_without_a_process_to_answer(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "webserver-thread-pool-size = 0")

    assert problem.startswith("FILE:1: webserver-thread-pool-size = 0: is not between 1 and 4294967295.")


def test_validators_of_both_names_are_one_set(tmp_path: Path) -> None:
    configuration = read(tmp_path, 'validator = "viz"\nvalidator = bob\nwitness = "alice"', validator=("bob",))

    assert configuration.validator.names == ("alice", "bob", "viz")
    assert len(configuration.remarks) == 1


def test_a_key_for_emergencies_is_a_key_and_makes_the_committee_a_validator(tmp_path: Path) -> None:
    validator = read(tmp_path, f"private-key = {VIZ_WIF}\nemergency-private-key = {COMMITTEE_WIF}").validator

    assert validator.names == ("committee",)
    assert [public_key_text(key.public) for key in validator.keys.values()] == [VIZ_KEY, COMMITTEE_KEY]


def test_keys_are_read_from_files_of_the_data_directory(tmp_path: Path) -> None:
    (tmp_path / "node_data_dir").mkdir()
    file = tmp_path / "node_data_dir" / "signing.key"
    file.write_text(f"# mine\n\n{VIZ_WIF}  # the first\n{COMMITTEE_WIF}\n", encoding="utf-8")
    file.chmod(0o600)

    configuration = read(tmp_path, f"private-key = {VIZ_WIF}\nprivate-key-file = signing.key")

    keys = [public_key_text(key.public) for key in configuration.validator.keys.values()]
    assert keys == [VIZ_KEY, COMMITTEE_KEY]
    [remark] = configuration.remarks
    assert remark.endswith("config.ini")
    assert VIZ_WIF not in repr(configuration)


def test_a_file_of_keys_that_others_may_open_is_remarked_upon(tmp_path: Path) -> None:
    file = tmp_path / "open.key"
    file.write_text(VIZ_WIF, encoding="utf-8")
    file.chmod(0o640)

    (remark,) = read(tmp_path, f"private-key-file = {file}").remarks

    assert remark.endswith(f"chmod 600 {file}")


def test_a_fault_in_a_file_of_keys_names_its_line_and_no_key(tmp_path: Path) -> None:
    file = tmp_path / "signing.key"
    file.write_text(f"{VIZ_WIF}\n{VIZ_WIF[:-1]}\n", encoding="utf-8")

    assert problems(tmp_path, f"private-key-file = {file}") == [
        f"FILE:1: private-key-file {file}: line 2 is not a private key in WIF"
    ]


def test_a_file_of_keys_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    assert problems(tmp_path, "", private_key_file=("none.key",)) == [
        f"command line: private-key-file {tmp_path}/node_data_dir/none.key cannot be read: No such file or directory"
    ]


@pytest.mark.parametrize(("value", "remarks"), [("0", 0), ("1", 1), ("99", 1), ("100", 0), ("3300", 0)])
def test_a_participation_in_whole_percent_is_remarked_upon(tmp_path: Path, value: str, remarks: int) -> None:
    assert len(read(tmp_path, f"required-participation = {value}").remarks) == remarks


def test_some_numbers_are_never_zero(tmp_path: Path) -> None:
    names = ("ntp-history-size", "validator-guard-interval", "history-purge-interval")
    configuration = read(tmp_path, "\n".join(f"{name} = 0" for name in names))

    assert configuration.validator.ntp.history_size == 1
    assert configuration.validator_guard.interval == 1
    assert configuration.history.purge_interval == 1


def test_the_names_of_guards_that_never_took_effect_do_not_here_either(tmp_path: Path) -> None:
    configuration = read(tmp_path, "witness-guard-enabled = false")

    assert configuration.validator_guard.enabled
    assert configuration.without_meaning == ("witness-guard-enabled",)


@pytest.mark.parametrize(
    ("value", "directory"), [("", "node_data_dir/snapshots"), (".", ""), ("mine", "mine"), ("/srv/x", "/srv/x")]
)
def test_the_directory_of_snapshots_is_relative_to_the_current_directory(
    tmp_path: Path, value: str, directory: str
) -> None:
    assert read(tmp_path, f"snapshot-dir = {value}").snapshot.directory == tmp_path / directory


def test_a_first_snapshot_needs_somebody_to_fetch_it_from(tmp_path: Path) -> None:
    assert len(read(tmp_path, "sync-snapshot-from-trusted-peer = true").remarks) == 1
    assert read(tmp_path, "sync-snapshot-from-trusted-peer = true\ntrusted-snapshot-peer = a:1").remarks == ()


def test_operations_are_either_listed_or_left_out(tmp_path: Path) -> None:
    assert read(tmp_path, "history-whitelist-ops = a_operation, b_operation").history.whitelist == (
        "a_operation",
        "b_operation",
    )
    assert problems(tmp_path, "history-whitelist-ops = a\nhistory-blacklist-ops = b") == [
        "FILE:2: history-blacklist-ops cannot stand beside history-whitelist-ops: keep one of the two"
    ]


@pytest.mark.parametrize(("value", "faults"), [("255", 0), ("256", 1)])
def test_the_store_of_custom_operations_ends_at_255(tmp_path: Path, value: str, faults: int) -> None:
    text = f"custom-protocol-store-size = {value}"

    if faults:
        assert len(problems(tmp_path, text)) == faults
    else:
        assert read(tmp_path, text).custom_protocol.store_size == 255


def test_a_replay_from_a_snapshot_needs_one(tmp_path: Path) -> None:
    assert problems(tmp_path, "", replay_from_snapshot=("true",)) == [
        "command line: replay-from-snapshot needs --snapshot PATH or --snapshot-auto-latest"
    ]
    invocation = read(tmp_path, "", replay_from_snapshot=("true",), snapshot=("x.vizjson",)).invocation
    assert invocation.snapshot == tmp_path / "x.vizjson"
