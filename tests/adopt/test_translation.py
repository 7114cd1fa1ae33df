"""Each option of a `vizd` gets its line and its reason; no key and no password is copied or shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.adopt.translation import OptionOutcome, accepted, summary, translate, written
from ledgerd.node.config.configuration import read_configuration

KEY = "5JdeC9P7Pbd1uGdFVEsJ41EkEnADbbHGq6p1BwFxm6txNBsQnsw"

OLD = f"""\
# a comment
webserver-http-endpoint = 0.0.0.0:8090
p2p-endpoint = 0.0.0.0:65530
seed-node = 192.0.2.1:2001
plugin = chain p2p,witness_api mongo_db
private-key = {KEY}
emergency-private-key = {KEY}
checkpoint = {KEY}
witness = "alice"
enable-stale-production = true
shared-file-dir = /var/lib/vizd/state
shared-file-size = 2G
public-api = login_api
rpc-password = hunter2
history-count-blocks = many
a line without a sign
read-wait-micro = 500000
replay-blockchain = true
snapshot-at-block =
[log.console_appender.stderr]
stream = std_error
[logger.default]
level = info
appenders = stderr
[log.file_appender.secret]
filename = logs/x.log
"""


@pytest.mark.parametrize(
    ("name", "outcome", "line"),
    [
        ("webserver-http-endpoint", OptionOutcome.CHANGED, "webserver-http-endpoint = 0.0.0.0:8100"),
        ("p2p-endpoint", OptionOutcome.SAME, "p2p-endpoint = 0.0.0.0:65530"),
        ("seed-node", OptionOutcome.RENAMED, "p2p-seed-node = 192.0.2.1:2001"),
        ("plugin chain", OptionOutcome.SAME, "plugin = chain"),
        ("plugin witness_api", OptionOutcome.RENAMED, "plugin = validator_api"),
        ("plugin mongo_db", OptionOutcome.UNKNOWN, ""),
        ("private-key", OptionOutcome.NOT_TAKEN, ""),
        ("emergency-private-key", OptionOutcome.NOT_TAKEN, ""),
        ("checkpoint", OptionOutcome.NOT_TAKEN, ""),
        ("witness", OptionOutcome.NOT_TAKEN, ""),
        ("enable-stale-production", OptionOutcome.NOT_TAKEN, ""),
        ("shared-file-dir", OptionOutcome.NOT_TAKEN, ""),
        ("shared-file-size", OptionOutcome.SAME, "shared-file-size = 2G"),
        ("public-api", OptionOutcome.UNKNOWN, ""),
        ("rpc-password", OptionOutcome.UNKNOWN, ""),
        ("history-count-blocks", OptionOutcome.NOT_TAKEN, ""),
        ("line 16", OptionOutcome.UNKNOWN, ""),
        ("read-wait-micro", OptionOutcome.NOT_NEEDED, ""),
        ("replay-blockchain", OptionOutcome.NOT_NEEDED, ""),
        ("snapshot-at-block", OptionOutcome.NOT_NEEDED, ""),
        ("logger.default.level", OptionOutcome.SAME, "level = info"),
    ],
)
def test_each_line_has_its_fate(name: str, outcome: OptionOutcome, line: str) -> None:
    lines = {each.name: each for each in accepted(translate(OLD, 10), "testnet")}

    assert (lines[name].outcome, lines[name].written) == (outcome, line)
    assert lines[name].reason or outcome is OptionOutcome.SAME


def test_our_node_reads_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "config.ini"
    file.write_text(written(accepted(translate(OLD, 10), "testnet"), "testnet", "/var/lib/vizd"))

    configuration = read_configuration({"data-dir": [str(tmp_path)]}, tmp_path)

    assert configuration.application.chain == "testnet"
    assert str(configuration.webserver.http_endpoint) == "0.0.0.0:8100"
    assert not configuration.validator.names
    assert configuration.logging is not None


def test_no_secret_is_copied_or_shown() -> None:
    lines = accepted(translate(OLD, 10), "testnet")

    for text in (written(lines, "testnet", "x"), "\n".join(summary(lines))):
        assert KEY not in text
        assert "hunter2" not in text


def test_without_an_offset_the_ports_stay() -> None:
    lines = {each.name: each for each in translate(OLD, 0)}

    assert lines["webserver-http-endpoint"].written == "webserver-http-endpoint = 0.0.0.0:8090"
