"""Each operation signed for by itself, by an account's keys or an agent's (spec 10, sections 4 and 12.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.authorities.authority_check import (
    Accounts,
    IrrelevantSignature,
    MissingActive,
    MissingMaster,
    MissingOther,
    MissingRegular,
    required_authorities,
    verify_authority,
)
from ledgerd.protocol.authorities.operation_authority import (
    TransactionKeys,
    Verified,
    is_signed_by_one_key,
    left_to_agents,
    require_agents,
    verify_operations,
)
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import (
    AccountMetadata,
    AccountUpdate,
    ChangeRecoveryAccount,
    RecoverAccount,
)
from ledgerd.protocol.operations.accounts.content import Vote
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName


def key(number: int) -> PublicKey:
    return PublicKey(bytes([2] + [0] * 31 + [number]))


def name(text: str) -> AccountName:
    return AccountName(text)


A, B, G, G2, MASTER = (key(number) for number in (1, 2, 3, 4, 100))
"""Active keys of Alice and Bob, keys of agents, and what is the same for everybody."""

NOBODY = Authority(1, {}, {})
REGULAR_ALONE = "all_active.empty() && all_master.empty() && all_other.empty(): "


class World(NamedTuple):
    """Who may sign for whom: authorities by account, and of each agent its account, key and operations."""

    active: dict[str, Authority]
    regular: dict[str, Authority] | None = None
    agents: tuple[tuple[str, PublicKey, str], ...] = ()

    @property
    def accounts(self) -> Accounts:
        regular = self.active if self.regular is None else self.regular

        def find(table: dict[str, Authority], who: AccountName) -> Authority:
            if who not in self.active:
                raise RuleViolation("unknown key: ")
            return table[who]

        return Accounts(
            active=lambda who: find(self.active, who),
            master=lambda who: find(dict.fromkeys(self.active, authority_of(MASTER)), who),
            regular=lambda who: find(regular, who),
        )

    def agent_keys(self, principal: AccountName, operation: str) -> Iterable[PublicKey]:
        return [agent for owner, agent, names in self.agents if owner == principal and operation in names.split(",")]

    def verify(self, operations: Iterable[Operation], keys: Iterable[PublicKey]) -> frozenset[PublicKey]:
        return self.check(tuple(operations), tuple(keys)).used

    def check(
        self, operations: tuple[Operation, ...], keys: tuple[PublicKey, ...], *, allow_unused: bool = False
    ) -> Verified:
        asked = [required_authorities((operation,)) for operation in operations]
        signed = TransactionKeys(keys, self.accounts)
        return verify_operations(operations, asked, signed, self.agent_keys, allow_unused=allow_unused)

    def asks_again(self, operation: Operation, keys: tuple[PublicKey, ...]) -> tuple[AccountName, ...]:
        names = left_to_agents(required_authorities((operation,)), TransactionKeys(keys, self.accounts))
        return (*names.active, *names.regular)


WORLD = World(
    {"alice": authority_of(A), "bob": authority_of(B), "nested": Authority(1, {name("alice"): 1}, {})},
    agents=(("alice", G, "transfer"),),
)


def transfer(sender: str = "alice") -> Transfer:
    return Transfer(name(sender), name("bob"), tokens(1), "")


def metadata(account: str = "alice") -> AccountMetadata:
    return AccountMetadata(name(account), "{}")


def custom(*actives: str, regulars: tuple[str, ...] = ()) -> Custom:
    return Custom(tuple(map(name, actives)), tuple(map(name, regulars)), "V", "{}")


ACCEPTED = [
    ([transfer()], [G]),
    ([transfer()], [A]),
    ([transfer()], [MASTER]),
    ([transfer(), transfer("bob")], [G, B]),
    ([transfer(), transfer()], [G]),
    ([metadata()], [A]),
    ([transfer("temp")], []),
]
REFUSED = [
    ([transfer()], [A, G], IrrelevantSignature, "Unnecessary signature detected"),
    ([transfer(), custom("alice")], [G, A], IrrelevantSignature, "Unnecessary signature detected"),
    ([transfer()], [], MissingActive, "Missing Active Authority alice"),
    ([metadata()], [G], MissingRegular, "Missing Regular Authority alice"),
    ([custom("alice")], [G], MissingActive, "Missing Active Authority alice"),
    ([transfer(), transfer("bob")], [G], MissingActive, "Missing Active Authority bob"),
    # The first that is missing, though Alice is missing as well.
    ([transfer("bob"), transfer()], [], MissingActive, "Missing Active Authority bob"),
    # An agent signs for its account alone, not where the account is a member of another.
    ([transfer("nested")], [G], MissingActive, "Missing Active Authority nested"),
    ([ChangeRecoveryAccount(name("alice"), name("bob"), ())], [A], MissingMaster, "Missing Master Authority alice"),
    ([transfer(), metadata()], [A], RuleViolation, REGULAR_ALONE),
    ([transfer("ghost")], [A], RuleViolation, "unknown key: "),
]


@pytest.mark.parametrize(("operations", "keys"), ACCEPTED)
def test_what_is_signed_for_is_accepted(operations: list[Operation], keys: list[PublicKey]) -> None:
    world = World({**WORLD.active, "temp": NOBODY}, agents=WORLD.agents)
    assert world.verify(operations, keys) == frozenset(keys)


@pytest.mark.parametrize(("operations", "keys", "kind", "message"), REFUSED)
def test_the_first_thing_that_is_missing_is_named_alone(
    operations: list[Operation], keys: list[PublicKey], kind: type[RuleViolation], message: str
) -> None:
    with pytest.raises(RuleViolation) as refusal:
        WORLD.verify(operations, keys)
    assert (type(refusal.value), refusal.value.message) == (kind, message)


def test_an_authority_that_an_operation_spells_out_takes_no_agents() -> None:
    recover = RecoverAccount(name("alice"), authority_of(key(9)), authority_of(key(8)), ())
    world = World(WORLD.active, agents=(("alice", G, "recover_account"),))
    world.verify([recover], [key(8), key(9)])
    for keys in ([key(8)], [key(9)], [G]):
        with pytest.raises(MissingOther, match="Missing other authority"):
            world.verify([recover], keys)


@pytest.mark.parametrize(
    ("operation", "missing"),
    [
        (AccountUpdate(name("alice"), None, None, None, NULL_KEY, ""), MissingActive),
        (Vote(name("alice"), name("bob"), "page", 1), MissingRegular),
    ],
)
def test_what_cannot_be_delegated_has_no_agents_whatever_the_state_says(
    operation: Operation, missing: type[RuleViolation]
) -> None:
    """Such a row comes from an import alone."""
    world = World(WORLD.active, agents=(("alice", G, "account_update,vote"),))
    world.verify([operation], [A])
    with pytest.raises(missing):
        world.verify([operation], [G])
    with pytest.raises(missing):
        require_agents(operation, required_authorities((operation,)), (G,), world.agent_keys)


def test_one_key_may_be_the_agent_of_several_and_several_agents_may_have_one_key() -> None:
    agents = (("alice", G, "custom"), ("alice", G, "transfer"), ("bob", G, "transfer"), ("alice", G2, "transfer"))
    world = World(WORLD.active, agents=agents)
    world.verify([transfer(), transfer("bob")], [G])
    # The first agent in the order of names signs; the other's signature is idle.
    with pytest.raises(IrrelevantSignature):
        world.verify([transfer()], [G, G2])


def test_several_accounts_of_one_operation_may_each_have_an_agent() -> None:
    world = World(WORLD.active, agents=(("alice", G, "custom"), ("bob", G2, "custom")))
    world.verify([custom("alice", "bob")], [G, G2])
    world.verify([custom("alice", "bob")], [A, G2])
    with pytest.raises(MissingActive, match="Missing Active Authority bob"):
        world.verify([custom("alice", "bob")], [G])


def test_marks_of_a_failed_attempt_are_dropped_when_an_agent_signs() -> None:
    """Quirk C: of two keys that are needed one has signed; beside the agent's it is idle."""
    both = Authority(2, {}, {A: 1, B: 1})
    world = World({"alice": both}, agents=WORLD.agents)
    world.verify([transfer()], [A, B])
    world.verify([transfer()], [G])
    with pytest.raises(IrrelevantSignature):
        world.verify([transfer()], [A, G])


def test_marks_of_a_failed_attempt_stay_when_a_higher_authority_signs() -> None:
    world = World({"alice": Authority(2, {}, {A: 1, B: 1})})
    world.verify([transfer()], [A, MASTER])


def test_an_approval_is_not_carried_over_to_the_next_operation() -> None:
    """Quirk B: the first operation finds the deep account by a short way, which helped the second before."""
    active = {
        "two": Authority(1, {name("one"): 1}, {}),
        "one": Authority(1, {name("three"): 1}, {}),
        "three": Authority(1, {name("deep"): 1}, {}),
        "deep": authority_of(A),
    }
    world = World(active)
    operations = [transfer("one"), transfer("two")]
    verify_authority(operations, [A], world.accounts)
    with pytest.raises(MissingActive, match="Missing Active Authority two"):
        world.verify(operations, [A])


def test_what_only_agents_sign_is_asked_again_and_what_keys_sign_is_not() -> None:
    plainly = [is_signed_by_one_key(required_authorities((transfer(),)), keys, WORLD.accounts) for keys in ((A,), (G,))]
    assert plainly == [True, False]
    assert WORLD.asks_again(transfer(), (G,)) == ("alice",)
    assert WORLD.asks_again(transfer(), (A, G)) == ()
    assert WORLD.asks_again(transfer(), (MASTER,)) == ()
    assert WORLD.asks_again(custom("alice", "bob"), (B, G)) == ("alice",)
    names = required_authorities((transfer(),))
    require_agents(transfer(), names, (G,), WORLD.agent_keys)
    for keys in ((), (A,), (G2,)):
        with pytest.raises(MissingActive, match="Missing Active Authority alice"):
            require_agents(transfer(), names, keys, WORLD.agent_keys)
    with pytest.raises(MissingRegular, match="Missing Regular Authority alice"):
        require_agents(metadata(), required_authorities((metadata(),)), (G,), WORLD.agent_keys)


def test_a_member_that_signed_with_its_regular_key_counts_once_only() -> None:
    """Quirk A, row 9: Bob's active authority is Carol, whose regular key signs for an operation of Bob's."""
    carol = key(7)
    world = World(
        {"bob": Authority(1, {name("carol"): 1}, {}), "carol": authority_of(A)},
        {"bob": authority_of(B), "carol": authority_of(carol)},
    )
    verify_authority([metadata("bob")], [carol], world.accounts)
    assert world.verify([metadata("bob")], [carol]) == {carol}
    assert world.asks_again(metadata("bob"), (carol,)) == ("bob",)
    assert world.asks_again(metadata("bob"), (A,)) == ()
    assert world.asks_again(metadata("bob"), (B,)) == ()
    assert world.asks_again(metadata("bob"), (MASTER,)) == ()


NAMES = ("alice", "bob", "carol", "dave", "temp")
authorities = st.builds(
    Authority,
    st.integers(0, 4),
    st.dictionaries(st.sampled_from(NAMES).map(name), st.integers(0, 3), max_size=3).map(
        lambda members: dict(sorted(members.items()))
    ),
    st.dictionaries(st.sampled_from([A, B, G]), st.integers(0, 3), max_size=3).map(
        lambda members: dict(sorted(members.items()))
    ),
)
worlds = st.builds(
    lambda active, regular, agents: World(
        dict(zip(NAMES, active, strict=True)), dict(zip(NAMES, regular, strict=True)), tuple(agents)
    ),
    st.lists(authorities, min_size=len(NAMES), max_size=len(NAMES)),
    st.lists(authorities, min_size=len(NAMES), max_size=len(NAMES)),
    st.lists(
        st.tuples(st.sampled_from(NAMES), st.sampled_from([G, G2]), st.sampled_from(["transfer", "custom,transfer"]))
    ),
)
signatures = st.sets(st.sampled_from([A, B, G, G2, MASTER])).map(lambda keys: tuple(sorted(keys)))


@given(worlds, st.sampled_from(NAMES), signatures)
def test_one_operation_of_one_account_without_agents_needs_what_it_always_needed(
    world: World, account: str, keys: tuple[PublicKey, ...]
) -> None:
    world = world._replace(agents=())
    for operation in (transfer(account), metadata(account)):
        before = refusal_code(lambda: verify_authority([operation], keys, world.accounts))  # noqa: B023 - called at once
        now = refusal_code(lambda: world.verify([operation], keys))  # noqa: B023 - called at once
        assert now == before
        plainly = is_signed_by_one_key(required_authorities((operation,)), keys, world.accounts)
        assert not plainly or now == 0


def refusal_code(check: Callable[[], object]) -> int:
    try:
        check()
    except RuleViolation as refusal:
        return refusal.code
    return 0


@given(worlds, st.lists(st.sampled_from(NAMES), min_size=1, max_size=3), signatures)
def test_nothing_that_is_plain_would_be_left_to_agents(
    world: World, accounts: list[str], keys: tuple[PublicKey, ...]
) -> None:
    """So the second check may leave out what the first has found to be plain."""
    operations = (*map(transfer, accounts), custom(*accounts))
    try:
        verified = world.check(operations, keys, allow_unused=True)
    except RuleViolation:
        return
    for operation, is_plain in zip(operations, verified.is_plain, strict=True):
        if is_plain:
            assert world.asks_again(operation, keys) == ()


@given(worlds, st.sampled_from(NAMES), signatures)
def test_for_whoever_is_left_to_agents_an_agent_has_signed(
    world: World, account: str, keys: tuple[PublicKey, ...]
) -> None:
    """The second check refuses nothing of one active authority while everything is as it was."""
    operation = transfer(account)
    try:
        world.check((operation,), keys, allow_unused=True)
    except RuleViolation:
        return
    names = left_to_agents(required_authorities((operation,)), TransactionKeys(keys, world.accounts))
    require_agents(operation, names, keys, world.agent_keys)
