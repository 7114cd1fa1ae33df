"""Operations on content: votes, posts and their removal (spec 01, section 7.1).

They ended with hardfork 4; the blocks of before still hold them.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec import one_of, sorted_by
from ledgerd.codec.types.numbers import Int16
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Operation, by_alternative
from ledgerd.protocol.operations.roles import Meaning, RegularSigner, Role, Touched, VoteOn, words
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.beneficiary import Beneficiary, require_ordered_beneficiaries
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.texts import byte_length, is_json, is_utf8, require_permlink

MAX_TITLE_LENGTH = 256


class ContentPayoutBeneficiaries(msgspec.Struct, frozen=True):
    """The accounts that share what an author earns."""

    beneficiaries: tuple[Beneficiary, ...]

    def check(self) -> None:
        require_ordered_beneficiaries(self.beneficiaries)


ContentExtension = Annotated[ContentPayoutBeneficiaries, one_of(memory=28)]


class Vote(Operation, frozen=True, tag=0):
    """Says how much of a voter's energy goes for, or against, a post."""

    EN = words("Post vote", "{voter} voted {weight} on a post of {author}")
    RU = words("Голос за запись", "{voter} голосует {weight} по записи {author}")
    DEPRECATED = True

    voter: RegularSigner
    author: Annotated[Touched, VoteOn("content")]
    permlink: Annotated[str, VoteOn("content")]
    weight: Annotated[Int16, Meaning.HUNDREDTHS, Meaning.WEIGHT]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.voter, self.author)
        require(abs(self.weight) <= HUNDRED_PERCENT, "abs(weight) <= CHAIN_100_PERCENT: Weight is not a percentage")
        require_permlink(self.permlink)


class Content(Operation, frozen=True, tag=1):
    """Writes or rewrites a post, or a comment on one."""

    EN = words(
        "Post", "{author} commented on a post of {parent_author}", no_parent_author="{author} published “{title}”"
    )
    RU = words(
        "Запись", "{author} комментирует запись {parent_author}", no_parent_author="{author} публикует «{title}»"
    )
    DEPRECATED = True

    parent_author: Annotated[AccountName, Role.TOUCHED_IF_NAMED]
    parent_permlink: str
    author: RegularSigner
    permlink: str
    title: str
    body: str
    curation_percent: Annotated[Int16, Meaning.HUNDREDTHS]
    json_metadata: Annotated[str, Meaning.OPTIONAL]
    extensions: Annotated[tuple[ContentExtension, ...], sorted_by(by_alternative)]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        self._check_texts()
        if self.parent_author:
            require_valid_name(self.parent_author, self.author)
        require_permlink(self.parent_permlink)
        require_permlink(self.permlink)
        require(self.curation_percent >= 0, "curation_percent >= 0: ")
        require(self.curation_percent <= HUNDRED_PERCENT, "curation_percent <= CHAIN_100_PERCENT: ")
        if self.json_metadata:
            require(is_json(self.json_metadata), "fc::json::is_valid(json_metadata): JSON Metadata not valid JSON")
        for extension in self.extensions:
            extension.check()

    def _check_texts(self) -> None:
        require(byte_length(self.title) < MAX_TITLE_LENGTH, "title.size() < 256: Title larger than size limit")
        require(is_utf8(self.title), "fc::is_utf8(title): Title not formatted in UTF8")
        require(self.body, "body.size() > 0: Body is empty")
        require(is_utf8(self.body), "fc::is_utf8(body): Body not formatted in UTF8")


class DeleteContent(Operation, frozen=True, tag=9):
    """Takes a post away."""

    EN = words("Post deleted", "{author} deleted the post “{permlink}”")
    RU = words("Удаление записи", "{author} удаляет запись «{permlink}»")
    DEPRECATED = True

    author: RegularSigner
    permlink: str

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_permlink(self.permlink)
        require_valid_name(self.author)
