"""Which plugins are installed, which of them may be enabled, and why the others are refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.plugins.declarations import (
    API_VERSION,
    ApiPlugin,
    ObserverPlugin,
    PluginObserver,
    PluginRefused,
    fault_of,
    fault_of_observer,
    version_fault,
)
from ledgerd.plugins.installed import InstalledPlugin, fault_of_name, installed, load
from ledgerd.plugins.values import ReadView
from tests.plugins.distributions import made_distribution

SOUND = """
from ledgerd.plugins import ApiPlugin
one = ApiPlugin("One.", api_version="1.0")
two = ApiPlugin("Two.", api_version="2.0")
old = ApiPlugin("Old.", api_version="0.9")
other = 5
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


def given_to(folder: Path, *plugins: str) -> tuple[str, ...]:
    return read_configuration({"data-dir": [str(folder)], "plugin": list(plugins)}, folder).application.installed


def test_an_installed_plugin_is_enabled_by_its_name_without_an_import_of_it(tmp_path: Path, site: Path) -> None:
    made_distribution(site, "sound_plugins", "raise SystemExit('it was imported')", "one", "two")
    assert [str(each) for each in installed()] == [f"{name} (ledgerd-sound_plugins 1.2)" for name in ("one", "two")]
    assert given_to(tmp_path, "one database_api", "one") == ("one",)


def test_an_unknown_name_is_told_with_what_is_installed(tmp_path: Path, site: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"datbase_api: names no plugin; the nearest one is database_api; of others none is installed in /",
    ):
        given_to(tmp_path, "datbase_api")
    made_distribution(site, "sound_plugins", SOUND, "one", "two")
    with pytest.raises(ConfigurationError, match=r"of others are installed one \(ledgerd-sound_plugins 1\.2\), two"):
        given_to(tmp_path, "three")


def test_the_node_s_own_plugins_keep_their_names(tmp_path: Path, site: Path) -> None:
    made_distribution(site, "impostors", SOUND, "database_api")
    configuration = read_configuration({"data-dir": [str(tmp_path)], "plugin": ["database_api"]}, tmp_path)
    assert configuration.application.installed == ()
    assert "database_api" in configuration.application.plugins


def test_a_name_of_two_distributions_is_refused(tmp_path: Path, site: Path) -> None:
    made_distribution(site, "first_of_two", SOUND, "one")
    made_distribution(site, "second_of_two", SOUND, "one")
    with pytest.raises(ConfigurationError, match="several distributions have it: ledgerd-first_of_two, ledgerd-second"):
        given_to(tmp_path, "one")
    with pytest.raises(PluginRefused, match="several distributions"):
        load("one")


def test_nine_plugins_are_too_many(tmp_path: Path, site: Path) -> None:
    names = [f"p{number}" for number in range(9)]
    made_distribution(site, "many_plugins", SOUND, *names)
    assert given_to(tmp_path, *names[:8]) == tuple(names[:8])
    with pytest.raises(ConfigurationError, match="names 9 plugins of others: 8 are allowed"):
        given_to(tmp_path, *names)


@pytest.mark.parametrize("name", ["One", "o-ne", "1one", "o" * 65, "ö"])
def test_a_name_that_is_no_name_of_an_api_is_refused(name: str) -> None:
    assert "small letters" in fault_of_name(name, [InstalledPlugin(name, "d", "1", "m:a")])


def test_what_is_loaded_is_a_plugin_for_this_version(site: Path) -> None:
    made_distribution(site, "loaded_plugins", SOUND, "one", "two", "old", "other", "gone")
    made_distribution(site, "failing_plugin", "raise OSError(5, 'no disk', '/key')", "failing")
    made_distribution(site, "ending_plugin", "raise SystemExit(3)", "ending")
    assert isinstance(load("one"), ApiPlugin)
    for name, words in (
        ("two", "made for version 2.0 of the plugin API, and this node has 1.0: get another one"),
        ("old", "made for version 0.9"),
        ("other", "must name an ApiPlugin or an ObserverPlugin, not a int"),
        ("gone", "cannot be imported: AttributeError: .* has no attribute 'gone'"),
        ("failing", r"cannot be imported: OSError: /key: no disk \(.*failing_plugin\.py, line 1\)"),
        ("ending", "cannot be imported: SystemExit: 3"),
        ("nowhere", "it is not installed"),
    ):
        with pytest.raises(PluginRefused, match=words):
            load(name)


@pytest.mark.parametrize("version", [None, 1, "", "1", "1.0.0", "1.x", "1.-1", "1.1000000"])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    assert "does not say for which version" in version_fault(version)


def test_a_later_minor_version_needs_a_later_node() -> None:
    assert version_fault(API_VERSION) == ""
    assert "update the node" in version_fault("1.1")


async def later(view: ReadView) -> int:
    return view.head_number


def untyped(view: ReadView, name) -> int:  # type: ignore[no-untyped-def] # noqa: ANN001 - as an author may forget
    return view.head_number + name  # type: ignore[no-any-return] # as above


def silent(view: ReadView):  # type: ignore[no-untyped-def] # noqa: ANN201 - as an author may forget
    return view.head_number


def many(view: ReadView, *names: str) -> int:
    return view.head_number + len(names)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (later, "is asynchronous"),
        (untyped, "an argument without a type"),
        (silent, "does not say what it returns"),
        (many, "must take a view"),
    ],
)
def test_a_method_that_cannot_be_called_or_described_is_refused(function: object, words: str) -> None:
    plugin = ApiPlugin("A test.", api_version=API_VERSION)
    plugin.method(function)  # type: ignore[type-var] # as above
    assert words in fault_of(plugin)


def test_of_two_methods_of_a_name_none_is_lost_in_silence() -> None:
    plugin = ApiPlugin("A test.", api_version=API_VERSION)

    @plugin.method
    def twice(view: ReadView) -> int:
        return view.head_number

    with pytest.raises(ValueError, match="two methods are named twice"):
        plugin.method(twice)


class LateObserver(PluginObserver):
    """Was written for a loop that is not there."""

    async def applied(self, block: object) -> None:  # type: ignore[override] # as an author may think
        """Would not run."""


class DroppingObserver(PluginObserver):
    """Goes through its blocks for somebody who does not ask."""

    def undone(self, number: int) -> Iterator[int]:  # type: ignore[override] # as above
        yield number


def test_an_observer_that_would_let_blocks_go_by_is_refused(tmp_path: Path) -> None:
    assert fault_of_observer(PluginObserver(tmp_path)) == ""
    assert "its applied() is asynchronous" in fault_of_observer(LateObserver(tmp_path))
    assert "its undone() is a generator" in fault_of_observer(DroppingObserver(tmp_path))
    assert "must return a PluginObserver, not a NoneType" in fault_of_observer(None)


def test_a_declaration_out_of_bounds_is_refused() -> None:
    assert "at most 5 are allowed" in fault_of(ApiPlugin("Slow.", api_version=API_VERSION, seconds=6))
    assert "is not the number of a block" in fault_of(
        ObserverPlugin("Early.", PluginObserver, api_version=API_VERSION, start=-1)
    )
    assert fault_of(ObserverPlugin("Good.", PluginObserver, api_version=API_VERSION)) == ""


def test_a_configuration_without_plugins_of_others_looks_for_none(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ledgerd.node.config.configuration import read_configuration as r; "
        f"r({{'data-dir': ['{tmp_path}'], 'plugin': ['database_api']}}, Path('/')); "
        "print([each for each in sys.modules if each.startswith('ledgerd.plugins')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - our own program
    assert ran.stdout.strip() == "[]"
