"""The newest snapshot of the trusted peers: where several serve the same block, two must have equal records."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Self

from ledgerd.basics.failures import reason_of
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.client import FAULTS, PAUSE_SECONDS, Fetched, SnapshotOffer, download, fetch_newest
from ledgerd.snapshot.importing.job import Compare
from ledgerd.snapshot.importing.jobs import done
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

COMPARED = "compared"

MOST_COMPARED = 3
"""Other files that are downloaded to be compared with the first."""


class RefusedSources(NamedTuple):
    """Sources that are not asked again while one state is searched for."""

    checksums: set[bytes]
    peers: set[Endpoint]
    """Peers that have served one of those: they could serve ever newer ones."""

    @classmethod
    def none(cls) -> Self:
        return cls(set(), set())

    def add(self, fetched: Fetched) -> None:
        self.checksums.add(fetched.checksum)
        self.peers.add(fetched.peer)


class Agreed(NamedTuple):
    """A snapshot, and how far trusted peers agree on it."""

    fetched: Fetched
    sources: int
    """The peers that serve these records, this one included; 0 if two peers serve others."""


class _Candidate(NamedTuple):
    """A file, and the peers that serve its records."""

    fetched: Fetched
    peers: list[Endpoint]


async def fetch_agreed(
    peers: Sequence[Endpoint],
    folder: Path,
    chain: str,
    above: int = 0,
    *,
    refused: RefusedSources,
    pause: float = PAUSE_SECONDS,
) -> Agreed | None:
    """The newest snapshot above a block that is not refused, compared with those of other peers. Files of one block of
    which no two are equal become refused, and other peers are asked.
    """
    while True:
        asked = [peer for peer in peers if peer not in refused.peers]
        fetched = await fetch_newest(asked, folder, above, refused=refused.checksums, pause=pause)
        if fetched is None:
            return None
        try:
            agreed = await _compared(fetched, folder / COMPARED, chain, refused, pause)
        finally:
            await in_thread(shutil.rmtree, folder / COMPARED, ignore_errors=True)
        if agreed is not None:
            return agreed
        await in_thread(fetched.path.unlink, missing_ok=True)


async def _compared(fetched: Fetched, folder: Path, chain: str, refused: RefusedSources, pause: float) -> Agreed | None:
    candidates = [_Candidate(fetched, [fetched.peer])]
    for offer in fetched.others[:MOST_COMPARED]:
        await _compare(candidates, offer, folder / str(len(candidates)), chain, pause)
        if any(len(each.peers) > 1 for each in candidates):
            break
    best = max(candidates, key=lambda each: len(each.peers))
    if len(candidates) == 1 and len(best.peers) == 1:
        log.warning(
            "the snapshot of block %(block)d is from %(peer)s alone: no other trusted peer has one of the same block "
            "to compare",
            {"block": fetched.number, "peer": fetched.peer},
        )
        return Agreed(fetched, 1)
    if len(best.peers) == 1:
        log.error(
            "trusted peers serve different states of block %(block)d: %(peers)s; none is taken",
            {"block": fetched.number, "peers": ", ".join(str(each.fetched.peer) for each in candidates)},
        )
        for each in candidates:
            refused.add(each.fetched)
        return None
    for each in candidates:
        if each is not best:
            log.error(
                "%(peer)s serves another state of block %(block)d than two others",
                {"peer": each.fetched.peer, "block": fetched.number},
            )
            refused.add(each.fetched)
    log.info(
        "%(peers)s serve the same state of block %(block)d",
        {"peers": " and ".join(map(str, best.peers)), "block": fetched.number},
    )
    if best.fetched is not fetched:
        await in_thread(best.fetched.path.replace, fetched.path)
    return Agreed(best.fetched._replace(path=fetched.path), len(best.peers))


async def _compare(candidates: list[_Candidate], offer: SnapshotOffer, folder: Path, chain: str, pause: float) -> None:
    """Compare what a peer serves with what others serve; a fault of the peer leaves it uncompared."""
    for each in candidates:
        if each.fetched.checksum == offer.info.checksum:
            each.peers.append(offer.peer)
            return
    log.info(
        "downloading the snapshot of block %(block)d from %(peer)s, to compare it",
        {"block": offer.info.number, "peer": offer.peer},
    )
    try:
        await in_thread(lambda: folder.mkdir(parents=True, exist_ok=True))
        other = await download(offer.peer, folder, offer.info.number - 1, pause=pause)
        for each in candidates:
            differing = (await done(Compare(str(each.fetched.path), str(other.path), chain))).differing
            if not differing:
                each.peers.append(offer.peer)
                return
            log.warning(
                "%(peer)s and %(other)s have other records of block %(block)d in: %(tables)s",
                {
                    "peer": each.fetched.peer,
                    "other": offer.peer,
                    "block": offer.info.number,
                    "tables": ", ".join(differing),
                },
            )
    except (*FAULTS, SnapshotError) as problem:
        log.warning(
            "the snapshot of %(peer)s cannot be compared: %(reason)s",
            {"peer": offer.peer, "reason": reason_of(problem)},
        )
        return
    candidates.append(_Candidate(other, [offer.peer]))
