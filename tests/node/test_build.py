"""The build flavour: its file, and the plugins that it leaves out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ledgerd.node.build import FILE, INDEXING_PLUGINS, THIS_BUILD, Build, read_build
from ledgerd.node.config.options import application
from ledgerd.node.config.options.application import DEPENDENCIES
from tests.node.configurations import problems, read

SMALL = Build(low_memory=True)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application, "THIS_BUILD", SMALL)


def test_sources_are_a_full_program_for_the_main_network() -> None:
    assert not FILE.exists()
    assert Build() == THIS_BUILD
    assert THIS_BUILD.words == "full, mainnet"
    assert THIS_BUILD.excluded_plugins == frozenset()


def test_a_file_tells_the_flavour(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text('{"low_memory":true,"network":"testnet","revision":"abc"}')

    build = read_build(tmp_path / "build.json")

    assert build == Build(True, "testnet", "abc")
    assert build.words == "low memory, testnet"


def test_a_file_that_says_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text('{"low_memroy":true}')

    with pytest.raises(msgspec.ValidationError, match="low_memroy"):
        read_build(tmp_path / "build.json")


def test_no_plugin_that_stays_depends_on_one_that_does_not() -> None:
    assert set(DEPENDENCIES) > INDEXING_PLUGINS
    for name in set(DEPENDENCIES) - INDEXING_PLUGINS:
        assert not INDEXING_PLUGINS & set(DEPENDENCIES[name])


@pytest.mark.usefixtures("small")
def test_a_plugin_that_is_left_out_is_remarked_upon_once(tmp_path: Path) -> None:
    configuration = read(tmp_path, "plugin = database_api account_history\nplugin = account_history block_info\n")

    assert configuration.application.plugins == ("json_rpc", "chain", "database_api", "p2p", "webserver")
    assert configuration.remarks == (
        "this program was built for low memory, and runs without the plugins account_history, block_info",
    )


@pytest.mark.usefixtures("small")
def test_other_plugins_are_run_without_a_remark(tmp_path: Path) -> None:
    assert read(tmp_path, "plugin = validator raw_block\n").remarks == ()
    assert "names no plugin" in problems(tmp_path, "plugin = account_histroy\n")[0]
