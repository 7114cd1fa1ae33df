"""A branch is proven before it is believed: nothing of ours is taken off for blocks that nobody could have signed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.forks.outcome import AlreadyKnown, Applied, BranchRefused, OnBranch, Refused, Switched, Unlinked
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.names import AccountName, word_order
from tests.chain.forks.branches import (
    Branches,
    Fresh,
    forged,
    forged_line,
    outcome,
    overdrawn,
    push_all,
    spoiled,
    unknown,
)
from tests.chain.networks import OTHERS, VIZ, Network
from tests.chain.same_state import assert_same_state
from tests.chain.senders import by_client, by_peer

NEW_KEY = PrivateKey.from_password(VIZ, "signing", "another")
ALL = (*OTHERS, VIZ)


def pops(node: Network) -> int:
    return node.chain.parts.trunk.pops


def key_changes() -> list[ValidatorUpdate]:
    return [ValidatorUpdate(name, "https://example.test", NEW_KEY.public) for name in ALL]


def test_no_block_is_taken_off_for_branches_that_nobody_signed(fresh: Fresh) -> None:
    node = fresh()
    base, start = node.chain.head_id, node.chain.head_time
    node.produce(4)
    before = node.chain.head_id
    for salt in range(90):
        for block in forged_line(base, start + 30 + 3 * salt, ALL[:6], salt):
            refused = outcome(node, block)
            assert not refused.has_moved
            assert not node.chain.is_known(block.id) or not node.chain.is_linked(block.id)
    assert node.chain.head_id == before
    assert pops(node) == 0
    assert node.chain.parts.forks.unlinked_bytes < 90 * 6 * 300
    assert not node.chain.is_minority()


def test_who_sends_a_block_that_nobody_signed_hears_of_the_signature(fresh: Fresh) -> None:
    node = fresh()
    base, start = node.chain.head_id, node.chain.head_time
    node.produce(2)
    block = forged(base, start + 30, VIZ)
    assert isinstance(outcome(node, block), Refused)
    assert "validate_signee" in str(by_client(node, block))
    assert by_peer(node, block).strikes == 1


def test_blocks_that_waited_for_a_parent_are_judged_when_it_comes(fresh: Fresh) -> None:
    branches = Branches(fresh())
    honest = branches.line(branches.root, 3, skipped=1)
    node = fresh()
    node.produce(1)
    child = forged(honest[0].id, honest[0].timestamp + 3, OTHERS[0])
    outcome(node, child)
    assert node.chain.is_known(child.id), "its parent may come"
    push_all(node, honest[:1])
    assert not node.chain.is_known(child.id)


def test_an_honest_branch_with_a_key_change_and_a_new_schedule_is_switched_to(fresh: Fresh) -> None:
    maker = fresh()
    trunk = maker.produce(5)
    branches = Branches(maker)
    before = maker.chain.parts.ledger.schedule.next_shuffle_block_num
    short = branches.line(branches.root, 2, memo="short")

    def act() -> None:
        for change in key_changes():
            if change.owner != maker.chain.scheduled_at(2):
                maker.send(change, key=maker.keys[change.owner])

    long = [branches.grow(branches.root, 1, acting=act)]
    maker.keys |= {name: NEW_KEY for name in ALL if name != long[0].validator}
    for _ in range(3):
        long.append(branches.grow(long[-1].id))
    assert maker.chain.parts.ledger.schedule.next_shuffle_block_num > before
    assert [block.signee == NEW_KEY.public for block in long] == [False, True, True, True]
    node, straight = fresh(), fresh()
    push_all(node, [*trunk, *short])
    outcomes = [outcome(node, block) for block in long]
    assert any(isinstance(each, Switched) for each in outcomes)
    push_all(straight, [*trunk, *long])
    assert node.chain.head_id == long[-1].id
    node.chain.parts.pending.clear()
    assert_same_state(node.chain, straight.chain)


def test_a_key_that_a_proposal_changes_inside_the_branch_is_followed(fresh: Fresh) -> None:
    maker = fresh()
    names = tuple(sorted((name for name in ALL if name != maker.chain.scheduled_at(3)), key=word_order))
    changes = tuple(OperationWrapper(change) for change in key_changes() if change.owner in names)
    until = maker.chain.head_time + 600
    maker.send(ProposalCreate(VIZ, "keys", "", until, changes, None, ()))
    trunk = maker.produce(1)
    branches = Branches(maker)
    short = branches.line(branches.root, 2, memo="short")
    approval = ProposalUpdate(VIZ, "keys", names, (), (), (), (), (), (), (), ())

    def act() -> None:
        draft = replace(maker.signed(approval), signatures=())
        chain = maker.chain
        chain.push_transaction(draft.signed(chain.network.chain_id, [maker.keys[name] for name in names]))

    long = [branches.grow(branches.root, 1, acting=act)]
    maker.keys |= dict.fromkeys(names, NEW_KEY)
    for _ in range(3):
        long.append(branches.grow(long[-1].id))
    assert any(block.signee == NEW_KEY.public for block in long)
    node = fresh()
    push_all(node, [*trunk, *short, *long])
    assert node.chain.head_id == long[-1].id
    assert node.chain.parts.choice.tried == 1


def test_what_signatures_do_not_decide_is_applied_beside_the_trunk_and_leaves_no_trace(fresh: Fresh) -> None:
    maker = fresh()
    branches = Branches(maker)
    good = branches.line(branches.root, 4, memo="good")
    bad = _branch_with_a_stolen_key(branches)
    node, straight = fresh(), fresh()
    push_all(straight, good)
    push_all(node, good[:2])
    results = [outcome(node, block) for block in bad]
    assert any(isinstance(each, BranchRefused) for each in results)
    assert pops(node) == 0
    assert node.chain.parts.choice.tried == 1
    push_all(node, good[2:])
    assert node.chain.head_id == good[-1].id
    assert_same_state(node.chain, straight.chain)
    again = outcome(node, next(block for block in bad if not node.chain.is_known(block.id)))
    assert isinstance(again, Refused), "it is known by now"
    node.reopen()
    node.produce()


def _branch_with_a_stolen_key(branches: Branches) -> list[Block]:
    """An honest block, one with changes of keys that nobody has signed, and blocks that use the new key."""
    first = branches.grow(branches.root, 1)
    blocks = [first, overdrawn(branches.network, branches.grow(first.id), *key_changes())]
    unused = sorted({*ALL} - {block.validator for block in blocks})
    for name in unused[:2]:
        blocks.append(forged_by(NEW_KEY, blocks[-1], name, 3))
    return blocks


def forged_by(key: PrivateKey, parent: Block, name: str, later: int) -> Block:
    return forged(parent.id, parent.timestamp + later, name, key=key)


def test_transactions_that_were_not_signed_with_the_header_do_not_take_its_place(fresh: Fresh) -> None:
    branches = Branches(fresh())
    one, two = branches.line(branches.root, 2, skipped=1, memo="long")
    node = fresh()
    node.produce(1)
    mangled = replace(one, transactions=())
    assert mangled.id == one.id
    assert isinstance(outcome(node, mangled), Refused)
    push_all(node, [one, two])
    assert node.chain.head_id == two.id


def test_a_block_that_broke_a_rule_is_not_applied_again(fresh: Fresh) -> None:
    node = fresh()
    bad = overdrawn(node, node.make())
    first = outcome(node, bad)
    assert isinstance(first, Refused)
    before = node.chain.parts.store.revision
    node.chain.parts.trunk.apply = None  # type: ignore[method-assign,assignment]  # would be called
    again = outcome(node, bad)
    assert isinstance(again, Refused)
    assert str(again.violation) == str(first.violation)
    assert node.chain.parts.store.revision == before


def test_a_branch_from_below_the_irreversible_block_is_too_old(fresh: Fresh) -> None:
    node = fresh()
    node.produce(12)
    chain = node.chain
    irreversible = chain.irreversible
    parent, start = chain.id_at(irreversible - 1), chain.head_time
    for salt, block in enumerate(forged_line(parent, start, ALL)):
        outcome(node, block)
        assert not chain.is_linked(block.id), salt
    assert chain.parts.choice.tried == 0
    assert pops(node) == 0


def test_a_block_on_the_head_may_be_pushed_with_its_signature_unchecked(fresh: Fresh) -> None:
    node = fresh()
    block = node.make()
    anonymous = forged(block.previous, block.timestamp, block.validator)
    assert node.chain.push_block(anonymous, Skip.VALIDATOR_SIGNATURE).has_moved
    node.reopen()
    assert node.chain.head_id == anonymous.id


def applied_anew(node: Network, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often waiting transactions are applied again from now on."""
    seen: list[int] = []
    pending = node.chain.parts.pending
    again = pending._try_again  # noqa: SLF001 - what it costs is what is counted

    def counted(transactions: list[Transaction], skip: SkipFlags) -> None:
        seen.append(len(transactions))
        again(transactions, skip)

    monkeypatch.setattr(pending, "_try_again", counted)
    return seen


def test_blocks_that_change_nothing_leave_waiting_transactions_as_they_are(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    branches = Branches(fresh())
    other = branches.line(branches.root, 2, skipped=1)
    node = fresh()
    base, start = node.chain.head_id, node.chain.head_time
    blocks = node.produce(2)
    node.send(ValidatorUpdate(VIZ, "https://example.test/waits", NEW_KEY.public))
    anew = applied_anew(node, monkeypatch)
    assert outcome(node, blocks[0]) == AlreadyKnown()
    assert outcome(node, other[0]) == OnBranch()
    assert isinstance(outcome(node, forged(base, start + 30, VIZ)), Refused)
    assert isinstance(outcome(node, forged(node.chain.head_id, node.chain.slot_time(1), VIZ)), Refused)
    assert isinstance(outcome(node, unknown(node)), Unlinked)
    assert not anew
    turn = node.chain.scheduled_at(1)
    assert isinstance(outcome(node, forged(node.chain.head_id, node.chain.slot_time(1), turn)), Refused)
    assert isinstance(outcome(node, spoiled(node, node.make())), Refused)
    assert not anew
    assert len(node.chain.waiting) == 1
    node.produce()
    assert anew
    assert not node.chain.waiting


def test_a_header_is_judged_by_the_keys_of_the_head_whatever_waits(
    fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new key that waits signs nothing yet, and the present one still does."""
    node = fresh()
    while node.chain.scheduled_at(1) != VIZ:
        node.produce()
    when = node.chain.slot_time(1)
    honest = node.make()
    node.send(ValidatorUpdate(VIZ, "https://example.test/waits", NEW_KEY.public))
    anew = applied_anew(node, monkeypatch)
    early = forged(node.chain.head_id, when, VIZ, key=NEW_KEY)
    refused = outcome(node, early)
    assert isinstance(refused, Refused)
    assert "validate_signee" in str(refused.violation)
    assert not anew
    assert outcome(node, honest) == Applied()
    assert anew == [1]


def test_a_branch_is_weighed_by_the_votes_of_the_head_whatever_waits(fresh: Fresh) -> None:
    """Votes that wait for a block do not make a branch heavier or lighter."""
    branches = Branches(fresh())
    short = branches.line(branches.root, 2)
    long = branches.line(branches.root, 3, skipped=1)
    quiet, busy = fresh(), fresh()
    push_all(quiet, [*short, *long[:2]])
    push_all(busy, [*short, *long[:2]])
    for name in {block.validator for block in short}:
        busy.send(AccountValidatorVote(VIZ, AccountName(name), approve=True))
    assert outcome(quiet, long[2]) == Switched()
    assert outcome(busy, long[2]) == Switched()
