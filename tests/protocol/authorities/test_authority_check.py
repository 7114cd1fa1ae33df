"""The authority check: what counts, in which order, and what is left over (spec 01, section 10)."""

from __future__ import annotations

import pytest

from ledgerd.protocol.authorities.authority_check import (
    Accounts,
    Approvals,
    IrrelevantApproval,
    IrrelevantSignature,
    MissingActive,
    MissingMaster,
    MissingOther,
    MissingRegular,
    required_authorities,
    verify_authority,
)
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata, ChangeRecoveryAccount, RecoverAccount
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName


def key(number: int) -> PublicKey:
    return PublicKey(bytes([2] + [0] * 31 + [number]))


def name(text: str) -> AccountName:
    return AccountName(text)


NOBODY = Authority(1, {}, {})


def accounts(**active: Authority) -> Accounts:
    """Accounts by name; the master authority of each is the key 100, the regular one the key 200."""

    def find(table: dict[str, Authority], who: AccountName) -> Authority:
        if who not in active:
            raise RuleViolation("unknown key: ")
        return table[who]

    return Accounts(
        active=lambda who: find(active, who),
        master=lambda who: find({each: authority_of(key(100)) for each in active}, who),
        regular=lambda who: find({each: authority_of(key(200)) for each in active}, who),
    )


def transfer(sender: str) -> Transfer:
    return Transfer(name(sender), name("bob"), tokens(1), "")


def metadata(account: str) -> AccountMetadata:
    return AccountMetadata(name(account), "{}")


def test_the_key_of_the_account_suffices_and_nothing_does_not() -> None:
    known = accounts(alice=authority_of(key(1)))
    verify_authority([transfer("alice")], [key(1)], known)
    with pytest.raises(MissingActive, match=r'Missing Active Authority \["alice"\]'):
        verify_authority([transfer("alice")], [], known)


def test_the_master_key_stands_for_the_active_one() -> None:
    verify_authority([transfer("alice")], [key(100)], accounts(alice=authority_of(key(1))))


def test_a_key_that_nothing_asks_for_fails_the_transaction() -> None:
    with pytest.raises(IrrelevantSignature):
        verify_authority([transfer("alice")], [key(1), key(2)], accounts(alice=authority_of(key(1))))


def test_counting_stops_at_the_threshold_so_a_later_key_is_left_over() -> None:
    known = accounts(alice=Authority(1, {}, {key(1): 1, key(2): 1}))
    verify_authority([transfer("alice")], [key(2)], known)
    with pytest.raises(IrrelevantSignature):
        verify_authority([transfer("alice")], [key(1), key(2)], known)


def test_weights_add_up_over_keys_and_accounts() -> None:
    known = accounts(alice=Authority(3, {name("bob"): 2}, {key(1): 1}), bob=authority_of(key(2)))
    verify_authority([transfer("alice")], [key(1), key(2)], known)
    with pytest.raises(MissingActive):
        verify_authority([transfer("alice")], [key(2)], known)


def test_members_are_asked_two_levels_deep_and_no_further() -> None:
    chain = {
        "alice": Authority(1, {name("bob"): 1}, {}),
        "bob": Authority(1, {name("carol"): 1}, {}),
        "carol": authority_of(key(3)),
    }
    verify_authority([transfer("alice")], [key(3)], accounts(**chain))
    deeper = {**chain, "carol": Authority(1, {name("dave"): 1}, {}), "dave": authority_of(key(4))}
    with pytest.raises(MissingActive):
        verify_authority([transfer("alice")], [key(4)], accounts(**deeper))


def test_a_threshold_of_zero_needs_no_signature() -> None:
    verify_authority([transfer("alice")], [], accounts(alice=Authority(0, {}, {})))


def test_the_account_temp_is_approved_beforehand_but_not_its_master_authority() -> None:
    known = accounts(alice=Authority(1, {name("temp"): 1}, {}), temp=NOBODY)
    verify_authority([transfer("temp")], [], known)
    verify_authority([transfer("alice")], [], known)
    with pytest.raises(MissingMaster, match=r'\["temp"\]'):
        verify_authority([ChangeRecoveryAccount(name("temp"), name("bob"), ())], [], known)


def test_the_missing_are_named_together_in_word_order() -> None:
    known = accounts(committee=NOBODY, bob=NOBODY, alice=NOBODY)
    with pytest.raises(MissingActive) as caught:
        verify_authority([transfer("committee"), transfer("alice"), transfer("bob")], [], known)
    assert caught.value.message == 'Missing Active Authority ["bob","alice","committee"]'
    assert caught.value.code == 3010000


def test_regular_authority_may_come_from_active_and_master_too() -> None:
    known = accounts(alice=authority_of(key(1)))
    for each in (key(200), key(1), key(100)):
        verify_authority([metadata("alice")], [each], known)
    with pytest.raises(MissingRegular, match=r'Missing Regular Authority \["alice"\]'):
        verify_authority([metadata("alice")], [], known)


def test_regular_authority_stands_alone_in_a_transaction() -> None:
    known = accounts(alice=authority_of(key(1)))
    with pytest.raises(RuleViolation, match=r"required_active.size\(\) == 0: "):
        verify_authority([metadata("alice"), transfer("alice")], [key(1)], known)
    both = Custom((name("alice"),), (name("alice"),), "V", "{}")
    with pytest.raises(RuleViolation, match=r"required_active.size\(\) == 0: "):
        verify_authority([both], [key(1)], known)


def test_an_authority_that_an_operation_spells_out_must_be_given() -> None:
    recovery = RecoverAccount(name("alice"), authority_of(key(5)), authority_of(key(6)), ())
    known = accounts(alice=authority_of(key(1)))
    verify_authority([recovery], [key(5), key(6)], known)
    with pytest.raises(MissingOther):
        verify_authority([recovery], [key(5)], known)


def test_an_unknown_account_is_an_error_of_its_own() -> None:
    with pytest.raises(RuleViolation, match="unknown key"):
        verify_authority([transfer("nobody")], [], accounts())


def test_approvals_count_as_signatures_and_must_be_used() -> None:
    known = accounts(alice=authority_of(key(1)), bob=authority_of(key(2)))
    verify_authority([transfer("alice")], [], known, Approvals(active=(name("alice"),)))
    verify_authority([metadata("alice")], [], known, Approvals(regular=(name("alice"),)))
    change: Operation = ChangeRecoveryAccount(name("alice"), name("bob"), ())
    verify_authority([change], [], known, Approvals(master=(name("alice"),)))
    with pytest.raises(IrrelevantApproval):
        verify_authority([transfer("alice")], [key(1)], known, Approvals(active=(name("bob"),)))


def test_required_names_are_collected_once_and_in_word_order() -> None:
    required = required_authorities([transfer("committee"), transfer("bob"), transfer("bob")])
    assert required.active == ("bob", "committee")
    shares_of_alice = Transfer(name("alice"), name("bob"), shares(1), "")
    assert required_authorities([shares_of_alice]).master == ("alice",)
