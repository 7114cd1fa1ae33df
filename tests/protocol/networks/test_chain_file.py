"""Chain files: what a private network may choose, and how a fault in the file is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import load_parameters, parameters_of
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS
from ledgerd.protocol.networks.parameters import MAINNET, NETWORKS, TESTNET, ChainParameters, chain_id_of

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
KEY = "VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8"


def load(folder: Path, text: str) -> ChainParameters:
    path = folder / "chain.toml"
    path.write_text(text, encoding="utf-8")
    return load_parameters(path)


def refused(folder: Path, text: str) -> str:
    """What the operator is told, without the path that it begins with."""
    with pytest.raises(OperatorError) as refusal:
        load(folder, text)
    told = str(refusal.value)
    assert told.startswith(f"{folder / 'chain.toml'}: ")
    return told.removeprefix(f"{folder / 'chain.toml'}: ")


def test_the_recorded_private_network_has_mainnets_rules_and_the_testnets_accounts() -> None:
    network = load_parameters(VECTORS / "open-main.toml")

    assert network.chain_id == MAINNET.chain_id
    assert network.max_validators == 21
    assert network.genesis_accounts == TESTNET.genesis_accounts


@pytest.mark.parametrize("word", NETWORKS)
def test_a_base_alone_is_that_network(tmp_path: Path, word: str) -> None:
    assert load(tmp_path, f'base = "{word}"') == NETWORKS[word]


@pytest.mark.parametrize("word", NETWORKS)
def test_a_known_network_is_chosen_by_its_word(word: str) -> None:
    assert parameters_of(word) is NETWORKS[word]


def test_any_other_choice_is_a_file() -> None:
    assert parameters_of(str(VECTORS / "open-main.toml")).genesis == "testnet"


def test_a_choice_that_is_neither_is_refused() -> None:
    with pytest.raises(OperatorError, match="no such file, and no such network: mainnet or testnet"):
        parameters_of("mainet")


def test_a_new_name_makes_a_new_chain_id(tmp_path: Path) -> None:
    network = load(tmp_path, 'base = "testnet"\nname = "VILLAGE"')

    assert network.name == "VILLAGE"
    assert network.chain_id == chain_id_of("VILLAGE")


def test_a_chain_id_may_be_given(tmp_path: Path) -> None:
    network = load(tmp_path, f'base = "testnet"\nname = "VILLAGE"\nchain_id = "{"Ab" * 32}"')

    assert network.chain_id == bytes.fromhex("ab" * 32)


def test_numbers_and_keys_replace_those_of_the_base(tmp_path: Path) -> None:
    text = f'base = "mainnet"\nmax_top_validators = 30\nenergy_regeneration_seconds = 1\ninitiator_key = "{KEY}"'

    network = load(tmp_path, text)

    assert network.max_validators == 40
    assert network.energy_regeneration_seconds == 1
    assert public_key_text(network.initiator_key) == KEY
    assert network.committee_key == MAINNET.committee_key


def test_hardforks_may_have_times_of_their_own(tmp_path: Path) -> None:
    text = """
        base = "mainnet"
        [hardfork_times]
        1 = 0
        12 = 4294967295
        9 = 2030-01-01T00:00:00
        13 = 2030-01-01T02:00:00+02:00
    """

    network = load(tmp_path, text)

    assert [network.hardforks[number].time for number in (1, 9, 12, 13)] == [
        0,
        1_893_456_000,
        4_294_967_295,
        1_893_456_000,
    ]
    assert network.hardforks[2] == MAINNET_HARDFORKS[2]


@pytest.mark.parametrize("last", [0, 13, 14, 15])
def test_a_network_may_stop_at_any_hardfork_and_runs_its_version(tmp_path: Path, last: int) -> None:
    network = load(tmp_path, f'base = "mainnet"\nlast_hardfork = {last}')

    assert network.hardforks == MAINNET_HARDFORKS[: last + 1]
    assert network.version == MAINNET_HARDFORKS[last].version
    assert load(tmp_path, 'base = "mainnet"').hardforks == MAINNET_HARDFORKS


def test_a_network_that_stops_early_may_have_times_of_its_own_too(tmp_path: Path) -> None:
    network = load(tmp_path, 'base = "testnet"\nlast_hardfork = 13\n[hardfork_times]\n13 = 7')

    assert (network.last_hardfork.number, network.last_hardfork.time) == (13, 7)


def test_genesis_accounts_may_stand_in_the_file(tmp_path: Path) -> None:
    text = f'base = "testnet"\n[[genesis]]\nlogin = "eve"\npublic_key = "{KEY}"\nshares_amount = 5'

    network = load(tmp_path, text)

    assert [(account.name, account.amount) for account in network.genesis_accounts] == [("eve", 5)]


def test_genesis_accounts_may_stand_in_a_file_beside_it(tmp_path: Path) -> None:
    accounts = [{"login": "eve", "public_key": KEY, "shares_amount": "5"}]
    (tmp_path / "accounts.json").write_text(json.dumps({"accounts": accounts}), encoding="utf-8")

    network = load(tmp_path, 'base = "testnet"\ngenesis = "accounts.json"')

    assert [(account.name, account.amount) for account in network.genesis_accounts] == [("eve", 5)]


def test_a_genesis_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text('base = "testnet"\ngenesis = "accounts.json"', encoding="utf-8")

    with pytest.raises(OperatorError, match=r"accounts\.json: cannot be read"):
        load_parameters(path)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("max_top_validator", "max_top_validators"),
        ("hardforks", "hardfork_times"),
        ("hardfork_time", "hardfork_times"),
        ("energy_regeneration", "energy_regeneration_seconds"),
        ("bse", "base"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path, key: str, nearest: str) -> None:
    told = refused(tmp_path, f'base = "mainnet"\n{key} = 1')

    assert told == f"{key}: no such key; the nearest one is {nearest}"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("max_top_validators = 0", "max_top_validators: Expected `int` >= 1"),
        ("max_top_validators = 256", "max_top_validators: Expected `int` <= 255"),
        ("max_support_validators = -1", "max_support_validators: Expected `int` >= 0"),
        ('max_top_validators = "11"', "max_top_validators: Expected `int`, got `str`"),
        ("max_top_validators = 11.0", "max_top_validators: Expected `int`, got `float`"),
        ("max_top_validators = true", "max_top_validators: Expected `int`, got `bool`"),
        ("energy_regeneration_seconds = 0", "energy_regeneration_seconds: Expected `int` >= 1"),
        ("master_update_limit = 4294967296", "master_update_limit: Expected `int` <= 4294967295"),
        ("vesting_withdraw_intervals = 65536", "vesting_withdraw_intervals: Expected `int` <= 65535"),
        ("committee_min_duration = 2592001", "committee_min_duration: Expected `int` <= 2592000"),
        ('name = ""', "name: Expected `str` of length >= 1"),
        ("name = 1", "name: Expected `str`, got `int`"),
        ('chain_id = "20"', "chain_id: must be 64 hex digits"),
        (f'chain_id = "{"no" * 32}"', "chain_id: must be 64 hex digits"),
        (f'chain_id = "{"ab " * 32}"', "chain_id: must be 64 hex digits"),
        ("chain_id = 20", "chain_id: Expected `str`, got `int`"),
        ('invite_key = "VIZ1"', "invite_key: not a public key: "),
        ("invite_key = 1", "invite_key: Expected `str`, got `int`"),
        ("genesis = 1", "genesis: the accounts must be a list of objects"),
        ("genesis = [{}]", "genesis: account 1: lacks 'login'"),
        ("hardfork_times = 1", "hardfork_times: Expected `object`, got `int`"),
        ("hardfork_times.0 = 1", "hardfork_times.0: no such hardfork; they go from 1 to 15"),
        ("hardfork_times.16 = 1", "hardfork_times.16: no such hardfork; they go from 1 to 15"),
        ("last_hardfork = 13\nhardfork_times.14 = 1", "hardfork_times.14: no such hardfork; they go from 1 to 13"),
        ("last_hardfork = 16", "last_hardfork: must be a number from 0 to 15"),
        ("last_hardfork = -1", "last_hardfork: must be a number from 0 to 15"),
        ('last_hardfork = "13"', "last_hardfork: must be a number from 0 to 15"),
        ("hardfork_times.1 = -1", "hardfork_times.1: must be a time of 1970 to 2106"),
        ("hardfork_times.1 = 4294967296", "hardfork_times.1: must be a time of 1970 to 2106"),
        ("hardfork_times.1 = true", "hardfork_times.1: must be a time of 1970 to 2106"),
        ("hardfork_times.1 = 2107-01-01T00:00:00Z", "hardfork_times.1: must be a time of 1970 to 2106"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_key(tmp_path: Path, line: str, fault: str) -> None:
    assert refused(tmp_path, f'base = "mainnet"\n{line}').startswith(fault)


def test_the_largest_values_are_accepted(tmp_path: Path) -> None:
    text = 'base = "testnet"\nmax_top_validators = 255\nmaster_update_limit = 4294967295\nhardfork_times.1 = 0'

    assert load(tmp_path, text).max_validators == 255


def test_a_round_has_255_places_at_most(tmp_path: Path) -> None:
    told = refused(tmp_path, 'base = "mainnet"\nmax_top_validators = 246')

    assert told == "max_support_validators: with max_top_validators they are 256, and 255 is the most"


def test_no_more_validators_can_be_required_than_there_are(tmp_path: Path) -> None:
    assert load(tmp_path, 'base = "mainnet"\nhardfork_required_validators = 21').max_validators == 21

    told = refused(tmp_path, 'base = "mainnet"\nhardfork_required_validators = 22')

    assert told == "hardfork_required_validators: 22 of 21 validators could never agree"


def test_the_default_epoch_keeps_to_the_least_one(tmp_path: Path) -> None:
    told = refused(tmp_path, 'base = "mainnet"\nmin_distribution_epoch_length = 28801')

    assert told == "min_distribution_epoch_length: 28801 is above the default of 28800"


@pytest.mark.parametrize("text", ["", 'base = "village"', "base = 1", 'name = "VILLAGE"'])
def test_a_file_without_a_known_base_is_refused(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text) == 'base: must be "mainnet" or "testnet"'


@pytest.mark.parametrize("raw", [b"base", b"base = 'mainnet'\nbase = 'testnet'", b"\xff"])
def test_what_is_not_toml_is_refused(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "chain.toml"
    path.write_bytes(raw)

    with pytest.raises(OperatorError, match=r"chain\.toml: not TOML: "):
        load_parameters(path)


def test_a_folder_is_no_chain_file(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be read: Is a directory"):
        parameters_of(str(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "a" + ".a" * 60_000 + " = 1",
        "[" + "a." * 60_000 + "a]",
        "x = {" + '"a" . ' * 60_000 + "a = 1}",
        'x."\\"' + '"."\\"' * 60_000 + '"."y" = 1',
        "'a'" + ".'a'" * 60_000 + " = 1",
    ],
)
def test_a_key_of_very_many_parts_is_not_read(tmp_path: Path, text: str) -> None:
    """The time that each takes grows with the square of its parts."""
    assert refused(tmp_path, text) == "a key of 16 parts or more is no key of a chain file"


def test_what_looks_like_such_a_key_and_is_a_text_or_a_number_is_read(tmp_path: Path) -> None:
    assert (
        load(tmp_path, 'base = "testnet"\nname = "a.b.c.d.e.f.g.h.i.j.k.l.m.n"').name == "a.b.c.d.e.f.g.h.i.j.k.l.m.n"
    )


def test_what_is_nested_too_deeply_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path, "a = " + "[" * 100_000) == "its arrays and tables are nested too deeply"


@pytest.mark.parametrize("name", ["chain.toml", "accounts.json"])
def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "chain.toml").write_text('base = "testnet"\ngenesis = "accounts.json"')
    with (tmp_path / name).open("r+b" if name == "chain.toml" else "wb") as opened:
        opened.truncate(1 << 40)
    with pytest.raises(OperatorError, match=rf"{name}: cannot be read: it has more than [0-9,]+ bytes"):
        load_parameters(tmp_path / "chain.toml")


def test_a_key_of_any_length_is_quoted_in_part(tmp_path: Path) -> None:
    assert len(refused(tmp_path, 'base = "testnet"\n' + "a" * 100_000 + " = 1")) < 11_000
