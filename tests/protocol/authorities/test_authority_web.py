"""How often accounts that list each other are looked up and walked: counts, and no seconds."""

from __future__ import annotations

from collections import Counter

import pytest

from ledgerd.protocol.authorities.authority_check import Accounts, MissingActive
from ledgerd.protocol.authorities.authority_web import RESULT_LANES, Lookups, WalkState, Web
from ledgerd.protocol.authorities.operation_authority import TransactionKeys, left_to_agents, verify_operations
from ledgerd.protocol.authorities.signing import Signing
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.operations.base import Authorities
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from tests.chain.webs import Shape, chain_in_web, everybody
from tests.garbage import nothing_stays
from tests.protocol.random_webs import OPERATIONS

COUNT = 40
STRANGER = PublicKey(bytes([2] + [0] * 32))


class CountingWeb:
    """A web whose look-ups and walks are counted."""

    def __init__(self, shape: Shape, monkeypatch: pytest.MonkeyPatch) -> None:
        self.known = {name: shape.authority(name) for name in shape.names}
        self.fetched = Counter[AccountName]()
        self.walked = 0
        walk = Signing._reached  # noqa: SLF001 - what is counted

        def counted(signing: Signing, *arguments: object) -> bool:
            self.walked += 1
            return walk(signing, *arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(Signing, "_reached", counted)
        self.lookups = Lookups()

    def get(self, name: AccountName) -> Authority:
        self.fetched[name] += 1
        return self.known[name]

    @property
    def accounts(self) -> Accounts:
        return Accounts(self.get, self.get, self.get, self.lookups)


def test_an_account_that_fails_is_walked_once_at_each_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk without memory makes 40 * 40 * 40 steps here."""
    shape = everybody(COUNT)
    web = CountingWeb(shape, monkeypatch)
    signing = Signing(Web(web.get, (STRANGER,), web.lookups))

    assert not signing.name_satisfied(shape.names[0])
    assert set(web.fetched.values()) == {1}
    assert web.walked <= 2 * COUNT + 1
    assert not any(signing.name_satisfied(name) for name in shape.names)
    assert web.walked <= 3 * COUNT + 1


def test_all_operations_of_a_transaction_share_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation begins with nobody approved; what was found out of accounts stays."""
    shape = everybody(COUNT)
    web = CountingWeb(shape, monkeypatch)
    keys = TransactionKeys((STRANGER,), web.accounts)
    asked = [Authorities(active=(name,)) for name in shape.names]
    for each in asked:
        with pytest.raises(MissingActive):
            verify_operations(OPERATIONS[:1], (each,), keys, lambda _name, _title: ())
        assert left_to_agents(each, keys) == each
        assert left_to_agents(each, keys) == each

    assert web.walked <= 6 * COUNT


def test_where_one_after_the_other_is_approved_few_are_walked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """At each step a quarter of the accounts fail with one more approved among their members."""
    shape = chain_in_web(4 * COUNT)
    web = CountingWeb(shape, monkeypatch)
    (key,) = shape.authority(AccountName("l0000")).key_auths
    signing = Signing(Web(web.get, (key,), web.lookups))

    assert not signing.name_satisfied(shape.names[-1])
    assert web.walked <= 8 * COUNT


def test_where_the_same_are_approved_each_time_nobody_is_walked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many operations, each of another account that asks the same members."""
    shape = chain_in_web(4 * COUNT)
    web = CountingWeb(shape, monkeypatch)
    (key,) = shape.authority(AccountName("l0000")).key_auths
    shared, asking = Web(web.get, (key,), web.lookups), [name for name in shape.names if name.startswith("t")]
    Signing(shared).name_satisfied(asking[0])
    before = web.walked
    for name in asking:
        Signing(shared).name_satisfied(name)

    assert web.walked - before <= 5 * len(asking)


def test_what_is_remembered_of_a_web_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.protocol.authorities.authority_web.MOST_LANES", 10 * RESULT_LANES)
    web = Web(lambda _: Authority(1, {}, {}), ())
    for place in range(20):
        Signing(web).name_satisfied(AccountName(f"n{place}"))
    assert len(web.beginning.results[0]) == 10


def test_what_an_account_lacks_is_set_and_told_for_each_by_itself() -> None:
    web = Web(lambda _: Authority(1, {}, {}), ())
    first, second = (web.account(AccountName(name)) for name in ("a", "b"))
    state = WalkState(0)
    for met, lacking in ((first, 2**32), (second, 1), (first, 3), (second, 0)):
        state.measure(met, lacking)
        assert state.lacking(met) == lacking
    assert state.lacking(first) == 3


def test_what_a_check_knows_goes_with_it_without_a_search_for_cycles() -> None:
    """A block has hundreds of checks, each of which may know megabytes."""
    shape = chain_in_web(4 * COUNT)
    known = {name: shape.authority(name) for name in shape.names}
    (key,) = known[AccountName("l0000")].key_auths
    accounts = Accounts(known.__getitem__, known.__getitem__, known.__getitem__)
    with nothing_stays(50_000):
        for _ in range(5):
            keys = TransactionKeys((key,), accounts)
            assert not keys.proves(shape.names[-1])
            del keys
