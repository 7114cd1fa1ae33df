"""The walk that remembers what failed agrees with the plain one in everything, and takes few steps.

`RANDOM_WEBS=1000000` in the environment tries more random webs than a usual run does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import pytest

from ledgerd.protocol.authorities.authority_check import MissingAuthority, begin_signing, require_satisfied
from ledgerd.protocol.authorities.authority_web import Lookups, Web
from ledgerd.protocol.authorities.operation_authority import TransactionKeys, left_to_agents, verify_operations
from ledgerd.protocol.authorities.signing import Signing
from ledgerd.protocol.errors import RuleViolation
from tests.protocol.plain_walk import PlainSigning, begin_plainly, left_plainly, require_plainly, verify_plainly
from tests.protocol.random_webs import RandomWeb, agent_keys_of

WEBS = int(os.environ.get("RANDOM_WEBS", "2000"))
"""How many are tried, in four parts."""

PARTS = 4


def told(ask: Callable[[], object]) -> object:
    """What comes of a check: its result, or all that its refusal says."""
    try:
        return ask()
    except RuleViolation as refusal:
        accounts = refusal.accounts if isinstance(refusal, MissingAuthority) else ()
        return type(refusal), refusal.message, accounts


def walks_agree(number: int) -> None:
    """A few checks of the same web and keys, of which each asks for several things one after the other."""
    web = RandomWeb(number)
    random = web.random
    approvals = web.some_names(2) if random.random() < 0.2 else ()
    ours = web.accounts(Lookups())
    shared = Web(ours.active, web.keys, ours.lookups, approvals)
    others = [web.authority(), *web.tables[1].values()]
    for _ in range(random.randint(1, 3)):
        signing, plain = Signing(shared), PlainSigning(web.accounts().active, web.keys, approvals)
        for _ in range(random.randint(1, 6)):
            name, authority, step = random.choice(web.names), random.choice(others), random.random()
            if step < 0.5:
                answers = told(lambda: signing.name_satisfied(name)), told(lambda: plain.name_satisfied(name))  # noqa: B023 - called at once
            elif step < 0.8:
                answers = told(lambda: signing.satisfied(authority)), told(lambda: plain.satisfied(authority))  # noqa: B023 - called at once
            elif step < 0.9:
                key = random.choice(web.all_keys)
                answers = signing.signed(key), plain.signed(key)
            else:
                tried, plainly_tried = signing.copy(), plain.copy()
                answers = told(partial(tried.satisfied, authority)), told(partial(plainly_tried.satisfied, authority))
                if random.random() < 0.5:
                    signing, plain = tried, plainly_tried
            assert answers[0] == answers[1]
            if not isinstance(answers[0], bool):
                break  # an account that is not there ends the check
            assert signing.used_keys == plain.used_keys
            assert signing.idle_approvals == plain.idle_approvals


def checks_of_all_agree(number: int) -> None:
    """As before hardfork 15, and for proposals."""
    web = RandomWeb(number)
    required, approvals = web.required(), web.approvals()
    ours, theirs = web.accounts(Lookups()), web.accounts()
    signing = begin_signing(required, web.keys, ours, approvals)
    answer = told(lambda: require_satisfied(required, ours, signing, approvals))
    fetched, web.fetched = web.fetched, set()
    plain = begin_plainly(required, web.keys, theirs, approvals)
    assert answer == told(lambda: require_plainly(required, theirs, plain, approvals))
    if answer != (RuleViolation, "unknown key: ", ()):
        assert signing.used_keys == plain.used_keys
        assert signing.idle_approvals == plain.idle_approvals
        assert fetched == web.fetched


def checks_of_operations_agree(number: int) -> None:
    """As since hardfork 15, with agents."""
    web = RandomWeb(number)
    operations, asked = web.operations()
    agents = partial(agent_keys_of, web.agents())
    allow_unused = web.random.random() < 0.5
    ours, theirs = web.accounts(Lookups()), web.accounts()
    keys = TransactionKeys(web.keys, ours)
    assert told(lambda: verify_operations(operations, asked, keys, agents, allow_unused=allow_unused)) == told(
        lambda: verify_plainly(operations, asked, web.keys, theirs, agents, allow_unused=allow_unused)
    )
    for required in asked:
        assert told(lambda: left_to_agents(required, keys)) == told(lambda: left_plainly(required, web.keys, theirs))  # noqa: B023 - called at once


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("agree", [walks_agree, checks_of_all_agree, checks_of_operations_agree])
def test_what_is_remembered_changes_no_answer_and_no_used_key(agree: Callable[[int], None], part: int) -> None:
    for number in range(part, WEBS, PARTS):
        try:
            agree(number)
        except AssertionError as difference:
            raise AssertionError(f"web {number}") from difference
