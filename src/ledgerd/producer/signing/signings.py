"""What became of a question to the signer, as the producer judges it. Pure: the question is asked elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.signing.signing_frames import SignerAnswer, SigningVerdict
from ledgerd.protocol.crypto.signatures import Signature, recover
from ledgerd.protocol.errors import RuleViolation

if TYPE_CHECKING:
    from ledgerd.chain.pending.generation import BlockDraft  # a signer loads nothing of the chain

ATTEMPTS = 2
"""How often the signer is asked for one slot."""
ATTEMPT_SECONDS = 0.25
"""A question is given up after so long; both attempts together fit into the time in which a slot's block is made."""


class SignerReply(NamedTuple):
    """The result of a question: an answer, or why there is none."""

    answer: SignerAnswer | None
    reason: str = ""


class Judged(NamedTuple):
    """The outcome for the slot, and the reason where no block comes of it."""

    outcome: TickOutcome
    reason: str = ""


def judged(draft: BlockDraft, signing: SignerReply) -> Judged:
    """The result of an answer for the slot that it was asked for. A signature is checked before it is used."""
    answer = signing.answer
    if answer is None:
        return Judged(TickOutcome.SIGNER_AWAY, f"the signer has not signed it: {signing.reason}")
    signature = answer.signature
    if signature is not None:
        if _is_by(draft, signature):
            return Judged(TickOutcome.PRODUCED)
        return Judged(TickOutcome.SIGNER_REFUSED, "the signer has given a signature of something else")
    if answer.verdict is SigningVerdict.SIGNED_ANOTHER:
        return Judged(TickOutcome.SIGNED_BY_ANOTHER, f"another node has this slot from our signer ({answer.text})")
    return Judged(TickOutcome.SIGNER_REFUSED, f"the signer refuses: {answer.text}")


def _is_by(draft: BlockDraft, signature: Signature) -> bool:
    try:
        return recover(signature, draft.header.digest) == draft.key
    except RuleViolation:
        return False
