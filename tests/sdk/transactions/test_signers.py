"""Which keys sign: the least that suffices, and an agent's where nothing else is there."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.protocol.authorities.authority_check import Accounts, verify_required
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.money.awards import Award
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.errors import MixedAuthorities
from ledgerd.sdk.transactions.signers import Signers

KEYS = tuple(sorted(PrivateKey(bytes([number]) * 32).public for number in range(1, 10)))
REGULAR, ACTIVE, MASTER, OTHER, AGENT, FRIEND = KEYS[:6]
ALICE, BOB = AccountName("alice"), AccountName("bob")
Three = tuple[Authority, Authority, Authority]

ALICES: Three = (authority_of(REGULAR), authority_of(ACTIVE), authority_of(MASTER))
AWARD = Award(ALICE, BOB, 100, 0, "", ())
TRANSFER = Transfer(ALICE, BOB, tokens(1), "")
NEW_MASTER = AccountUpdate(ALICE, authority_of(OTHER), None, None, OTHER, "")


def signers(*operations: Operation, accounts: Mapping[AccountName, Three] | None = None, agent: str = "") -> Signers:
    known = {ALICE: ALICES} if accounts is None else accounts
    return Signers(
        Transaction(0, 0, 0, operations, (), ()),
        lambda name: known[name],
        lambda name, title: [AGENT] if (name, title) == (ALICE, agent) else [],
    )


@pytest.mark.parametrize(
    ("operation", "available", "chosen"),
    [
        (AWARD, KEYS, [REGULAR]),
        (AWARD, [ACTIVE, MASTER], [ACTIVE]),
        (AWARD, [MASTER], [MASTER]),
        (TRANSFER, KEYS, [ACTIVE]),
        (TRANSFER, [REGULAR, MASTER], [MASTER]),
        (NEW_MASTER, KEYS, [MASTER]),
    ],
)
def test_the_least_authority_that_suffices_signs(
    operation: Operation, available: list[PublicKey], chosen: list[PublicKey]
) -> None:
    assert list(signers(operation).choose(available).keys) == chosen


def test_who_is_missing_is_said() -> None:
    choice = signers(TRANSFER).choose([REGULAR])

    assert choice.missing == 'Missing Active Authority ["alice"]'


def test_two_accounts_in_one_transaction_are_signed_for_by_both() -> None:
    accounts = {ALICE: ALICES, BOB: (authority_of(OTHER),) * 3}
    choice = signers(TRANSFER, Transfer(BOB, ALICE, tokens(1), ""), accounts=accounts).choose(KEYS)

    assert (set(choice.keys), choice.missing) == ({ACTIVE, OTHER}, "")


def test_an_agent_signs_where_its_key_is_all_there_is() -> None:
    asked = signers(AWARD, agent="award")

    assert asked.choose([AGENT]).keys == (AGENT,)
    assert asked.choose([AGENT, REGULAR]).keys == (REGULAR,)
    assert asked.agents[ALICE].keys() == {"award"}
    assert signers(TRANSFER, agent="award").choose([AGENT]).missing
    assert signers(NEW_MASTER, agent="account_update").choose([AGENT]).missing


def test_a_wallet_that_signs_with_others_leaves_its_stronger_keys_out() -> None:
    shared = Authority(2, {}, {ACTIVE: 1, FRIEND: 1})
    asked = signers(
        TRANSFER, accounts={ALICE: (authority_of(REGULAR), shared, Authority(2, {}, {MASTER: 1, OTHER: 1}))}
    )
    first = asked.choose([REGULAR, ACTIVE, MASTER])

    assert first.keys == (ACTIVE,)
    assert first.missing
    second = asked.choose([FRIEND], signed=first.keys)
    assert (second.keys, second.missing) == ((FRIEND,), "")
    assert asked.choose([FRIEND, ACTIVE], signed=[ACTIVE, FRIEND]).keys == ()


def test_what_nobody_can_sign_together_is_refused() -> None:
    with pytest.raises(MixedAuthorities, match="regular authority cannot be in one transaction with others"):
        signers(AWARD, TRANSFER).choose(KEYS)


authorities = st.builds(
    lambda threshold, weights: Authority(threshold, {}, dict(sorted(weights.items()))),
    st.integers(1, 3),
    st.dictionaries(st.sampled_from(KEYS), st.integers(1, 2), min_size=1, max_size=4),
)


@settings(max_examples=150)
@given(st.tuples(authorities, authorities, authorities), st.sets(st.sampled_from(KEYS)), st.booleans())
def test_the_choice_is_exactly_what_the_network_takes(three: Three, available: set[PublicKey], is_award: bool) -> None:
    operation: Operation = AWARD if is_award else TRANSFER
    accounts = Accounts(active=lambda _: three[1], master=lambda _: three[2], regular=lambda _: three[0])
    required = Transaction(0, 0, 0, (operation,), (), ()).required

    choice = signers(operation, accounts={ALICE: three}).choose(available)

    if choice.missing:
        with pytest.raises(RuleViolation, match="Missing"):
            verify_required(required, available, accounts)
    else:
        verify_required(required, choice.keys, accounts)
        assert set(choice.keys) <= available
