from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest

from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.options.sections import BY_NAME, SECTIONS, every_option
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import TEXT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.endpoint import Endpoint
from tests.node.configurations import COMMITTEE_WIF, read

OPTIONS = [*every_option()]

OF_THE_REFERENCE = """
    plugin
    shared-file-dir shared-file-size inc-shared-file-size min-free-shared-file-size block-num-check-free-size checkpoint
    flush-state-interval read-wait-micro max-read-wait-retries write-wait-micro max-write-wait-retries
    single-write-thread clear-votes-before-block skip-virtual-ops enable-plugins-on-push-transaction
    dlt-block-log-max-blocks
    p2p-endpoint p2p-max-connections seed-node p2p-seed-node dlt-peer-max-disconnect-hours dlt-mempool-max-tx
    dlt-mempool-max-bytes dlt-mempool-max-tx-size dlt-mempool-max-expiration-hours dlt-peer-exchange-max-per-reply
    dlt-peer-exchange-max-per-subnet dlt-peer-exchange-min-uptime-sec dlt-stats-interval-sec p2p-isolated-peers
    webserver-http-endpoint webserver-ws-endpoint rpc-endpoint webserver-thread-pool-size webserver-cache-enabled
    webserver-cache-size
    enable-stale-production required-participation validator witness private-key emergency-private-key ntp-server
    ntp-request-interval ntp-retry-interval ntp-round-trip-threshold ntp-history-size ntp-rejection-threshold-pct
    ntp-rejection-min-threshold fork-collision-timeout-blocks debug-block-production
    validator-guard-enabled validator-guard-validator witness-guard-witness validator-guard-interval
    validator-guard-disable validator-guard-disable-on-shutdown validator-guard-shutdown-grace
    validator-guard-disable-max witness-guard-enabled witness-guard-interval witness-guard-disable
    snapshot-at-block snapshot-every-n-blocks snapshot-dir snapshot-max-age-days allow-snapshot-serving
    allow-snapshot-serving-only-trusted snapshot-serve-allow-ip disable-snapshot-anti-spam snapshot-serve-endpoint
    trusted-snapshot-peer sync-snapshot-from-trusted-peer enable-stalled-sync-detection stalled-sync-timeout-minutes
    test-trusted-seeds snapshot-pm-legacy-residual snapshot-include-pm-meta pmm-ttl-days
    testnet-hardfork block-archive-dir block-archive-range auto-resync-on-wedge
    history-whitelist-ops history-blacklist-ops history-start-block history-count-blocks history-purge-interval
    track-account-range custom-protocol-store-size
"""
"""Spec 06, section 5, and spec 11, sections 8.2 and 9."""

OF_THE_COMMAND_LINE = """
    data-dir config replay-blockchain force-replay-blockchain replay-if-corrupted resync-blockchain replay-from-snapshot
    auto-recover-from-snapshot check-locks validate-database-invariants snapshot snapshot-auto-latest create-snapshot
"""
"""Spec 06, section 3.2, save help and version; `config-file` is asked for by section 19."""


JOINED = {"validator": {"emergency_keys"}}
"""Fields that are joined to others, and that no record has."""

ELSEWHERE = {"keep_accounts", "servers"}
"""Fields that other options decide, and servers that only a network can have."""


TYPES = {
    "PrivateKey": PrivateKey,
    "PublicKey": bytes,
    "AccountName": str,
    "Endpoint": Endpoint,
    "Path": Path,
}
"""What the records name without importing it."""


def fields_of(record: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = record.__struct_fields__
    return names


def defaults_of(record: Any) -> dict[str, Any]:
    """The defaults of those fields that have one."""
    values = record.__struct_defaults__
    named = zip(fields_of(record)[-len(values) :] if values else (), values, strict=True)
    return {name: value for name, value in named if value is not msgspec.NODEFAULT}


def is_of(value: object, declared: Any) -> bool:
    """Whether a value is of a type that an annotation declares."""
    declared = getattr(declared, "__supertype__", declared)
    if get_origin(declared) is tuple:
        (element, _) = get_args(declared)
        return isinstance(value, tuple) and all(is_of(each, element) for each in value)
    if get_origin(declared) is Mapping:
        return isinstance(value, dict) and all(
            is_of(part, wanted) for pair in value.items() for part, wanted in zip(pair, get_args(declared), strict=True)
        )
    if get_origin(declared) is Literal:
        return value in get_args(declared)
    if get_origin(declared) is UnionType:
        return any(is_of(value, each) for each in get_args(declared))
    return type(value) is declared or (declared is Path and isinstance(value, Path))


def test_every_option_of_the_reference_is_declared() -> None:
    assert [name for name in OF_THE_REFERENCE.split() if BY_NAME[name].command_line_only] == []
    assert [name for name in OF_THE_COMMAND_LINE.split() if not BY_NAME[name].command_line_only] == []


def test_what_the_reference_does_not_have_is_said_to_be_ours_or_to_mean_nothing() -> None:
    others = {name for name, option in BY_NAME.items() if not option.ours and not option.without_meaning}

    assert others <= {*OF_THE_REFERENCE.split(), *OF_THE_COMMAND_LINE.split()}


def test_no_name_is_declared_twice() -> None:
    names = [option.name for option in every_option()]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("section", [*SECTIONS.values()], ids=lambda section: section.title)
def test_the_fields_of_a_record_are_those_of_its_section(section: OptionSection[Any]) -> None:
    paths = {path.partition(".")[::2] for path in set(section.fields) - JOINED.get(section.title, set())}
    records = {"": section.record, **section.within}

    assert {name for name, inner in paths if inner} == set(section.within)
    assert [inner or name for name, inner in paths if (inner or name) not in fields_of(records[inner and name])] == []
    assert set(fields_of(section.record)) - set(defaults_of(section.record)) <= {name for name, _ in paths}


@pytest.mark.parametrize("name", SECTIONS)
def test_the_defaults_of_a_record_are_those_of_its_options(name: str, tmp_path: Path) -> None:
    record = getattr(read(tmp_path, ""), name)
    for part in (record, *(getattr(record, field) for field in SECTIONS[name].within)):
        defaults = defaults_of(type(part))
        kept = {field: getattr(part, field) for field in defaults if field not in {*ELSEWHERE, *SECTIONS[name].within}}
        assert kept == {field: defaults[field] for field in kept}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_defaults_and_examples_can_be_read(option: Option) -> None:
    for text in option.defaults:
        option.kind.read(text)
    if not option.kind.secret:
        for word in option.shown.split() if option.words else [option.shown]:
            option.kind.read(word)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_help_is_one_or_more_sentences(option: Option) -> None:
    assert re.fullmatch(r"[A-Z].*\.\)?", option.help)
    assert "  " not in option.help


@pytest.mark.parametrize("text", ["", "every option"])
def test_values_are_of_the_types_that_the_records_declare(tmp_path: Path, text: str) -> None:
    if text:
        options = [option for option in BY_NAME.values() if not option.command_line_only]
        lines = [f"{option.name} = {option.shown.replace('5...', COMMITTEE_WIF)}" for option in options]
        lines.remove("history-blacklist-ops = custom_operation vote_operation")
        lines.remove("private-key-file = signing.key")
        # With a key beside it, without a history, and without the APIs that it asks, an error.
        alone = ("validator-signer", "history-webhook =", "explorer-endpoint")
        lines = [line for line in lines if not line.startswith(alone)]
        text = "\n".join(lines)

    configuration = read(tmp_path, text)

    for name in SECTIONS:
        record = getattr(configuration, name)
        hints = get_type_hints(type(record), localns=TYPES)
        wrong = [field for field, declared in hints.items() if not is_of(getattr(record, field), declared)]
        assert wrong == []


def test_a_value_of_the_wrong_type_is_found() -> None:
    assert is_of((Endpoint("a", 1),), tuple[Endpoint, ...])
    assert not is_of(("a:1",), tuple[Endpoint, ...])
    assert not is_of(True, int)
    assert is_of(None, Path | None)
    assert not is_of(None, Path)
    assert NoneType in get_args(Path | None)


def test_an_option_with_words_must_be_repeatable() -> None:
    with pytest.raises(TypeError, match="x: what holds words has many"):
        Option("x", TEXT, "Help.", words=True)


def test_no_kind_shows_what_it_cannot_read() -> None:
    for option in every_option():
        kind: OptionKind[Any] = option.kind
        for text in option.defaults:
            try:
                assert kind.read(kind.show(kind.read(text))) == kind.read(text)
            except WrongValue:
                pytest.fail(f"{option.name} cannot read what it shows")
