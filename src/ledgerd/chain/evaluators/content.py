"""The rules of writing content and taking it away, until hardfork 4 (spec 02, sections 17.1 and 17.2).

Votes on content are in `content_votes`; what it is paid is in `chain.rules.money.content_payout`.
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.content_tree import count_reply
from ledgerd.protocol.constants import (
    CASHOUT_WINDOW_SECONDS,
    MAX_COMMENT_BENEFICIARIES,
    MAX_COMMENT_DEPTH,
    MAX_URL_LENGTH,
    ROOT_POST_PARENT,
)
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.content import Content, ContentExtension, DeleteContent
from ledgerd.protocol.texts import byte_length, is_utf8
from ledgerd.state.objects.content import (
    CONTENT_BY_PERMLINK,
    CONTENT_TYPE_BY_CONTENT,
    CONTENT_TYPES,
    CONTENT_VOTE_BY_VOTER,
    CONTENTS,
    ContentType,
)
from ledgerd.state.objects.content import Content as StoredContent


@evaluates(Content)
def content(ledger: Ledger, operation: Content) -> None:
    require(not ledger.hardfork(4), "!_db.has_hardfork(CHAIN_HARDFORK_4): content is deprecated as of HF 4")
    require(
        operation.title or operation.body or operation.json_metadata,
        "o.title.size() + o.body.size() + o.json_metadata.size(): "
        "Cannot update content because nothing appears to be changing.",
    )
    existing = ledger.store.lookup(CONTENT_BY_PERMLINK, operation.author, operation.permlink)
    ledger.account(operation.author)
    parent = _parent(ledger, operation)
    if existing is None:
        _write(ledger, operation, parent)
    else:
        _rewrite(ledger, operation, existing)


def _parent(ledger: Ledger, operation: Content) -> StoredContent | None:
    if operation.parent_author == ROOT_POST_PARENT:
        return None
    parent = ledger.store.at(CONTENT_BY_PERMLINK, operation.parent_author, operation.parent_permlink)
    require(
        parent.depth < MAX_COMMENT_DEPTH,
        "parent->depth < max_depth: Content is nested ${x} posts deep, maximum depth is ${y}.",
        x=parent.depth,
        y=MAX_COMMENT_DEPTH,
    )
    return parent


def _write(ledger: Ledger, operation: Content, parent: StoredContent | None) -> None:
    author, now = ledger.account(operation.author), ledger.now
    with ledger.editing(author):
        author.last_post = now
        if parent is None:
            author.last_root_post = now
            author.content_count = uint32(author.content_count + 1)
        else:
            author.subcontent_count = uint32(author.subcontent_count + 1)
    _require_permlink(operation.parent_permlink)
    _require_permlink(operation.permlink)
    new = StoredContent(
        parent_author=ROOT_POST_PARENT if parent is None else parent.author,
        parent_permlink=operation.parent_permlink if parent is None else parent.permlink,
        author=operation.author,
        permlink=operation.permlink,
        last_update=now,
        created=now,
        active=now,
        cashout_time=uint32(now + CASHOUT_WINDOW_SECONDS),
        curation_percent=operation.curation_percent,
        depth=0 if parent is None else parent.depth + 1,
        root_content=ledger.store.next_id(CONTENTS) if parent is None else parent.root_content,
    )
    ledger.store.create(CONTENTS, new)
    _name_beneficiaries(ledger, new, operation.extensions)
    ledger.store.create(
        CONTENT_TYPES,
        ContentType(
            content=new.id,
            title=operation.title,
            body=operation.body,
            json_metadata=operation.json_metadata if is_utf8(operation.json_metadata) else "",
        ),
    )
    count_reply(ledger, new, +1)


def _require_permlink(permlink: str) -> None:
    require(byte_length(permlink) < MAX_URL_LENGTH, "permlink.size() < CHAIN_MAX_URL_LENGTH: permlink is too long")
    require(is_utf8(permlink), "fc::is_utf8(permlink): permlink not formatted in UTF8")


def _rewrite(ledger: Ledger, operation: Content, existing: StoredContent) -> None:
    """Replace the texts that are given; a content stays in its place."""
    condition = "account_name_type()" if operation.parent_author == ROOT_POST_PARENT else "o.parent_author"
    require(
        existing.parent_author == operation.parent_author,
        f"com.parent_author == {condition}: The parent of a content cannot change.",
    )
    require(
        _counts_as_equal(existing.parent_permlink, operation.parent_permlink),
        "equal(com.parent_permlink, o.parent_permlink): The permlink of a content cannot change.",
    )
    with ledger.editing(existing):
        existing.last_update = existing.active = ledger.now
    _name_beneficiaries(ledger, existing, operation.extensions)
    text = ledger.store.at(CONTENT_TYPE_BY_CONTENT, existing.id)
    with ledger.editing(text):
        text.title = operation.title or text.title
        text.json_metadata = operation.json_metadata or text.json_metadata
        text.body = operation.body or text.body


def _counts_as_equal(stored: str, given: str) -> bool:
    """Any other permlink of the same length passes, and is ignored (spec 02, section 17.1, quirk)."""
    return byte_length(stored) == byte_length(given) or stored.split("\0", 1)[0] == given.split("\0", 1)[0]


def _name_beneficiaries(ledger: Ledger, named: StoredContent, extensions: tuple[ContentExtension, ...]) -> None:
    """Beneficiaries are named once, and before any vote."""
    for extension in extensions:
        if ledger.is_producing:
            require(
                len(extension.beneficiaries) <= MAX_COMMENT_BENEFICIARIES,
                "cpb.beneficiaries.size() <= CHAIN_MAX_COMMENT_BENEFICIARIES: "
                "Cannot specify more than ${m} beneficiaries.",
                m=MAX_COMMENT_BENEFICIARIES,
            )
        require(
            not named.beneficiaries,
            "_c.beneficiaries.size() == 0: Comment already has beneficiaries specified.",
        )
        require(
            named.abs_rshares == 0,
            "_c.abs_rshares == 0: Comment must not have been voted on before specifying beneficiaries.",
        )
        for each in extension.beneficiaries:
            require(
                ledger.find_account(each.account) is not None,
                'acc != nullptr: Beneficiary "${a}" must exist.',
                a=each.account,
            )
        with ledger.editing(named):
            named.beneficiaries = extension.beneficiaries


@evaluates(DeleteContent)
def delete_content(ledger: Ledger, operation: DeleteContent) -> None:
    """Take a content without replies away; in a block, one with votes stays, without an error."""
    require(not ledger.hardfork(4), "!_db.has_hardfork(CHAIN_HARDFORK_4): delete_content is deprecated as of HF 4")
    deleted = ledger.store.at(CONTENT_BY_PERMLINK, operation.author, operation.permlink)
    require(deleted.children == 0, "content.children == 0: Cannot delete a content with replies.")
    if deleted.net_rshares > 0:
        require(
            not ledger.is_producing,
            "content.net_rshares <= 0: Cannot delete a content with network positive votes.",
        )
        return
    for vote in ledger.store.scan(CONTENT_VOTE_BY_VOTER, lower=(deleted.id,), upper=(deleted.id,)):
        ledger.store.remove(vote)
    author = ledger.account(deleted.author)
    with ledger.editing(author):
        if deleted.parent_author == ROOT_POST_PARENT:
            author.content_count = uint32(author.content_count - 1)
        else:
            author.subcontent_count = uint32(author.subcontent_count - 1)
    count_reply(ledger, deleted, -1)
    ledger.store.remove(ledger.store.at(CONTENT_TYPE_BY_CONTENT, deleted.id))
    ledger.store.remove(deleted)
