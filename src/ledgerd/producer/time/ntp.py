"""The time of time servers: packets, and which answers are believed (spec 06, 9). Times are microseconds since 1970."""

from __future__ import annotations

import logging
import struct
from collections import deque
from collections.abc import Collection
from enum import Enum

import msgspec

from ledgerd.producer.settings import NtpSettings

log = logging.getLogger(__name__)

MICRO = 1_000_000
SINCE_1900 = 2_208_988_800
"""Seconds from the beginning of NTP's time to that of ours."""

FIRST_ERA = 1 << 31
"""Seconds below this are those of the second era, which begins in 2036."""

PACKET_SIZE = 48
CLIENT_REQUEST = 0x08
"""The first byte of the reference's requests: version 1, and a mode of zero. Servers answer it."""
TIMES = struct.Struct(">24xQQQ")
DAY = 86_400 * MICRO
ROUND_PAUSE = 3 * MICRO
EARLY = 5 * MICRO
TRIES_BEFORE_BELIEF = 3
SAME = 50_000
ALIKE = 500_000
"""Answers of servers that differ by less agree with each other: each may have been on its way for so long."""
FARTHEST_ALONE = 3 * MICRO
"""Of several servers, one that answers alone is not believed if it differs by more: microseconds."""

SENT, REPEATED = slice(40, 48), slice(24, 32)
"""The bytes with the time at which a question was sent, and those where the answer repeats it."""

Address = tuple[str, int]


def ntp_time(micros: int) -> int:
    seconds, rest = divmod(micros, MICRO)
    return (seconds + SINCE_1900) % (1 << 32) << 32 | (rest << 32) // MICRO


def from_ntp_time(value: int) -> int:
    seconds = value >> 32
    if seconds < FIRST_ERA:
        seconds += 1 << 32
    return (seconds - SINCE_1900) * MICRO + ((value & 0xFFFFFFFF) * MICRO + (1 << 31) >> 32)


def request(now: int) -> bytes:
    return bytes([CLIENT_REQUEST]) + bytes(39) + struct.pack(">Q", ntp_time(now))


class NtpAnswer(msgspec.Struct, frozen=True):
    """The answer of a server, in microseconds."""

    offset: int
    """Our clock is behind the server's by so much."""
    delay: int


def answer_of(packet: bytes, received: int) -> NtpAnswer | None:
    if len(packet) < PACKET_SIZE:
        return None
    asked, arrived, sent = (from_ntp_time(value) for value in TIMES.unpack_from(packet))
    return NtpAnswer(_average((arrived - asked, sent - received)), (received - asked) - (sent - arrived))


class Round:
    """The answers to one round of questions, and which of them is believed. The reference believes the first (spec 06,
    section 9), so that one server of three, when it is fast, decides over the time of a validator. Here more than half
    of those asked have to agree; where fewer answer, more than half of these, and a single one may be off by as much as
    the clock is slewed, not more.
    """

    def __init__(self) -> None:
        self._asked: dict[Address, bytes] = {}
        self._answers: dict[Address, NtpAnswer] = {}

    def ask(self, server: Address, packet: bytes) -> None:
        self._asked[server] = packet[SENT]

    def answer(self, server: Address, packet: bytes, received: int) -> NtpAnswer | None:
        """Read an answer; None if it answers no question of this round, or was given before."""
        answer = answer_of(packet, received)
        if answer is None or server in self._answers or self._asked.get(server) != packet[REPEATED]:
            return None
        return answer

    def count(self, server: Address, answer: NtpAnswer) -> None:
        self._answers[server] = answer

    def choice(self, *, is_over: bool) -> NtpAnswer | None:
        """The answer that is believed, as soon as one is, or when nobody is waited for any more."""
        answers = self._answers.values()
        groups = [[each for each in answers if abs(each.offset - one.offset) <= ALIKE] for one in answers]
        alike = max(groups, key=len, default=[])
        most = len(self._answers) if is_over else len(self._asked)
        if len(alike) * 2 <= most:
            return None
        best = min(alike, key=lambda each: each.delay)
        is_alone = len(alike) == 1 < len(self._asked)
        return None if is_alone and abs(best.offset) > FARTHEST_ALONE else best

    @property
    def offsets(self) -> list[int]:
        return sorted(answer.offset for answer in self._answers.values())


def _average(values: Collection[int]) -> int:
    total = sum(values)
    return total // len(values) if total >= 0 else -(-total // len(values))


class AnswerVerdict(Enum):
    """The outcome for an answer."""

    ACCEPTED = "accepted"
    TOO_SLOW = "too slow"
    """Ask again."""
    ABSURD = "absurd"
    LATE = "late"
    """Another answer to the same question was accepted already."""
    REJECTED = "rejected"


class NtpOffset:
    """The offset of our clock, averaged over the accepted answers."""

    def __init__(self, settings: NtpSettings) -> None:
        self._settings = settings
        self._history: deque[int] = deque(maxlen=max(1, settings.history_size))
        self._accepted_at: int | None = None
        self._asked_at: int | None = None
        self._is_answered = False
        self._rejections = 0
        self._last_rejected = 0
        self.offset: int | None = None
        """Microseconds to add to our clock; None before the first answer."""

    def is_due(self, now: int) -> bool:
        if self._accepted_at is None:
            return True
        return not 0 <= now - self._accepted_at < self._settings.request_interval * MICRO - EARLY

    def begin_round(self, now: int) -> bool:
        if self._asked_at is not None and 0 <= now - self._asked_at < ROUND_PAUSE:
            return False
        self._asked_at = now
        self._is_answered = False
        return True

    def unusable(self, answer: NtpAnswer) -> AnswerVerdict | None:
        """Why an answer cannot be believed, whatever others say; None if it can."""
        if answer.delay > self._settings.round_trip_threshold * 1_000:
            return AnswerVerdict.TOO_SLOW
        if abs(answer.offset) >= DAY:
            log.error(
                "a time server is %(seconds)d s away from our clock: its answer is not used",
                {"seconds": answer.offset // MICRO},
            )
            return AnswerVerdict.ABSURD
        return None

    def judge(self, answer: NtpAnswer, now: int) -> AnswerVerdict:
        unusable = self.unusable(answer)
        if unusable is not None:
            return unusable
        if self._is_answered:
            return AnswerVerdict.LATE
        if not self._is_believed(answer.offset):
            return AnswerVerdict.REJECTED
        self._rejections = 0
        self._history.append(answer.offset)
        self.offset = _average(self._history)
        self._accepted_at = now
        self._is_answered = True
        return AnswerVerdict.ACCEPTED

    def _is_believed(self, offset: int) -> bool:
        """Whether an answer is accepted: one unlike those before is when three in a row agree on it."""
        if len(self._history) < 2:
            return True
        settings, average = self._settings, _average(self._history)
        threshold = max(
            abs(average) * settings.rejection_threshold_pct // 100, settings.rejection_min_threshold * 1_000
        )
        if abs(offset - average) <= threshold:
            return True
        is_same = self._rejections > 0 and abs(offset - self._last_rejected) <= SAME
        self._rejections = self._rejections + 1 if is_same else 1
        self._last_rejected = offset
        if self._rejections < TRIES_BEFORE_BELIEF:
            return False
        self._history.clear()
        return True
