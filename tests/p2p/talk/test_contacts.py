from __future__ import annotations

from random import Random

from ledgerd.p2p.talk.contacts import CONTACTS, FIRST_BACKOFF, LONGEST_BACKOFF, Contacts
from ledgerd.p2p.wire.messages import NO_NODE
from ledgerd.protocol.types.endpoint import Endpoint

SEED = Endpoint("203.0.113.1", 2001)
DAY = 86_400


def told(number: int) -> Endpoint:
    return Endpoint(f"62.{number // 200}.{number % 200}.1", 2001)


def dials(contacts: Contacts, endpoint: Endpoint, seconds: int) -> int:
    """How often an endpoint is dialled that never answers, by who looks a few times in the shortest pause."""
    count = 0
    for now in range(0, seconds, FIRST_BACKOFF // 5):
        for contact in contacts.due(now):
            if contact.endpoint == endpoint:
                count += 1
                contact.ended(None, now, Random(1))  # noqa: S311 - the same in every run
    return count


def test_endpoints_that_are_not_there_are_dialled_ever_less_often_and_give_way() -> None:
    contacts = Contacts((SEED,), 0)
    poison = [told(number) for number in range(CONTACTS - 1)]
    for endpoint in poison:
        assert contacts.add(endpoint, NO_NODE, 0) is not None
    honest = told(5_000)
    assert contacts.add(honest, NO_NODE, 0) is None, "the table is full, and nothing speaks against those in it"

    assert dials(contacts, poison[0], DAY) < DAY // LONGEST_BACKOFF + 10
    assert contacts.add(honest, NO_NODE, DAY) is not None
    assert honest in contacts
    assert poison[0] not in contacts
    assert len(contacts) == CONTACTS


def test_a_seed_is_dialled_on_and_never_gives_way() -> None:
    contacts = Contacts((SEED,), 0)

    assert dials(contacts, SEED, 3_600) == 3_600 // FIRST_BACKOFF
    for number in range(CONTACTS - 1):
        contacts.add(told(number), NO_NODE, 0)
    assert contacts.add(told(5_000), NO_NODE, 0) is None
    assert SEED in contacts


def test_one_that_has_answered_once_begins_anew() -> None:
    contacts = Contacts((), 0)
    contact = contacts.add(told(1), NO_NODE, 0)
    assert contact is not None
    for _ in range(5):
        contact.ended(None, 0, Random(1))  # noqa: S311 - the same in every run
    assert contact.next_attempt == FIRST_BACKOFF << 4

    contact.ended(10.0, 0, Random(1))  # noqa: S311 - the same in every run
    contact.ended(None, 0, Random(1))  # noqa: S311 - the same in every run
    assert contact.next_attempt == FIRST_BACKOFF
