"""The example of `docs/plugins.md` runs as it stands there: installed, fed from the first block, and asked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from ledgerd.plugins import API_VERSION
from ledgerd.plugins import declarations as declared
from ledgerd.plugins import messages as bounds
from tests.docs.guides import DOCUMENTS, FENCE
from tests.node.processes import NodeProcess
from tests.node.test_history import dev_words
from tests.node.test_history_feed import wait_until
from tests.plugins.distributions import made_distribution

PAGE = (DOCUMENTS / "plugins.md").read_text(encoding="utf-8")
BLOCKS = {kind: text for kind, text in FENCE.findall(PAGE) if kind in {"python", "toml"}}


def test_the_example_adds_up_what_validators_earn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads(BLOCKS["toml"])["project"]
    names = project["entry-points"]["ledgerd.plugins"]
    assert names == {name: f"earnings:{name}" for name in ("earnings", "earnings_feed")}
    site = made_distribution(tmp_path / "site", "earnings", BLOCKS["python"], *names)
    monkeypatch.setenv("PYTHONPATH", str(site))
    words = (*dev_words(tmp_path / "data"), *(f"--plugin={name}" for name in names))

    def earned(node: NodeProcess) -> int:
        found: Any = node.call("earnings", "most", 3)
        return sum(each["blocks"] for each in found) if isinstance(found, list) else 0

    with NodeProcess(*words) as node:
        head = node.call("dev_api", "mine_blocks", 5)["head_block_number"]
        wait_until(lambda: earned(node) == head)
        assert node.call("earnings", "made_for") == f"{API_VERSION} at {head}"
        assert node.call("earnings", "most", 0) == {"code": -32602, "message": "count is between 1 and 100"}
        assert node.stop() == 0
    with NodeProcess(*words) as node:
        head = node.call("dev_api", "mine_blocks", 1)["head_block_number"]
        wait_until(lambda: earned(node) == head)


def test_the_page_says_what_is_so() -> None:
    assert f"version **{API_VERSION}**" in PAGE
    assert f"at most {declared.MOST_SECONDS:g} |" in PAGE
    assert f"| {bounds.API_TIMEOUT:g} s | a call that Python cannot interrupt" in PAGE
    assert f"| {bounds.MOST_OPEN} | calls of an API worker that wait" in PAGE
    assert f"at most {bounds.MOST_ANSWER >> 20} MiB" in PAGE
    methods = re.findall(r"- `(\w+)\(", PAGE)
    own = [name for name in vars(declared.PluginObserver) if not name.startswith("_")]
    assert sorted(methods) == sorted(own)
