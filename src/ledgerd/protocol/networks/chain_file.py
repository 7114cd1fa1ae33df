"""The file of a private network: a TOML document that says where it differs from mainnet or testnet.

Keys are the fields of `ChainParameters`, besides `base` (the network to start from), `last_hardfork` (the last one
that it goes to), `hardfork_times` (a table from numbers to times) and `genesis` (a word, a file beside this one, or
the accounts themselves). A new `name` makes a new chain id, unless `chain_id` gives one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ledgerd.basics.durable import read_file
from ledgerd.codec import DecodeError
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.genesis_accounts import GenesisAccount, genesis_of, read_genesis
from ledgerd.protocol.networks.hardforks import Hardfork, known_until, rescheduled
from ledgerd.protocol.networks.parameters import NETWORKS, ChainParameters, chain_id_of
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.protocol.types.times import LATEST

T = TypeVar("T")

CHAIN_ID_SIZE = 32
MOST_VALIDATORS = 255
"""The places of a round are counted in one byte."""

LARGEST_FILE = 4 << 20
"""Bytes, of a file with the accounts of a large genesis."""

MOST_PARTS = 16
"""Parts of a key with dots, which nest as deeply."""
_WORD = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"(?<![\w-])(?:{_WORD}[ \t]*\.[ \t]*){{{MOST_PARTS - 1}}}{_WORD}")
"""The time and memory to read a key grow with the square of its parts: 60,000 of them took minutes and 3 GB."""

BASE = "base"
HARDFORK_TIMES = "hardfork_times"
LAST_HARDFORK = "last_hardfork"


def parameters_of(choice: str) -> ChainParameters:
    """The network that a word, or else the path of a chain file, chooses."""
    if choice in NETWORKS:
        return NETWORKS[choice]
    path = Path(choice)
    if not path.exists():
        raise OperatorError(f"{choice}: there is no such file, and no such network: {' or '.join(NETWORKS)}")
    return load_parameters(path)


def load_parameters(path: Path) -> ChainParameters:
    """The network that a chain file describes; an `OperatorError` names the file and the key of a fault."""
    document = _read(path)
    base = _base(document, path)
    known = {field.name: field.type for field in msgspec.structs.fields(ChainParameters)}
    del known["hardforks"]
    changes: dict[str, Any] = {}
    known_hardforks = _last_hardfork(document, base, path)
    for key, value in document.items():
        if key in (BASE, LAST_HARDFORK):
            continue
        if key == HARDFORK_TIMES:
            known_hardforks = _rescheduled(value, known_hardforks, path)
        elif key in READERS:
            changes[key] = READERS[key](value, key, path)
        elif key in known:
            changes[key] = _plain(value, known[key], key, path)
        else:
            (nearest,) = get_close_matches(key, [BASE, HARDFORK_TIMES, LAST_HARDFORK, *known], n=1, cutoff=0)
            raise OperatorError(f"{path}: {key}: no such key; the nearest one is {nearest}")
    if "name" in changes and "chain_id" not in changes:
        changes["chain_id"] = chain_id_of(changes["name"])
    parameters = msgspec.structs.replace(base, hardforks=known_hardforks, **changes)
    _check_together(parameters, path)
    return parameters


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_file(path, LARGEST_FILE).decode()
        if _DEEP_KEY.search(text):
            raise OperatorError(f"{path}: a key of {MOST_PARTS} parts or more is no key of a chain file")
        return tomllib.loads(text)
    except OSError as error:
        raise OperatorError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OperatorError(f"{path}: not TOML: {error}") from error
    except RecursionError:
        raise OperatorError(f"{path}: its arrays and tables are nested too deeply") from None


def _base(document: dict[str, Any], path: Path) -> ChainParameters:
    word = document.get(BASE)
    if not isinstance(word, str) or word not in NETWORKS:
        words = " or ".join(f'"{name}"' for name in NETWORKS)
        raise OperatorError(f"{path}: {BASE}: must be {words}")
    return NETWORKS[word]


def _plain(value: object, kind: type[T], key: str, path: Path) -> T:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise OperatorError(f"{path}: {key}: {error}") from error


def _key(value: object, key: str, path: Path) -> PublicKey:
    try:
        return public_key_from_text(_plain(value, str, key, path))
    except DecodeError as error:
        raise OperatorError(f"{path}: {key}: not a public key: {error}") from error


def _chain_id(value: object, key: str, path: Path) -> ChainId:
    digits = _plain(value, str, key, path)
    try:
        raw = bytes.fromhex(digits)
    except ValueError:
        raw = b""
    if len(raw) != CHAIN_ID_SIZE or raw.hex() != digits.lower():
        raise OperatorError(f"{path}: {key}: must be {2 * CHAIN_ID_SIZE} hex digits")
    return ChainId(raw)


def _genesis(value: object, key: str, path: Path) -> str | tuple[GenesisAccount, ...]:
    if isinstance(value, str):
        return value if value in NETWORKS else read_genesis(path.parent / value)
    return genesis_of(value, f"{path}: {key}")


READERS: dict[str, Callable[[object, str, Path], Any]] = {
    "chain_id": _chain_id,
    "genesis": _genesis,
    "initiator_key": _key,
    "committee_key": _key,
    "invite_key": _key,
    "emergency_key": _key,
}


def _last_hardfork(document: dict[str, Any], base: ChainParameters, path: Path) -> tuple[Hardfork, ...]:
    """The hardforks that the network knows, which may stop before the latest: its version is that of the last one."""
    latest = base.last_hardfork.number
    last = document.get(LAST_HARDFORK, latest)
    if type(last) is not int or not 0 <= last <= latest:
        raise OperatorError(f"{path}: {LAST_HARDFORK}: must be a number from 0 to {latest}")
    return known_until(base.hardforks, last)


def _rescheduled(value: object, hardforks: tuple[Hardfork, ...], path: Path) -> tuple[Hardfork, ...]:
    table = _plain(value, dict[str, Any], HARDFORK_TIMES, path)
    numbers = {str(each.number): each.number for each in hardforks if each.number}
    times: dict[int, int] = {}
    for word, time in table.items():
        if word not in numbers:
            last = hardforks[-1].number
            raise OperatorError(f"{path}: {HARDFORK_TIMES}.{word}: no such hardfork; they go from 1 to {last}")
        times[numbers[word]] = _time(time, f"{HARDFORK_TIMES}.{word}", path)
    return rescheduled(hardforks, times)


def _time(value: object, key: str, path: Path) -> int:
    """Seconds since 1970, or a TOML date and time, which is UTC unless it says otherwise."""
    if isinstance(value, datetime):
        value = int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
    if type(value) is not int or not 0 <= value <= LATEST:
        raise OperatorError(f"{path}: {key}: must be a time of 1970 to 2106, or its seconds since 1970")
    return value


def _check_together(parameters: ChainParameters, path: Path) -> None:
    rounds = parameters.max_validators
    if rounds > MOST_VALIDATORS:
        raise OperatorError(
            f"{path}: max_support_validators: with max_top_validators they are {rounds}, "
            f"and {MOST_VALIDATORS} is the most"
        )
    if parameters.hardfork_required_validators > rounds:
        raise OperatorError(
            f"{path}: hardfork_required_validators: {parameters.hardfork_required_validators} of {rounds} "
            "validators could never agree"
        )
    least, default = parameters.min_distribution_epoch_length, parameters.default_distribution_epoch_length
    if least > default:
        raise OperatorError(f"{path}: min_distribution_epoch_length: {least} is above the default of {default}")
