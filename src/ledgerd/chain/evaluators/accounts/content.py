"""The rules of writing content, taking it away (spec 02, sections 17.1 and 17.2) and voting on it (section 17.3),
until hardfork 4. What it is paid is in `chain.rules.money.content`.
"""

from __future__ import annotations

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, int16, uint32, uint64, uint128
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import energy_now
from ledgerd.chain.rules.money.content import change_reward_shares, count_reply
from ledgerd.protocol import constants
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.accounts.content import Content, ContentExtension, DeleteContent, Vote
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.texts import byte_length, is_utf8, require_permlink
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.accounts import ACCOUNTS, Account
from ledgerd.state.objects.accounts.content import (
    CONTENT_BY_PERMLINK,
    CONTENT_TYPE_BY_CONTENT,
    CONTENT_TYPES,
    CONTENT_VOTE_BY_VOTER,
    CONTENT_VOTES,
    CONTENTS,
    ContentType,
    ContentVote,
)
from ledgerd.state.objects.accounts.content import Content as StoredContent


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
    if operation.parent_author == constants.ROOT_POST_PARENT:
        return None
    parent = ledger.store.at(CONTENT_BY_PERMLINK, operation.parent_author, operation.parent_permlink)
    require(
        parent.depth < constants.MAX_COMMENT_DEPTH,
        "parent->depth < max_depth: Content is nested ${x} posts deep, maximum depth is ${y}.",
        x=parent.depth,
        y=constants.MAX_COMMENT_DEPTH,
    )
    return parent


def _write(ledger: Ledger, operation: Content, parent: StoredContent | None) -> None:
    author, now = ledger.account(operation.author), ledger.now
    ledger.remember(author)
    author.last_post = now
    if parent is None:
        author.last_root_post = now
        author.content_count = uint32(author.content_count + 1)
    else:
        author.subcontent_count = uint32(author.subcontent_count + 1)
    require_permlink(operation.parent_permlink)
    require_permlink(operation.permlink)
    new = StoredContent(
        parent_author=constants.ROOT_POST_PARENT if parent is None else parent.author,
        parent_permlink=operation.parent_permlink if parent is None else parent.permlink,
        author=operation.author,
        permlink=operation.permlink,
        last_update=now,
        created=now,
        active=now,
        cashout_time=uint32(now + constants.CASHOUT_WINDOW_SECONDS),
        curation_percent=operation.curation_percent,
        depth=0 if parent is None else parent.depth + 1,
        root_content=ledger.store.next_id(CONTENTS) if parent is None else parent.root_content,
    )
    ledger.store.create(CONTENTS, new)
    _name_beneficiaries(ledger, new, operation.extensions)
    text = ContentType(
        content=new.id,
        title=operation.title,
        body=operation.body,
        json_metadata=operation.json_metadata if is_utf8(operation.json_metadata) else "",
    )
    ledger.store.create(CONTENT_TYPES, text)
    count_reply(ledger, new, +1)


def _rewrite(ledger: Ledger, operation: Content, existing: StoredContent) -> None:
    condition = "account_name_type()" if operation.parent_author == constants.ROOT_POST_PARENT else "o.parent_author"
    require(
        existing.parent_author == operation.parent_author,
        f"com.parent_author == {condition}: The parent of a content cannot change.",
    )
    require(
        _counts_as_equal(existing.parent_permlink, operation.parent_permlink),
        "equal(com.parent_permlink, o.parent_permlink): The permlink of a content cannot change.",
    )
    ledger.remember(existing)
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
                len(extension.beneficiaries) <= constants.MAX_COMMENT_BENEFICIARIES,
                "cpb.beneficiaries.size() <= CHAIN_MAX_COMMENT_BENEFICIARIES: "
                "Cannot specify more than ${m} beneficiaries.",
                m=constants.MAX_COMMENT_BENEFICIARIES,
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
        ledger.remember(named)
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
    for vote in ledger.store.under(CONTENT_VOTE_BY_VOTER, deleted.id):
        ledger.store.remove(vote)
    author = ledger.account(deleted.author)
    ledger.remember(author)
    if deleted.parent_author == constants.ROOT_POST_PARENT:
        author.content_count = uint32(author.content_count - 1)
    else:
        author.subcontent_count = uint32(author.subcontent_count - 1)
    count_reply(ledger, deleted, -1)
    ledger.store.remove(ledger.store.at(CONTENT_TYPE_BY_CONTENT, deleted.id))
    ledger.store.remove(deleted)


AFTER_PAYOUT = -1
"""The number of changes of a vote that cannot be changed."""


@evaluates(Vote)
def vote(ledger: Ledger, operation: Vote) -> None:
    require(not ledger.hardfork(4), "!_db.has_hardfork(CHAIN_HARDFORK_4): vote is deprecated as of HF 4")
    content = ledger.store.at(CONTENT_BY_PERMLINK, operation.author, operation.permlink)
    voter = ledger.account(operation.voter)
    earlier = ledger.store.lookup(CONTENT_VOTE_BY_VOTER, content.id, voter.id)
    energy = energy_now(ledger, voter)
    require(energy > 0, "current_energy > 0: Account currently does not have voting energy.")
    used = _energy_used(ledger, operation.weight)
    require(used <= energy, "used_energy <= current_energy: Account does not have enough energy to vote.")
    weight = _weight(ledger, voter, used)
    cast = ContentVote(
        voter=voter.id,
        content=content.id,
        rshares=-weight if operation.weight < 0 else weight,
        vote_percent=operation.weight,
        last_update=ledger.now,
    )
    if earlier is not None:
        _change(ledger, content, earlier, cast, energy - used)
        return
    require(operation.weight != 0, "o.weight != 0: Vote weight cannot be 0.")
    _spend(ledger, voter, weight, energy, energy - used)
    if content.cashout_time == LATEST:
        _award_author(ledger, content, cast)
    else:
        _count(ledger, content, cast)


def _energy_used(ledger: Ledger, weight: int) -> int:
    """What a vote costs: so many full ones a day, and a vote against something costs more."""
    votes_a_day = ledger.globals.vote_regeneration_per_day
    divisor = votes_a_day * ledger.network.energy_regeneration_seconds // DAY
    used = abs(weight)
    if weight < 0:
        used += used * ledger.median.flag_energy_additional_cost // HUNDRED_PERCENT
    return used // max(divisor, 1)


def _weight(ledger: Ledger, voter: Account, energy: int) -> int:
    """The reward shares of a vote; few count as none."""
    weight = fits_uint64(uint128(voter.effective_shares * energy) // HUNDRED_PERCENT)
    return weight if weight >= ledger.median.vote_accounting_min_rshares else 0


def _spend(ledger: Ledger, voter: Account, weight: int, energy: int, left: int) -> None:
    """Before hardfork 3 the first left the energy as it was, and yet took the time since as regained (spec 02,
    section 17.3).
    """
    ledger.remember(voter)
    if voter.awarded_rshares < weight:
        voter.energy = int16(left)
    else:
        voter.awarded_rshares -= weight
        if ledger.hardfork(3):
            voter.energy = int16(energy)
    voter.last_vote_time = ledger.now
    voter.vote_count = uint32(voter.vote_count + 1)


def _award_author(ledger: Ledger, content: StoredContent, cast: ContentVote) -> None:
    """Once content was paid, a vote lets its author vote for as much, and stays."""
    require(cast.vote_percent > 0, "o.weight > 0: Cannot flag post after payout window")
    author = ledger.account(content.author)
    ledger.remember(author)
    author.awarded_rshares = uint64(author.awarded_rshares + abs(cast.rshares))
    cast.num_changes = AFTER_PAYOUT
    ledger.store.create(CONTENT_VOTES, cast)


def _count(ledger: Ledger, content: StoredContent, cast: ContentVote) -> None:
    """A vote without weight counts as one against (spec 02, section 17.3)."""
    before = max(content.net_rshares, 0)
    with ledger.editing(content):
        content.net_rshares = fits_int64(content.net_rshares + cast.rshares)
        content.abs_rshares = fits_int64(content.abs_rshares + abs(cast.rshares))
        if cast.rshares > 0:
            content.vote_rshares = fits_int64(content.vote_rshares + cast.rshares)
        content.net_votes += 1 if cast.rshares > 0 else -1
        if cast.rshares > 0 and content.last_payout == 0:
            cast.weight = cast.rshares
            content.total_vote_weight = uint64(content.total_vote_weight + cast.weight)
    ledger.store.create(CONTENT_VOTES, cast)
    change_reward_shares(ledger, content, max(content.net_rshares, 0) - before)


def _change(ledger: Ledger, content: StoredContent, earlier: ContentVote, cast: ContentVote, left: int) -> None:
    """A changed vote no longer takes part in the curators' reward; less of a vote costs no energy."""
    require(earlier.num_changes != AFTER_PAYOUT, "false: Cannot vote again on a content after payout.")
    require(
        earlier.num_changes < constants.MAX_VOTE_CHANGES,
        "itr->num_changes < CHAIN_MAX_VOTE_CHANGES: Voter has used the maximum number of vote changes on this content.",
    )
    require(
        earlier.vote_percent != cast.vote_percent,
        "itr->vote_percent != o.weight: You have already voted in a similar way.",
    )
    voter = ledger.store.get(ACCOUNTS, cast.voter)
    ledger.remember(voter)
    if earlier.vote_percent < cast.vote_percent:
        voter.energy = int16(left)
    voter.last_vote_time = ledger.now
    before = max(content.net_rshares, 0)
    ledger.remember(content)
    content.net_rshares = fits_int64(fits_int64(content.net_rshares - earlier.rshares) + cast.rshares)
    content.abs_rshares = fits_int64(content.abs_rshares + abs(cast.rshares))
    content.net_votes += _sign(cast.rshares) - _sign(earlier.rshares)
    content.total_vote_weight = uint64(content.total_vote_weight - earlier.weight)
    with ledger.editing(earlier):
        earlier.rshares = cast.rshares
        earlier.vote_percent = cast.vote_percent
        earlier.last_update = cast.last_update
        earlier.weight = 0
        earlier.num_changes += 1
    change_reward_shares(ledger, content, max(content.net_rshares, 0) - before)


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
