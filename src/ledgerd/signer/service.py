"""Answers questions by the rule, and tells the operator what was signed and refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

import msgspec

from ledgerd.producer.signing import signing_frames
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.types.time_text import time_text
from ledgerd.signer.rule import ClockReading, Judgement, SigningRule
from ledgerd.supervision.line_rates import LineRate, limited

log = logging.getLogger(__name__)

REFUSALS = LineRate("questions that the signer refused", 20, 1 / 6)
LOUD = frozenset(
    {
        signing_frames.SigningVerdict.FAILED,
        signing_frames.SigningVerdict.CLOCK,
        signing_frames.SigningVerdict.AHEAD,
        signing_frames.SigningVerdict.LATE,
        signing_frames.SigningVerdict.NO_KEY,
        signing_frames.SigningVerdict.NOT_NAMED,
    }
)


class SigningService:
    """Answers the questions of nodes: a header by the rule, and the signer's status."""

    def __init__(
        self,
        rule: SigningRule,
        clock: Callable[[], ClockReading],
        validators: Collection[str],
        keys: Collection[PublicKey],
    ) -> None:
        self._rule, self._clock = rule, clock
        self._validators = tuple(sorted(validators))
        self._keys = tuple(public_key_text(key) for key in sorted(keys))

    @property
    def problem(self) -> str:
        return self._rule.problem(self._clock())

    def answer(
        self, question: signing_frames.SigningQuestion | signing_frames.StatusQuestion
    ) -> signing_frames.SignerAnswer:
        if isinstance(question, signing_frames.StatusQuestion):
            status = signing_frames.SignerStatus(self._validators, self._keys, self._rule.last_slot, self.problem)
            return signing_frames.SignerAnswer(
                question.number, signing_frames.SigningVerdict.STATUS, msgspec.json.encode(status)
            )
        before = self._rule.last_slot
        judged = self._rule.judge(question.key, question.header, self._clock())
        self._log(question, judged, is_new=self._rule.last_slot != before)
        return signing_frames.SignerAnswer(question.number, judged.verdict, judged.signature or judged.reason.encode())

    def _log(self, question: signing_frames.SigningQuestion, judged: Judgement, *, is_new: bool) -> None:
        header = question.header
        if judged.verdict is signing_frames.SigningVerdict.SIGNED:
            if is_new:
                log.info(
                    "signed the slot %(slot)s of %(validator)s",
                    {"slot": time_text(header.timestamp), "validator": header.validator},
                )
            return
        level = logging.WARNING if judged.verdict in LOUD else logging.INFO
        log.log(level, "refused to sign: %(reason)s", {"reason": judged.reason}, extra=limited(REFUSALS))
