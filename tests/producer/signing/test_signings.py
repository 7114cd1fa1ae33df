"""What the answer of a signer means for a slot: its signature is checked, and its reasons are told apart."""

from __future__ import annotations

import pytest

from ledgerd.chain.pending.generation import BlockDraft
from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.signing.signing_frames import SignerAnswer, SigningVerdict
from ledgerd.producer.signing.signings import SignerReply, judged
from ledgerd.protocol.crypto.signatures import sign
from tests.signer.headers import KEY, NOW, OTHER_KEY, header_of

DRAFT = BlockDraft(header_of(NOW), (), KEY.public)


def answer_of(content: bytes, verdict: SigningVerdict = SigningVerdict.SIGNED) -> SignerReply:
    return SignerReply(SignerAnswer(1, verdict, content))


@pytest.mark.parametrize(
    ("signing", "outcome", "reason"),
    [
        (answer_of(sign(KEY, DRAFT.header.digest)), TickOutcome.PRODUCED, ""),
        (answer_of(sign(OTHER_KEY, DRAFT.header.digest)), TickOutcome.SIGNER_REFUSED, "a signature of something else"),
        (answer_of(sign(KEY, header_of(NOW, 1).digest)), TickOutcome.SIGNER_REFUSED, "a signature of something else"),
        (answer_of(bytes(65)), TickOutcome.SIGNER_REFUSED, "a signature of something else"),
        (answer_of(b"no", SigningVerdict.SIGNED), TickOutcome.SIGNER_REFUSED, "the signer refuses: no"),
        (
            answer_of(b"it is", SigningVerdict.SIGNED_ANOTHER),
            TickOutcome.SIGNED_BY_ANOTHER,
            "another node has this slot",
        ),
        (answer_of(b"wait", SigningVerdict.WAITING), TickOutcome.SIGNER_REFUSED, "the signer refuses: wait"),
        (SignerReply(None, "gone"), TickOutcome.SIGNER_AWAY, "the signer has not signed it: gone"),
    ],
)
def test_an_answer_is_judged(signing: SignerReply, outcome: TickOutcome, reason: str) -> None:
    found = judged(DRAFT, signing)
    assert found.outcome is outcome
    assert reason in found.reason
