"""The text: what the parsers of the client library read is what was counted, in both formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

from ledgerd.metrics.exposition import OPENMETRICS, PLAIN, Exposition, TextFormat, format_for
from ledgerd.metrics.families import FamilyKind
from ledgerd.metrics.reading import MetricsReader
from ledgerd.metrics.table import FAMILIES, chain
from tests.metrics.memories import METHODS, VERSION, NodeMemory, node_memory

Parser = Callable[[str], Iterable[Metric]]
BOTH: list[tuple[TextFormat, Parser]] = [(PLAIN, read_plain), (OPENMETRICS, read_openmetrics)]

PROMETHEUS_2 = (
    b"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    b"text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


def samples(parsed: Iterable[Metric]) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for one in parsed for each in one.samples}


def filled(node: NodeMemory) -> None:
    """Something in every number."""
    for number, cells in enumerate((node.main(), node.reader(), node.worker(0))):
        for place in range(cells.layout.size):
            cells.numbers[place] = float(place % 97 + number)


@pytest.mark.parametrize(("text_format", "parse"), BOTH, ids=("plain", "openmetrics"))
def test_every_family_is_read_back_with_its_kind_help_and_values(text_format: TextFormat, parse: Parser) -> None:
    with node_memory(workers=1) as node:
        filled(node)
        families = MetricsReader(node.memory, METHODS, VERSION).read()
        text = Exposition(text_format).text(families).decode()
    parsed = list(parse(text))
    found = samples(parsed)

    assert [each.name for each in parsed] == [family.name.removesuffix("_total") for family in FAMILIES]
    assert [each.type for each in parsed] == [family.kind.value for family in FAMILIES]
    assert [each.documentation for each in parsed] == [family.help for family in FAMILIES]
    for family, series in families:
        for labels, numbers in series:
            named = dict(zip(family.label_names, labels, strict=True))
            if family.kind is FamilyKind.HISTOGRAM:
                assert found[f"{family.name}_sum", tuple(sorted(named.items()))] == numbers[-1]
                assert found[f"{family.name}_count", tuple(sorted(named.items()))] == sum(numbers[:-1])
                last = tuple(sorted({**named, "le": "+Inf"}.items()))
                assert found[f"{family.name}_bucket", last] == sum(numbers[:-1])
                first = tuple(sorted({**named, "le": str(family.buckets[0])}.items()))
                assert found[f"{family.name}_bucket", first] == numbers[0]
            else:
                assert found[family.name, tuple(sorted(named.items()))] == numbers[0]


@pytest.mark.parametrize("text_format", [PLAIN, OPENMETRICS], ids=("plain", "openmetrics"))
def test_a_second_text_has_the_values_of_then(text_format: TextFormat) -> None:
    exposition = Exposition(text_format)
    with node_memory(workers=1) as node:
        blocks, reader = node.main().counter(chain.BLOCKS_APPLIED), MetricsReader(node.memory, METHODS, VERSION)
        texts = []
        for _ in range(2):
            blocks.add(1_234_567)
            texts.append(exposition.text(reader.read()).decode())

    assert "\nledgerd_chain_applied_blocks_total 1.234567e+06\n" in texts[0]
    assert "\nledgerd_chain_applied_blocks_total 2.469134e+06\n" in texts[1]
    assert texts[0].splitlines()[-1].startswith("# EOF") == (text_format is OPENMETRICS)


@given(st.text(max_size=32).filter(lambda name: len(name.encode("utf-8", "replace")) <= 32 and "\0" not in name))
def test_any_name_of_a_validator_is_escaped(name: str) -> None:
    encoded = name.encode("utf-8", "replace")
    name = encoded.decode()
    with node_memory(workers=1) as node:
        node.main()
        node.memory.write_name(1, name)
        text = Exposition(PLAIN).text(MetricsReader(node.memory, METHODS, VERSION).read()).decode()
    found = {dict(labels).get("validator") for _, labels in samples(read_plain(text))}

    assert name in found or not name


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        (b"", PLAIN),
        (b"*/*", PLAIN),
        (b"text/plain", PLAIN),
        (b"text/html,application/xhtml+xml,*/*;q=0.8", PLAIN),
        (PROMETHEUS_2, OPENMETRICS),
        (b"application/openmetrics-text", OPENMETRICS),
        (b"Application/OpenMetrics-Text; version=1.0.0; escaping=allow-utf-8", OPENMETRICS),
        (b"application/openmetrics-text;q=0", PLAIN),
        (b"application/openmetrics-text;q=0.4,text/plain;q=0.5", PLAIN),
        (b"application/openmetrics-text;q=nan,text/plain;q=x", PLAIN),
        (b"\xff;;;=,,;q", PLAIN),
    ],
)
def test_the_format_is_what_the_client_prefers(accept: bytes, wanted: TextFormat) -> None:
    assert format_for(accept) is wanted


@given(st.binary(max_size=200))
def test_any_accept_has_a_format(accept: bytes) -> None:
    assert format_for(accept) in {PLAIN, OPENMETRICS}
