"""The table of parts: it is complete, it says what is so, and the document has it."""

from __future__ import annotations

import asyncio
import inspect
import re
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.options.application import DEPENDENCIES
from ledgerd.node.config.options.sections import BY_NAME
from ledgerd.node.part_table import PARTS, PartSpec
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.runtime import Runtime
from ledgerd.supervision.part import Part
from scripts.generate_parts_docs import DOCUMENT, with_parts

EACH = pytest.mark.parametrize("spec", PARTS, ids=[spec.kind.__name__ for spec in PARTS])


def test_the_document_has_the_parts_of_today() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    assert with_parts(document) == document


def test_each_part_has_a_name_of_its_own() -> None:
    """Logs and `/ready` tell parts apart by their names."""
    names = [spec.name for spec in PARTS]
    assert sorted(names) == sorted(set(names))


@EACH
def test_a_part_needs_only_parts_above_it(spec: PartSpec) -> None:
    above = {each.kind for each in PARTS[: PARTS.index(spec)]}
    assert above.issuperset(spec.needs)


@EACH
def test_a_part_takes_what_the_table_says_that_it_needs(spec: PartSpec) -> None:
    parameters = [*inspect.signature(spec.kind).parameters.values()]
    taken = [each.annotation for each in parameters if each.default is each.empty]
    assert taken == ["PartContext", *(kind.__name__ for kind in spec.needs)]


@EACH
def test_what_runs_for_a_part_is_what_the_table_says(spec: PartSpec) -> None:
    kinds = [kind for kind in spec.kind.mro() if issubclass(kind, Part) and kind is not Part]
    source = "".join(map(inspect.getsource, kinds))
    assert bool(re.search(r"self\.work\b(?!\.(begin|stop))", source)) is (spec.on_end is not None)
    for task in spec.restarted:
        assert f'self.work.keep("{task}"' in source


def test_conditions_name_plugins_and_options_that_there_are() -> None:
    named = [re.findall("plugin `(.*)`|option `(.*)`", spec.when.text) for spec in PARTS]
    assert {plugin for found in named for plugin, _ in found if plugin} <= set(DEPENDENCIES)
    assert {option for found in named for _, option in found if option} <= set(BY_NAME)


def running(configuration: Configuration) -> list[str]:
    return [spec.name for spec in PARTS if spec.runs_with(configuration)]


def test_a_node_that_only_writes_a_snapshot_serves_and_makes_nothing(tmp_path: Path) -> None:
    words = {"data-dir": [str(tmp_path)], "plugin": ["validator operation_history block_info snapshot"]}
    words |= {"create-snapshot": ["file"], "metrics-endpoint": ["127.0.0.1:0"]}
    found = running(read_configuration(words, tmp_path))
    assert found == ["chain", "operation_history", "block_info", "replay", "create_snapshot"]


def test_parts_start_in_the_order_of_the_table_and_stop_in_reverse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[tuple[str, str]] = []
    end_thread = ChainPart.stop

    async def start(part: Part) -> None:
        happened.append(("start", part.work.part))

    async def stop(part: Part) -> None:
        happened.append(("stop", part.work.part))

    for spec in PARTS:
        monkeypatch.setattr(spec.kind, "start", start)
        monkeypatch.setattr(spec.kind, "stop", stop)
    words = {"data-dir": [str(tmp_path)], "chain": ["testnet"], "plugin": ["snapshot validator operation_history"]}
    configuration = read_configuration(words, tmp_path)

    async def main() -> None:
        runtime = Runtime(configuration)
        await runtime.start()
        await runtime.stop()
        await end_thread(runtime.chain)

    asyncio.run(main())
    names = running(configuration)
    assert names[:2] == ["early_answers", "chain"]
    assert names[-1] == "watch"
    assert happened == [*(("start", name) for name in names), *(("stop", name) for name in reversed(names))]
