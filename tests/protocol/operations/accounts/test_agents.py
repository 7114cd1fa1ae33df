"""Agents: bytes, JSON, rules, authorities."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE, SetAgentPermission
from ledgerd.protocol.operations.base import Operation, active, name_of
from ledgerd.protocol.operations.variant import OLD_NAMES, names_that_can_be_sent
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import (
    accepts,
    asks_for_names,
    changed,
    read,
    refuses,
    refuses_for_the_first_of_two_faults,
    round_trips,
)

KEY = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
GRANT_FIELDS: dict[str, Any] = {
    "account": "alice",
    "agent_name": "bot_1",
    "agent_key": KEY,
    "operations": ["award", "pm_place_bet"],
    "expiration": "2027-01-01T00:00:00",
    "addons": ["vizhub"],
    "extensions": [],
}
GRANT_JSON = ["set_agent_permission", GRANT_FIELDS]
GRANT = read(GRANT_JSON, SetAgentPermission)
REVOCATION = changed(GRANT, operations=(), addons=(), agent_key=NULL_KEY)

BAD_LABEL = 'label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == string::npos: agent_name '
BAD_NAME = 'raw.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == string::npos: operation name '
LOWER_CASE_NAME = " must be lower-case ascii, digits or underscore"

UNSOUND: tuple[tuple[SetAgentPermission, str], ...] = (
    (changed(GRANT, agent_name=NO_NAME), "!label.empty(): agent_name is empty"),
    (
        changed(GRANT, agent_name=AccountName("a.b")),
        f"{BAD_LABEL}a.b must be lower-case ascii, digits, '_' or '-'",
    ),
    (
        changed(GRANT, agent_name=AccountName("Bot")),
        f"{BAD_LABEL}Bot must be lower-case ascii, digits, '_' or '-'",
    ),
    (changed(GRANT, agent_key=NULL_KEY), "agent_key != public_key_type(): agent_key is required when granting"),
    (
        changed(GRANT, addons=tuple(f"{number:02}" for number in range(11))),
        "addons.size() <= AGENT_MAX_ADDONS: at most 10 addons",
    ),
    (changed(GRANT, addons=("",)), "!a.empty(): empty addon"),
    (
        changed(GRANT, addons=("x" * 64,)),
        f"a.size() <= AGENT_MAX_ADDON_LEN: addon {'x' * 64} is longer than 63 bytes",
    ),
    (changed(GRANT, addons=("a,b",)), "a.find(',') == string::npos: addon a,b must not contain ','"),
    (changed(GRANT, operations=("",)), "!raw.empty(): empty operation name in the permission list"),
    (
        changed(GRANT, operations=("x" * 65,)),
        f"raw.size() <= AGENT_MAX_OPERATION_NAME_LEN: operation name {'x' * 65} is longer than 64 bytes",
    ),
    (changed(GRANT, operations=("Transfer",)), f"{BAD_NAME}Transfer{LOWER_CASE_NAME}"),
    (changed(GRANT, operations=("Transfer", "account_update")), f"{BAD_NAME}Transfer{LOWER_CASE_NAME}"),
    (
        changed(GRANT, operations=("witness_update",)),
        "name == raw: operation name witness_update is a legacy alias, use validator_update",
    ),
    (
        changed(GRANT, operations=("witness_reward",)),
        "name == raw: operation name witness_reward is a legacy alias, use validator_reward",
    ),
    (
        changed(GRANT, operations=("vote",)),
        "!never_delegable_operation_names().count(name): operation vote is not delegable",
    ),
    *(
        (
            changed(GRANT, operations=(name,)),
            f"is_broadcastable_operation_wire_name(name): unknown or non-broadcastable operation {name}",
        )
        for name in ("author_reward", "pm_payout", "tranfer", "transfer_operation", "x" * 64)
    ),
)


def test_a_grant_in_bytes_and_json() -> None:
    round_trips(
        GRANT,
        "6905616c69636505626f745f3102c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee"
        "020561776172640c706d5f706c6163655f62657480ec366b010676697a68756200",
        GRANT_JSON,
    )


def test_names_and_addons_are_sorted_by_their_bytes_and_each_is_there_once() -> None:
    sent = {"operations": ["transfer", "award", "award"], "addons": ["b", "a", "B"]}
    made = read(["set_agent_permission", sent], SetAgentPermission)

    assert (made.operations, made.addons) == (("award", "transfer"), ("B", "a", "b"))


def test_missing_keys_revoke_nothing_of_nobody() -> None:
    assert codec_of(Operation).encode(read([105, {}], SetAgentPermission)).hex() == "69" + "00" * 42


def test_a_name_is_cut_at_32_bytes_before_it_is_looked_at() -> None:
    long = codec_of(SetAgentPermission).from_json({**GRANT_FIELDS, "agent_name": "a" * 40})

    accepts(long)
    assert long.agent_name == "a" * 32


@pytest.mark.parametrize(
    "operation",
    [
        GRANT,
        REVOCATION,
        changed(REVOCATION, expiration=1),
        changed(GRANT, agent_name=AccountName("0")),
        changed(GRANT, agent_name=AccountName("-_")),
        changed(GRANT, operations=()),
        changed(GRANT, addons=()),
        changed(GRANT, expiration=0),
        changed(GRANT, addons=tuple(f"{number:02}" for number in range(10))),
        changed(GRANT, addons=("x" * 63, "\0 \udcff")),
        changed(GRANT, operations=("set_agent_permission",)),
        changed(GRANT, operations=("proposal_create", "proposal_delete")),
    ],
    ids=repr,
)
def test_what_is_within_its_bounds_is_accepted(operation: SetAgentPermission) -> None:
    accepts(operation)


@pytest.mark.parametrize(("operation", "message"), UNSOUND)
def test_what_is_out_of_its_bounds_is_refused(operation: Operation, message: str) -> None:
    refuses(operation, message)


def test_of_two_faults_the_first_is_told() -> None:
    assert refuses_for_the_first_of_two_faults(GRANT, UNSOUND) > 20


def test_57_of_67_operations_can_be_granted() -> None:
    sent = {name_of(each) for each in OPERATIONS if not each.VIRTUAL}
    grantable = tuple(sorted(sent - NEVER_DELEGABLE))

    assert names_that_can_be_sent() == sent
    assert not sent & OLD_NAMES.keys()
    assert (len(sent), len(grantable)) == (67, 57)
    accepts(changed(GRANT, operations=grantable))
    for name in NEVER_DELEGABLE:
        refuses(
            changed(GRANT, operations=(name,)),
            f"!never_delegable_operation_names().count(name): operation {name} is not delegable",
        )


def test_the_account_that_lets_another_sign_must_agree() -> None:
    asks_for_names(GRANT, "account")
    assert GRANT.authorities() == REVOCATION.authorities() == active(AccountName("alice"))
