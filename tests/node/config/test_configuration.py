from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration, read_invocation, write_default_file
from ledgerd.node.config.given import MOST_PROBLEMS, ConfigurationError
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from tests.node.configurations import read


def test_the_command_line_goes_before_the_file_and_the_file_before_the_default(tmp_path: Path) -> None:
    text = "p2p-max-connections = 7\nshared-file-size = 4G"

    configuration = read(tmp_path, text, p2p_max_connections=("9",))

    assert configuration.p2p.max_connections == 9
    assert configuration.chain.shared_file_size == 4 << 30
    assert configuration.chain.inc_shared_file_size == 2 << 30


def test_lists_are_merged_with_those_of_the_command_line_first(tmp_path: Path) -> None:
    configuration = read(tmp_path, "p2p-seed-node = a:1\np2p-seed-node = b:2", p2p_seed_node=("c:3",))

    assert configuration.p2p.seeds == (Endpoint("c", 3), Endpoint("a", 1), Endpoint("b", 2))


def test_an_option_of_the_file_that_the_command_line_overrides_is_not_read(tmp_path: Path) -> None:
    assert read(tmp_path, "p2p-max-connections = x", p2p_max_connections=("9",)).p2p.max_connections == 9


def test_a_list_that_is_given_replaces_its_default(tmp_path: Path) -> None:
    assert len(read(tmp_path, "").validator.ntp.servers) == 3
    assert read(tmp_path, "ntp-server = a.org").validator.ntp.servers == (Endpoint("a.org", 123),)


def test_values_of_an_older_name_come_first_and_are_remarked_upon(tmp_path: Path) -> None:
    configuration = read(tmp_path, "p2p-seed-node = a:1\nseed-node = b:2")

    assert configuration.p2p.seeds == (Endpoint("b", 2), Endpoint("a", 1))
    assert configuration.remarks == (
        f"{tmp_path}/node_data_dir/config.ini:2: seed-node is an older name of p2p-seed-node",
    )


def test_options_without_meaning_are_accepted_and_listed(tmp_path: Path) -> None:
    configuration = read(tmp_path, "single-write-thread = true\nclear-votes-before-block = 0", check_locks=("true",))

    assert configuration.without_meaning == ("check-locks", "single-write-thread", "clear-votes-before-block")
    assert configuration.remarks == ()


def test_without_a_file_every_option_has_its_default(tmp_path: Path) -> None:
    configuration = read_configuration({}, tmp_path)

    assert configuration.file == tmp_path / "node_data_dir" / "config.ini"
    assert not configuration.file.exists()
    assert configuration.logging is None
    assert configuration.p2p.endpoint is None
    assert all(not setting.where for setting in configuration.settings)


def test_settings_say_where_they_were_given(tmp_path: Path) -> None:
    configuration = read(tmp_path, "\nchain = testnet\nplugin = validator", plugin=("snapshot",))

    given = {setting.option.name: setting.where for setting in configuration.settings if setting.where}
    file = tmp_path / "node_data_dir" / "config.ini"
    assert given == {"chain": (f"{file}:2",), "plugin": ("command line", f"{file}:3")}


def test_the_config_file_option_is_relative_to_the_current_directory_and_wins(tmp_path: Path) -> None:
    (tmp_path / "mine.ini").write_text("p2p-max-connections = 3", encoding="utf-8")
    command_line = {"config-file": ["mine.ini"], "config": ["other.ini"], "data-dir": ["data"]}

    configuration = read_configuration(command_line, tmp_path)

    assert configuration.file == tmp_path / "mine.ini"
    assert configuration.p2p.max_connections == 3
    assert configuration.invocation.data_dir == tmp_path / "data"


def test_a_config_file_that_is_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"--config-file .*mine.ini: there is no such file"):
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)


def test_the_config_option_is_relative_to_the_data_directory(tmp_path: Path) -> None:
    invocation = read_invocation({"config": ["my.ini"], "data-dir": ["data"]}, tmp_path)

    assert invocation.config == tmp_path / "data" / "my.ini"
    assert read_invocation({"config": ["/etc/my.ini"]}, tmp_path).config == Path("/etc/my.ini")


def test_a_file_that_is_not_utf_8_is_read_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "mine.ini").write_bytes(b"# \xff\np2p-max-connections = 3\r\n")

    assert read_configuration({"config-file": ["mine.ini"]}, tmp_path).p2p.max_connections == 3


@pytest.mark.parametrize(
    "line", ["private-key-file = signing.k\0ey", "state-stream-endpoint = unix:/a\0", "p2p-seed-node = a\0:1"]
)
def test_a_value_with_a_nul_character_is_an_error_that_names_the_option(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.ini").write_text(f"{line}\n")
    with pytest.raises(ConfigurationError, match=line.partition(" ")[0] + ".*holds a NUL character"):
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        b"history-whitelist-ops = transf\xffer",
        b"history-webhook = https://shop.example/viz secret=/s\xff",
        b"block-archive-dir = \xff",
        b"chain = \xff",
    ],
)
def test_a_value_that_is_not_utf_8_is_an_error_that_names_the_option(tmp_path: Path, line: bytes) -> None:
    """No worker could be told of it: its order is JSON."""
    (tmp_path / "mine.ini").write_bytes(line + b"\n")
    with pytest.raises(ConfigurationError, match=line.partition(b" ")[0].decode() + ".*is not UTF-8"):
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)


def test_a_file_that_is_too_large_for_a_configuration_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "mine.ini").open("wb") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(ConfigurationError, match=r"mine.ini: cannot be read: it has more than 1,048,576 bytes"):
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)


@pytest.mark.parametrize("line", ["p2p-seed-node = x", "there-is-none = 1", "[a.b]\nx = 1"])
def test_of_very_many_faults_so_many_are_told(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.ini").write_text(f"{line}\n" * 20_000)
    with pytest.raises(ConfigurationError) as raised:
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)
    assert len(raised.value.problems) == MOST_PROBLEMS + 1
    assert raised.value.problems[-1] == "there are more faults after these"


@pytest.mark.parametrize("line", ["{}", "{} = 1", "plugin = {}", "p2p-seed-node = {}", "[{}]\nx = 1"])
def test_a_fault_quotes_a_bounded_part_of_what_stands_there_and_moves_no_cursor(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.ini").write_text(line.format("\x1b[31m" + "a" * 100_000))
    with pytest.raises(ConfigurationError) as raised:
        read_configuration({"config-file": ["mine.ini"]}, tmp_path)
    (problem,) = raised.value.problems
    assert len(problem) < 3_000
    assert problem.isprintable()


def test_a_missing_file_is_written_with_every_default_and_changes_nothing(tmp_path: Path) -> None:
    before = read_configuration({}, tmp_path)
    written = write_default_file(before.invocation)
    after = read_configuration({}, tmp_path)

    assert written == after.file == tmp_path / "node_data_dir" / "config.ini"
    assert after.remarks == after.without_meaning == ()
    for part in ("application", "chain", "p2p", "webserver", "validator", "snapshot", "history", "custom_protocol"):
        assert getattr(after, part) == getattr(before, part)


def test_an_existing_file_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "node_data_dir" / "config.ini"
    file.parent.mkdir()
    file.write_text("chain = testnet", encoding="utf-8")

    assert write_default_file(read_invocation({}, tmp_path)) is None
    assert file.read_text(encoding="utf-8") == "chain = testnet"


def test_no_file_is_written_beside_one_that_was_asked_for(tmp_path: Path) -> None:
    assert write_default_file(read_invocation({"config-file": ["x.ini"]}, tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_an_operator_error(tmp_path: Path) -> None:
    (tmp_path / "node_data_dir").write_text("no directory", encoding="utf-8")

    with pytest.raises(OperatorError, match="cannot be written"):
        write_default_file(read_invocation({}, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "private-key: {}",
        "private-key-file = {}",
        "privat-key = {}",
        "p2p-max-connections = {}",
        "[{}]\nkey = 1",
        "{} = x",
        "[logger.default]\nlevel = {}",
        "plugin = {}",
        "validator = {}",
        "webserver-http-endpoint = {}",
        "webserver-trusted-proxies = {}",
    ],
)
def test_a_key_on_the_wrong_line_is_in_no_error(tmp_path: Path, text: str) -> None:
    key = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"

    with pytest.raises(OperatorError) as raised:
        read(tmp_path, text.format(key))

    assert key[:30] not in str(raised.value)
    assert isinstance(raised.value, ConfigurationError)
    assert all(key[:30] not in each for each in raised.value.problems)


@pytest.mark.parametrize("line", ["private-key = {}", "# private-key = {}"])
def test_a_file_with_a_key_that_others_may_read_is_warned_of(tmp_path: Path, line: str) -> None:
    key = "5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ"
    file = tmp_path / "config.ini"
    file.write_text(line.format(key))

    for mode, warnings in ((0o644, 1), (0o600, 0)):
        file.chmod(mode)
        configuration = read_configuration({"data-dir": [str(tmp_path)]}, tmp_path)
        assert sum("others than its owner may open it" in each for each in configuration.remarks) == warnings
