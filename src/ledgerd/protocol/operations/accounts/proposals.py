"""Operations of proposals: other operations that wait for approvals (spec 01, section 7.6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec

from ledgerd.codec import sorted_by
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Authorities, Extensions, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Memo, words
from ledgerd.protocol.types.authority import Authority, key_order, require_valid_name
from ledgerd.protocol.types.names import AccountName, word_order
from ledgerd.protocol.types.texts import byte_length, is_utf8
from ledgerd.protocol.types.times import Time

MAX_TITLE_LENGTH = 256
MAX_MEMO_LENGTH = 4_096

SortedNames = Annotated[tuple[AccountName, ...], sorted_by(word_order)]
SortedKeys = Annotated[tuple[PublicKey, ...], sorted_by(key_order)]


class OperationWrapper(msgspec.Struct, frozen=True):
    """An operation inside another one."""

    op: Operation


class ProposalCreate(Operation, frozen=True, tag=22):
    """Proposes operations, under a title that is the author's own."""

    EN = words("Proposal", "{author} proposed “{title}”")
    RU = words("Предложение", "{author} предлагает «{title}»")

    author: ActiveSigner
    title: str
    memo: Memo
    expiration_time: Time
    proposed_operations: tuple[OperationWrapper, ...]
    review_period_time: Time | None
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:
        """Author, title, every proposed operation, memo; how deep proposals may nest is the chain's rule."""
        require_valid_name(self.author)
        require(self.title, NO_TITLE)
        require(byte_length(self.title) < MAX_TITLE_LENGTH, "title.size() < 256: Title larger than size limit")
        require(is_utf8(self.title), TITLE_NOT_UTF8)
        require(self.proposed_operations, "!proposed_operations.empty(): ")
        for proposed in self.proposed_operations:
            proposed.op.check(network)
        require(byte_length(self.memo) < MAX_MEMO_LENGTH, "memo.size() < 4096: Memo larger than size limit")
        require(is_utf8(self.memo), "fc::is_utf8(memo): Memo not formatted in UTF8")


class ProposalUpdate(Operation, frozen=True, tag=23):
    """Adds approvals to a proposal, or takes them back; each needs the authority that it stands for."""

    EN = words("Approval", "The proposal “{title}” of {author} gained or lost approvals")
    RU = words("Подпись предложения", "Изменены подтверждения предложения «{title}» автора {author}")

    author: AccountName
    title: str
    active_approvals_to_add: SortedNames
    active_approvals_to_remove: SortedNames
    master_approvals_to_add: SortedNames
    master_approvals_to_remove: SortedNames
    regular_approvals_to_add: SortedNames
    regular_approvals_to_remove: SortedNames
    key_approvals_to_add: SortedKeys
    key_approvals_to_remove: SortedKeys
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Author, title of any length, something to do, and nothing both added and taken back."""
        _require_title(self.author, self.title)
        require(
            self.active_approvals_to_add
            or self.active_approvals_to_remove
            or self.master_approvals_to_add
            or self.master_approvals_to_remove
            or self.regular_approvals_to_add
            or self.regular_approvals_to_remove
            or self.key_approvals_to_add
            or self.key_approvals_to_remove,
            NO_APPROVALS,
        )
        _require_disjoint(self.active_approvals_to_add, self.active_approvals_to_remove)
        _require_disjoint(self.master_approvals_to_add, self.master_approvals_to_remove)
        _require_disjoint(self.regular_approvals_to_add, self.regular_approvals_to_remove)
        _require_disjoint(self.key_approvals_to_add, self.key_approvals_to_remove)

    def authorities(self) -> Authorities:
        """All named accounts and keys; not the author."""
        keys = dict.fromkeys(sorted(self.key_approvals_to_add + self.key_approvals_to_remove), 1)
        return Authorities(
            active=self.active_approvals_to_add + self.active_approvals_to_remove,
            master=self.master_approvals_to_add + self.master_approvals_to_remove,
            regular=self.regular_approvals_to_add + self.regular_approvals_to_remove,
            other=(Authority(len(keys), {}, keys),) if keys else (),
        )


class ProposalDelete(Operation, frozen=True, tag=24):
    """Withdraws a proposal, or vetoes it."""

    EN = words("Proposal deleted", "{requester} deleted the proposal “{title}” of {author}")
    RU = words("Удаление предложения", "{requester} удаляет предложение «{title}» автора {author}")

    author: AccountName
    title: str
    requester: ActiveSigner
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Author and title; the requester's name is not checked."""
        _require_title(self.author, self.title)


NO_TITLE = "!title.empty(): Title is empty"
TITLE_NOT_UTF8 = "fc::is_utf8(title): Title not formatted in UTF8"
NO_APPROVALS = (
    "!(active_approvals_to_add.empty() && active_approvals_to_remove.empty() && "
    "master_approvals_to_add.empty() && master_approvals_to_remove.empty() && "
    "regular_approvals_to_add.empty() && regular_approvals_to_remove.empty() && "
    "key_approvals_to_add.empty() && key_approvals_to_remove.empty()): "
)


def _require_title(author: AccountName, title: str) -> None:
    """The title in an operation on an existing proposal, whose length is not limited here."""
    require_valid_name(author)
    require(title, NO_TITLE)
    require(is_utf8(title), TITLE_NOT_UTF8)


def _require_disjoint(added: Iterable[str | bytes], removed: Iterable[str | bytes]) -> None:
    require(
        set(added).isdisjoint(removed),
        "to_remove.find(a) == to_remove.end(): Cannot add and remove approval at the same time.",
    )
