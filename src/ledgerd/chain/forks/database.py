"""The fork database: every branch above the irreversible block, linked by parents (spec 03, section 8).

In memory only. It knows links and numbers, not validity; which branch is applied is decided in `choice`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ledgerd.chain.forks.key_changes import Acts, acts_of
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.protocol.types.names import AccountName

MAX_REACH = 2400
"""Blocks further below its head are refused, until the chain sets a narrower window."""

MAX_UNLINKED = 2400
"""Blocks whose parent is unknown are kept until it arrives; of more than this many the oldest are dropped. The
reference keeps any number.
"""

MAX_UNLINKED_BYTES = 16 << 20
"""The same in bytes."""

MAX_AT_NUMBER = 32
"""Linked blocks of one number: an honest network has one or two."""


class UnlinkableBlock(RuleViolation):
    """The parent of a block is not known."""

    code, name, what = 4080000, "unlinkable_block_exception", "unlinkable block"


class BlockTooOld(RuleViolation):
    """A block below the window: no branch from there can be switched to any more."""

    code, name, what = 4080100, "block_too_old_exception", "block is too old for fork database"


class TooManyBlocks(RuleViolation):
    """A number of which so many blocks are here that no more are taken."""


class Lineage(NamedTuple):
    """Where a branch leaves the trunk, and what it holds below a block that may change who signs it."""

    pops: int
    """How many blocks the trunk had lost by then: when it has lost more, this has to be found out again."""
    base: int
    """The number of the trunk's block below the branch."""
    acts: Acts


class ForkItem:
    """A block with its place among the others, kept as its bytes: decoded it takes twenty times as much."""

    __slots__ = (
        "_signee",
        "acts",
        "id",
        "lineage",
        "number",
        "packed",
        "parent",
        "previous",
        "timestamp",
        "validator",
    )

    def __init__(self, block: Block) -> None:
        self.packed = block.packed
        self.id = block.id
        self.number = block.number
        self.previous = block.previous
        self.timestamp = block.timestamp
        self.validator = AccountName(block.validator)
        self.parent: BlockId | None = None
        """Set when the parent was in the database; a parent that was removed since counts as missing."""
        self._signee = block.header.known_signee
        self.acts = acts_of(block)
        """What in it may change who signs the blocks above it."""
        self.lineage: Lineage | None = None
        """What is known of the branch below it."""

    @property
    def block(self) -> Block:
        """The block, decoded again each time; the key that signed it is not recovered twice."""
        block = codec_of(Block).decode_exactly(self.packed)
        if self._signee is not None:
            block.header.remember_signee(self._signee)
        return block

    @property
    def signee(self) -> PublicKey | None:
        """The key that signed it; none where the signature is none."""
        if self._signee is None:
            with suppress(RuleViolation):
                self._signee = codec_of(SignedHeader).decode(self.packed).signee
        return self._signee


Branch = list[ForkItem]
"""Blocks down from a tip, the tip first."""


class ForkDatabase:
    """Blocks by id and by number, and the head of the longest branch."""

    def __init__(self) -> None:
        self.head: ForkItem | None = None
        self.judge: Callable[[ForkItem], object] = lambda _: None
        """Raises for a block that has found its parent and can be no part of a valid branch."""
        self.is_emergency = False
        """In an emergency, of two heads of the same number the one with the smaller id wins."""
        self._anchor: BlockId | None = None
        """The head of the trunk where its block is not to be had, as after some snapshots: blocks may follow it, and
        no branch leads past it (spec 10, section 9.1)."""
        self._reach = MAX_REACH
        self._linked: dict[BlockId, ForkItem] = {}
        self._by_number: dict[int, list[ForkItem]] = {}
        self._unlinked: dict[BlockId, ForkItem] = {}
        self._waiting: dict[BlockId, list[BlockId]] = {}
        self.unlinked_bytes = 0
        """The bytes of the blocks that wait for their parents."""

    def __contains__(self, block_id: object) -> bool:
        return block_id in self._linked or (block_id == self._anchor and self._anchor is not None)

    def __len__(self) -> int:
        return len(self._linked) + len(self._unlinked)

    def reset(self) -> None:
        self.head = self._anchor = None
        self._linked.clear()
        self._by_number.clear()
        self._unlinked.clear()
        self._waiting.clear()
        self.unlinked_bytes = 0

    def start(self, block: Block) -> None:
        """Start from a block whose parent is not needed."""
        item = ForkItem(block)
        self._link(item)
        self.head = item

    def anchor(self, block_id: BlockId) -> None:
        """Let blocks follow one that is known by its id alone."""
        if block_id not in self._linked:
            self._anchor = block_id

    def insert_base(self, block: Block) -> None:
        """Take in a block of the main branch whose parent may be gone, and let its children find it."""
        if block.id not in self._linked:
            item = ForkItem(block)
            self._link(item)
            self._link_waiting(item)
        self._adopt_children(self._linked[block.id])

    def follow(self, block: Block) -> None:
        """Take in the next block of the trunk, which was applied already."""
        item = ForkItem(block)
        item.parent = block.previous
        self._link(item)
        self.head = item

    def push(self, block: Block) -> ForkItem:
        """Take a block in; returns the head of the longest branch, which need not be it.

        A block without a known parent is kept aside, and the error says so all the same.
        """
        item = ForkItem(block)
        try:
            if item.id not in self._linked:
                self._admit(item)
                self._link_waiting(item)
        except UnlinkableBlock:
            self._keep_unlinked(item)
            raise
        if self.head is None:
            raise UnlinkableBlock("the fork database has no head")
        return self.head

    def pop(self) -> None:
        """Make the parent of the head the head."""
        parent = None if self.head is None else self.parent_of(self.head)
        if parent is None and self.head is not None and self.head.previous == self._anchor:
            self.head = None
            return
        if parent is None:
            raise RuleViolation("popping would leave the fork database without a head")
        self.head = parent

    def remove(self, block_id: BlockId) -> None:
        """Remove a linked block; the head may still refer to it."""
        item = self._linked.pop(block_id, None)
        if item is not None:
            self._unnumber(item)

    def narrow(self, reach: int) -> None:
        """Remove the blocks that lie deeper than this below the head."""
        self._reach = reach
        if self.head is None:
            return
        lowest = max(0, self.head.number - reach)
        if self._anchor is not None and block_number_of(self._anchor) < lowest:
            self._anchor = None
        for number in [number for number in self._by_number if number < lowest]:
            for item in self._by_number.pop(number):
                del self._linked[item.id]
        if self._unlinked:
            for item in [item for item in self._unlinked.values() if item.number < lowest]:
                self._forget_unlinked(item)

    # -- looking up

    def is_known(self, block_id: BlockId) -> bool:
        """Whether a block is here, linked or waiting, or is the anchor."""
        return block_id in self or block_id in self._unlinked

    def is_only_trunk(self, head_id: BlockId) -> bool:
        """Whether there is no branch here, and no block that waits for its parent: the trunk's head is given."""
        is_line = not self._unlinked and len(self._linked) == len(self._by_number)
        return is_line and self.head is not None and self.head.id == head_id

    def fetch(self, block_id: BlockId) -> Block | None:
        item = self._linked.get(block_id) or self._unlinked.get(block_id)
        return None if item is None else item.block

    def find(self, block_id: BlockId) -> ForkItem | None:
        return self._linked.get(block_id)

    def items_at(self, number: int) -> list[ForkItem]:
        """The linked blocks of a number, in the order of their arrival."""
        return list(self._by_number.get(number, ()))

    def count_at(self, numbers: range) -> int:
        known, count = self._by_number, 0
        for number in numbers:
            if number in known:
                count += len(known[number])
        return count

    def parent_of(self, item: ForkItem) -> ForkItem | None:
        """The block below, if it is still here."""
        return None if item.parent is None else self._linked.get(item.parent)

    def below_head(self, number: int) -> Block | None:
        item = self.head
        while item is not None and item.number > number:
            item = self.parent_of(item)
        return item.block if item is not None and item.number == number else None

    def branches(self, first: BlockId, second: BlockId) -> tuple[Branch, Branch]:
        """Two branches down to the siblings that share a parent, each tip first.

        When one tip lies below the other, both lists end with that tip itself (spec 03, section 8).
        """
        one, two = self._linked.get(first), self._linked.get(second)
        if one is None or two is None:
            raise UnlinkableBlock("a branch whose tip is not in the fork database")
        ones: Branch = []
        twos: Branch = []
        while one.number > two.number:
            ones.append(one)
            one = self._parent_or_raise(one)
        while two.number > one.number:
            twos.append(two)
            two = self._parent_or_raise(two)
        while one.previous != two.previous:
            ones.append(one)
            twos.append(two)
            one, two = self._parent_or_raise(one), self._parent_or_raise(two)
        return [*ones, one], [*twos, two]

    # -- the indexes

    def _parent_or_raise(self, item: ForkItem) -> ForkItem:
        parent = self.parent_of(item)
        if parent is None:
            raise UnlinkableBlock("a branch that does not reach down to the other")
        return parent

    def _admit(self, item: ForkItem) -> None:
        if self.head is not None or self._anchor is not None:
            top = block_number_of(self._anchor or NO_BLOCK) if self.head is None else self.head.number
            if item.number <= max(0, top - self._reach):
                raise BlockTooOld(
                    "attempting to push a block that is too old", item_num=item.number, head=top, max_size=self._reach
                ).under()
            if item.previous != NO_BLOCK:
                if item.previous not in self:
                    raise UnlinkableBlock("block does not link to known chain")
                item.parent = item.previous
                self.judge(item)
        if len(self._by_number.get(item.number, ())) >= MAX_AT_NUMBER:
            raise TooManyBlocks(f"{MAX_AT_NUMBER} blocks of number ${{number}} are known already", number=item.number)
        self._link(item)
        self._move_head(item)

    def _move_head(self, item: ForkItem) -> None:
        head = self.head
        is_tie_won = head is not None and item.number == head.number and self.is_emergency and item.id < head.id
        if head is None or item.number > head.number or is_tie_won:
            self.head = item

    def _link(self, item: ForkItem) -> None:
        self._linked[item.id] = item
        self._by_number.setdefault(item.number, []).append(item)

    def _unnumber(self, item: ForkItem) -> None:
        items = self._by_number.get(item.number, [])
        items[:] = [each for each in items if each is not item]
        if not items:
            self._by_number.pop(item.number, None)

    def _adopt_children(self, item: ForkItem) -> None:
        for child in self._by_number.get(item.number + 1, ()):
            if child.previous == item.id and self.parent_of(child) is None:
                child.parent = item.id

    def _keep_unlinked(self, item: ForkItem) -> None:
        if item.id in self._unlinked:
            return
        size = len(item.packed)
        while self._unlinked and (
            len(self._unlinked) >= MAX_UNLINKED or self.unlinked_bytes + size > MAX_UNLINKED_BYTES
        ):
            self._forget_unlinked(next(iter(self._unlinked.values())))
        self._unlinked[item.id] = item
        self.unlinked_bytes += size
        self._waiting.setdefault(item.previous, []).append(item.id)

    def _forget_unlinked(self, item: ForkItem) -> None:
        del self._unlinked[item.id]
        self.unlinked_bytes -= len(item.packed)
        waiting = self._waiting[item.previous]
        waiting.remove(item.id)
        if not waiting:
            del self._waiting[item.previous]

    def _link_waiting(self, item: ForkItem) -> None:
        """Blocks that waited for this one follow it, and those that waited for them."""
        if not self._waiting:
            return
        queue = deque([item.id])
        while queue:
            for child_id in list(self._waiting.get(queue.popleft(), ())):
                child = self._unlinked[child_id]
                self._forget_unlinked(child)
                if child_id in self._linked:
                    continue
                try:
                    self._admit(child)
                except RuleViolation:
                    continue
                queue.append(child_id)
