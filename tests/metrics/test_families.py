"""The table of metrics: names after the conventions of Prometheus, labels with few values, each family once."""

from __future__ import annotations

import pytest

from ledgerd.metrics.families import Family, FamilyKind, LabelSource, MetricLabel, Writer, counter, gauge, histogram
from ledgerd.metrics.table import FAMILIES, TOPICS
from ledgerd.metrics.table.peers import MESSAGE_TYPES
from ledgerd.metrics.table.requests import OPTION
from ledgerd.node.config.options.sections import BY_NAME
from ledgerd.p2p.shared.chain_access import Acceptance
from ledgerd.p2p.sync.admission import COUNTED_AS
from ledgerd.p2p.wire.messages import MESSAGES
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS

MOST_VALUES = 24


def test_every_family_is_declared_once_with_a_help_that_is_a_sentence() -> None:
    names = [family.name for family in FAMILIES]

    assert len(names) == len(set(names)) > 50
    assert sum(map(len, TOPICS.values())) == len(FAMILIES)
    assert [
        each.name
        for each in FAMILIES
        if not ((each.help[0].isupper() or each.help[0].isdigit()) and each.help.endswith("."))
    ] == []


def test_every_label_has_few_values_or_a_bounded_source_that_is_explained() -> None:
    labels = [label for family in FAMILIES for label in family.labels]

    assert all(len(set(label.values)) == len(label.values) <= MOST_VALUES for label in labels)
    for label in labels:
        is_declared = label.source is LabelSource.DECLARED
        assert is_declared == bool(label.values) != bool(label.about)


def test_no_label_is_named_after_what_tells_a_peer_or_a_client() -> None:
    named = {name for family in FAMILIES for name in family.label_names}

    assert not named & {"peer", "address", "host", "ip", "endpoint", "account", "client", "le", "quantile"}


def test_every_counter_ends_as_a_counter_and_nothing_else_does() -> None:
    wrong = [each.name for each in FAMILIES if each.name.endswith("_total") != (each.kind is FamilyKind.COUNTER)]

    assert wrong == []


def test_the_message_types_of_the_table_are_those_of_the_protocol() -> None:
    assert set(MESSAGE_TYPES) == set(MESSAGES)


def test_every_result_of_a_pushed_block_has_a_value_of_its_own() -> None:
    assert set(COUNTED_AS) == set(Acceptance)
    assert len(set(COUNTED_AS.values())) == len(Acceptance)


def test_every_limit_of_the_table_is_an_option() -> None:
    assert [each for each in OPTION.values if each not in BY_NAME] == ["other"]


def test_every_known_hardfork_has_a_value() -> None:
    assert len(MAINNET_HARDFORKS) < MOST_VALUES


def test_a_name_without_its_unit_or_ending_is_refused() -> None:
    with pytest.raises(TypeError, match="has its unit at the end"):
        Family("ledgerd_wait", FamilyKind.GAUGE, "Waiting.", unit="seconds")
    with pytest.raises(TypeError, match="_total where it is a counter"):
        counter("ledgerd_blocks", "Blocks.")
    with pytest.raises(TypeError, match="a name"):
        gauge("blocks", "Blocks.")


@pytest.mark.parametrize("bounds", [(), (2.0, 1.0), (1.0, 1.0)])
def test_a_histogram_without_growing_bounds_is_refused(bounds: tuple[float, ...]) -> None:
    with pytest.raises(TypeError, match="growing bounds"):
        histogram("ledgerd_wait_seconds", "Waiting.", bounds)


def test_what_each_process_writes_is_labelled_by_process() -> None:
    family = gauge("ledgerd_memory_bytes", "Memory.", MetricLabel("kind", ("a",)), writer=Writer.EACH)

    assert family.label_names == ("process", "kind")
