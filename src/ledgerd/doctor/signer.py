"""Findings on the signer that holds the keys in place of the node: it is asked, as the node asks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ledgerd.codec.errors import CodecError
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.doctor.patient import Patient
from ledgerd.producer.signer_link import status_of
from ledgerd.protocol.keys import PublicKey, public_key_from_text
from ledgerd.supervision.main_loop import on_a_loop

if TYPE_CHECKING:
    from ledgerd.producer.signing_frames import SignerStatus


class AskedSigner(NamedTuple):
    """What a signer has said of itself, or why it could not be asked."""

    place: str
    status: SignerStatus | None
    problem: str

    @property
    def keys(self) -> frozenset[PublicKey]:
        """The public keys of what it holds; none where it says nonsense."""
        try:
            return frozenset(map(public_key_from_text, () if self.status is None else self.status.keys))
        except CodecError:
            return frozenset()


def ask(patient: Patient) -> AskedSigner | None:
    """Ask the signer of a node; nothing where the node holds its keys itself."""
    access = patient.signer
    if access is None:
        return None
    status, problem = on_a_loop(lambda: status_of(access.place, access.files))
    return AskedSigner(str(access.place), status, problem)


def signer(patient: Patient, asked: AskedSigner) -> Iterator[Finding]:
    """All findings on a signer that was asked."""
    if asked.status is None:
        yield error(
            "signer-away",
            what=f"the signer at {asked.place} cannot be asked: {asked.problem}",
            why="the node holds no key, so that no block is made until the signer answers",
            do="start the signer, or correct `validator-signer` and its certificates (`ledgerd signer --ask` asks too)",
        )
        return
    strange = [name for name in patient.validators if name not in asked.status.validators]
    if strange:
        yield error(
            "signer-not-told",
            what=f"the signer at {asked.place} does not sign for {', '.join(strange)}",
            why="it signs only for validators that it names, so that these miss their slots",
            do="start the signer with `--validator` for each of them",
        )
    if asked.status.problem:
        yield warning(
            "signer-waits",
            what=f"the signer at {asked.place} signs nothing now: {asked.status.problem}",
            why="slots are missed meanwhile",
            do="wait for a minute; if its clock is wrong, put that right and start the signer again",
        )
