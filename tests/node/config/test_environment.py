"""Environment variables of a container, read into the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.given import ConfigurationError, Given, add_environment
from ledgerd.protocol.crypto.keys import public_key_text
from tests.node.configurations import COMMITTEE_KEY, COMMITTEE_WIF

FILE = "plugin = validator\np2p-seed-node = old.example:2001\nseed-node = older.example:2001\nwitness = bob\n"


def configured(folder: Path, text: str = FILE, *words: str, **variables: str) -> Configuration:
    """The configuration of a file, of options such as `p2p-seed-node=x`, and of variables."""
    (folder / "config.ini").write_text(text, encoding="utf-8")
    command_line: dict[str, list[str]] = {"data-dir": ["."], "environment": ["true"]}
    for word in words:
        name, _, value = word.partition("=")
        command_line.setdefault(name, []).append(value)
    return read_configuration(command_line, folder, variables)


def seeds(configuration: Configuration) -> list[str]:
    return [str(each) for each in configuration.p2p.seeds]


def test_seeds_of_the_environment_take_the_place_of_those_of_the_file(tmp_path: Path) -> None:
    assert seeds(configured(tmp_path, NODE_SEED_NODES="a.example:1, b.example:2")) == ["a.example:1", "b.example:2"]


def test_seeds_of_the_command_line_stand_beside_those_of_the_environment(tmp_path: Path) -> None:
    given_too = configured(
        tmp_path, FILE, "p2p-seed-node=c.example:3", "seed-node=d.example:4", NODE_SEED_NODES="a.example:1"
    )

    assert seeds(given_too) == ["d.example:4", "c.example:3", "a.example:1"]


@pytest.mark.parametrize("text", ["", " ", ",", " ,\n"])
def test_no_seeds_in_the_environment_leave_those_of_the_file(tmp_path: Path, text: str) -> None:
    assert seeds(configured(tmp_path, NODE_SEED_NODES=text)) == ["older.example:2001", "old.example:2001"]


def test_a_seed_that_is_none_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as error:
        configured(tmp_path, NODE_SEED_NODES="a.example")

    (problem,) = error.value.problems
    assert problem.startswith("environment: NODE_SEED_NODES=a.example: Missing required port number")
    assert problem.endswith("for example: NODE_SEED_NODES=seed.example.org:2001")


def test_a_validator_of_the_environment_is_added_to_those_of_the_file(tmp_path: Path) -> None:
    assert configured(tmp_path, NODE_WITNESS=" alice\n").validator.names == ("alice", "bob")
    assert configured(tmp_path, NODE_WITNESS='"alice"').validator.names == ("alice", "bob")


def test_a_key_of_the_environment_is_one_of_the_keys(tmp_path: Path) -> None:
    keys = configured(tmp_path, NODE_PRIVATE_KEY=f" {COMMITTEE_WIF} ").validator.keys.values()

    assert [public_key_text(key.public) for key in keys] == [COMMITTEE_KEY]


@pytest.mark.parametrize("key", [COMMITTEE_WIF[:-1], COMMITTEE_WIF + "x", f"{COMMITTEE_WIF} {COMMITTEE_WIF}", "#"])
def test_a_key_that_is_none_is_named_by_its_variable_and_not_repeated(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        configured(tmp_path, NODE_PRIVATE_KEY=key)

    (problem,) = error.value.problems
    assert problem.startswith("environment: NODE_PRIVATE_KEY: is not a private key in WIF")
    assert COMMITTEE_WIF[:10] not in problem


def test_without_the_plugin_nothing_makes_blocks_and_that_is_said(tmp_path: Path) -> None:
    configuration = configured(tmp_path, "plugin = chain\n", NODE_WITNESS="alice", NODE_PRIVATE_KEY="anything")

    assert configuration.validator.names == ()
    assert configuration.validator.keys == {}
    assert [remark.split()[1] for remark in configuration.remarks] == ["NODE_WITNESS", "NODE_PRIVATE_KEY"]


def test_the_plugin_may_be_named_on_the_command_line(tmp_path: Path) -> None:
    configuration = configured(tmp_path, "", "plugin=chain,validator", NODE_WITNESS="alice")

    assert configuration.validator.names == ("alice",)


def test_nothing_is_taken_from_the_environment_unasked(tmp_path: Path) -> None:
    (tmp_path / "config.ini").write_text(FILE, encoding="utf-8")
    variables = {"NODE_SEED_NODES": "a.example:1", "NODE_WITNESS": "alice", "NODE_PRIVATE_KEY": COMMITTEE_WIF}

    configuration = read_configuration({"data-dir": ["."]}, tmp_path, variables)

    assert seeds(configuration) == ["older.example:2001", "old.example:2001"]
    assert configuration.validator.names == ("bob",)


def test_what_was_understood_says_where_it_comes_from(tmp_path: Path) -> None:
    settings = configured(tmp_path, NODE_WITNESS="alice", NODE_SEED_NODES="a.example:1").settings

    assert {each.option.name: each.where for each in settings if "environment" in each.where} == {
        "p2p-seed-node": ("environment",),
        "validator": (f"{tmp_path / 'config.ini'}:4", "environment"),
    }


@given(
    st.lists(st.from_regex(r"[a-z]{1,8}:[0-9]{1,4}", fullmatch=True)), st.sampled_from([" ", ",", ", ", "\t", "\n,"])
)
def test_seeds_may_be_set_apart_by_blanks_or_commas(seeds: list[str], between: str) -> None:
    options: dict[str, list[Given]] = {}

    add_environment({"NODE_SEED_NODES": between.join(seeds)}, options, [])

    assert [each.text for each in options.get("p2p-seed-node", ())] == seeds
