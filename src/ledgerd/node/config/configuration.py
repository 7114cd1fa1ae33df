"""The configuration of a node: command line before file before defaults (spec 06, sections 4.4 and 4.5)."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ledgerd.basics.durable import read_file
from ledgerd.explorer.settings import ExplorerOptions
from ledgerd.history.settings import HistorySettings
from ledgerd.history.webhooks.settings import WebhookSettings
from ledgerd.node.config.given import ConfigurationError, add_environment, gather
from ledgerd.node.config.ini import IniEntry, InvalidLine, parse_ini
from ledgerd.node.config.logging.sections import Logging, read_logging
from ledgerd.node.config.options.application import (
    ACCOUNT_HISTORY,
    OPERATION_HISTORY,
    PREDICTION_MARKET_API,
    TESTNET_PLUGIN,
    ApplicationOptions,
)
from ledgerd.node.config.options.beside import MetricsSettings, MonitorSettings
from ledgerd.node.config.options.chain import ChainOptions, TestnetOptions
from ledgerd.node.config.options.history import CustomProtocolOptions, MarketRecordOptions
from ledgerd.node.config.options.invocation import INVOCATION, Invocation
from ledgerd.node.config.options.sections import SECTIONS
from ledgerd.node.config.options.validator import EMERGENCY_VALIDATOR
from ledgerd.node.config.reading import OptionReader, Setting
from ledgerd.node.config.templates import default_file
from ledgerd.p2p.shared.settings import Settings as P2PSettings
from ledgerd.producer.settings import GuardSettings, ProducerSettings
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY, holds_key, without_keys
from ledgerd.replica.settings import StreamSettings
from ledgerd.rpc.settings import WebserverSettings
from ledgerd.shadow.settings import ShadowSettings
from ledgerd.snapshot.settings import SnapshotSettings

LARGEST_FILE = 1 << 20
"""Bytes of a configuration file. The templates, which explain every option, have a fortieth of that."""

EXPLORER_NEEDS = ("webserver", "database_api", "validator_api")
"""Plugins without which the explorer has no page; what needs others says so."""


class Configuration(msgspec.Struct, frozen=True):
    """The whole configuration of a node."""

    invocation: Invocation
    application: ApplicationOptions
    chain: ChainOptions
    p2p: P2PSettings
    webserver: WebserverSettings
    metrics: MetricsSettings
    validator: ProducerSettings
    validator_guard: GuardSettings
    validator_monitor: MonitorSettings
    snapshot: SnapshotSettings
    state_stream: StreamSettings
    history: HistorySettings
    webhooks: WebhookSettings
    explorer: ExplorerOptions
    shadow: ShadowSettings
    custom_protocol: CustomProtocolOptions
    prediction_market: MarketRecordOptions
    testnet: TestnetOptions
    logging: Logging | None
    """None if the file has no logging section."""
    file: Path
    settings: tuple[Setting, ...]
    without_meaning: tuple[str, ...]
    """Given options of the reference that have no effect in this node."""
    remarks: tuple[str, ...]


def read_invocation(command_line: Mapping[str, Sequence[str]], current_dir: Path) -> Invocation:
    problems: list[str] = []
    given = {option.name: command_line.get(option.name, ()) for option in INVOCATION.with_meaning}
    options, _ = gather(given, (), None, problems)
    return OptionReader(options, problems).section(INVOCATION, current_dir, current_dir)


def read_configuration(
    command_line: Mapping[str, Sequence[str]], current_dir: Path, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Read the configuration from the command line and its file; from the environment only with `--environment`. Raises
    `ConfigurationError` with all errors.
    """
    invocation = read_invocation(command_line, current_dir)
    file = configuration_file(invocation)
    problems: list[str] = []
    options, sections = gather(command_line, _entries(file, problems), file, problems)
    reading = OptionReader(options, problems)
    if invocation.environment:
        add_environment(environment or {}, options, reading.remarks)
    reading.remarks.extend(_open_to_others(file))
    logging = read_logging(sections, file, problems)
    faults: list[str] = []
    records: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        try:
            records[name] = reading.section(section, invocation.data_dir, current_dir)
        except ConfigurationError as error:
            faults += [problem for problem in error.problems if problem not in faults]
            reading.problems.clear()
    if faults:
        raise ConfigurationError(faults)
    if fault := next(_faults_together(records), ""):
        raise ConfigurationError([fault])
    _fill_in_from_others(records)
    return Configuration(
        **records,
        logging=logging,
        file=file,
        settings=tuple(reading.settings),
        without_meaning=tuple(reading.without_meaning),
        remarks=tuple(map(without_keys, reading.remarks)),
    )


def _open_to_others(file: Path) -> Iterator[str]:
    """Warns where a file with a private key in it, on whatever line, can be read by others."""
    try:
        mode, text = file.stat().st_mode, configuration_text(file)
    except OSError:
        return
    secret = text.replace(PUBLISHED_COMMITTEE_KEY, "")
    if mode & (stat.S_IRWXG | stat.S_IRWXO) and holds_key(secret):
        yield f"{file} holds a private key, and others than its owner may open it: chmod 600 {file}"


def _faults_together(records: dict[str, Any]) -> Iterator[str]:
    """Faults of sections that need or forbid each other."""
    plugins = records["application"].plugins
    if records["validator"].is_signed_elsewhere and records["validator_guard"].watched:
        yield (
            "validator-signer and validator-guard-validator: the guard needs the signing key, which is at the signer: "
            "remove one of the two"
        )
    if records["webhooks"].hooks and OPERATION_HISTORY not in plugins:
        yield "history-webhook: there is no history to send from: add plugin = operation_history"
    if records["explorer"].endpoint is not None:
        missing = [name for name in EXPLORER_NEEDS if name not in plugins]
        if missing:
            yield f"explorer-endpoint: its pages need them: add plugin = {' '.join(missing)}"
        if records["webserver"].http_endpoint is None:
            yield "explorer-endpoint: the explorer asks this node: add webserver-http-endpoint"
    shadow = records["shadow"]
    if shadow.required and not shadow.url:
        yield "shadow-required: there is nothing to compare with: add shadow"
    if shadow.snapshots is not None and not shadow.url:
        yield "shadow-snapshots: there is nothing to compare with: add shadow"
    if shadow.url and (records["webserver"].http_endpoint is None or "database_api" not in plugins):
        yield "shadow: this node is asked as well: add webserver-http-endpoint and plugin = webserver database_api"


def _fill_in_from_others(records: dict[str, Any]) -> None:
    plugins, producer = records["application"].plugins, records["validator"]
    filled: dict[str, dict[str, object]] = {
        "history": {
            "skip_virtual": records["chain"].skip_virtual_ops,
            "keep_accounts": ACCOUNT_HISTORY in plugins,
        },
        "snapshot": {"knows_pm_meta": PREDICTION_MARKET_API in plugins},
        "p2p": {
            "has_emergency_key": EMERGENCY_VALIDATOR in producer.names,
            "trusted_hosts": tuple(peer.host for peer in records["snapshot"].trusted_peers),
        },
        "validator_guard": {"allows_stale": producer.allows_stale},
        "testnet": {"is_on": TESTNET_PLUGIN in plugins},
    }
    for name, values in filled.items():
        records[name] = replace(records[name], **values)


def configuration_file(invocation: Invocation) -> Path:
    if invocation.config_file is None:
        return invocation.config
    if not invocation.config_file.is_file():
        raise ConfigurationError(
            [f"command line: --config-file {invocation.config_file}: there is no such file: name one that exists"]
        )
    return invocation.config_file


def configuration_text(file: Path) -> str:
    """`OSError`: it cannot be read, or is too large for a configuration."""
    return read_file(file, LARGEST_FILE).decode("utf-8", "surrogateescape")


def write_default_file(invocation: Invocation) -> Path | None:
    """Write a file with all defaults if there is none; returns its path if written (spec 06, section 4.6)."""
    file = invocation.config
    if invocation.config_file is not None or file.exists():
        return None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(default_file(), encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{file}: cannot be written: {error.strerror}: choose another --data-dir") from error
    return file


def _entries(file: Path, problems: list[str]) -> list[IniEntry]:
    try:
        return parse_ini(configuration_text(file))
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"{file}: cannot be read: {error.strerror}: see to its permissions")
    except InvalidLine as problem:
        problems.append(f"{file}:{problem.number}: {problem}: write `name = value`, or `#` before a comment")
    return []
