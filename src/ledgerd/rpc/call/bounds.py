"""Limits on one request or a whole batch, and the log line about clients that reach a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ledgerd.basics.quotas import HeldAmounts
from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.errors import INVALID_REQUEST, PlainError
from ledgerd.rpc.call.limits import Limits

SECONDS_BETWEEN_LINES = 60.0
"""The pause between two log lines on limits that were reached."""

MOST_COUNTED = 1_000
"""Pairs of a limit and an address that are counted separately between two lines; others are counted together."""

MOST_NAMED = 3
"""Addresses that a line names for each limit."""

OTHERS = "other addresses"


class BoundReached(PlainError):
    """A request exceeds a limit; the text names its option."""

    def __init__(self, message: str, option: str) -> None:
        super().__init__(f"{message} ({option})", INVALID_REQUEST)


class RequestBudget:
    """The remaining limits of one request, or of all requests of a batch together."""

    def __init__(self, limits: Limits, count: Callable[[str], None] = lambda _: None, share: str = "") -> None:
        self.share = share
        """The name under which broadcasts are charged (see `Asker`)."""
        self._limits = limits
        self._count = count
        self._names = 0
        self._bytes = 0

    def count_names(self, count: int) -> None:
        """Count names, keys and signatures, before any is looked up."""
        most = self._limits.names
        if 0 < most < self._names + count:
            self._refuse(f"A request or batch holds at most {most} names, keys and signatures", "webserver-max-names")
        self._names += count

    def require_room(self, count: int) -> None:
        most = self._limits.answer_bytes
        if 0 < most < self._bytes + count:
            self._refuse(f"An answer to a request or batch has at most {most} bytes", "webserver-max-answer-size")

    def count_bytes(self, count: int) -> None:
        self.require_room(count)
        self._bytes += count

    def require_held(self, held: HeldAmounts) -> None:
        """Refuse to go on with a batch of whoever has most of what is kept, when too much is."""
        if held.is_too_much and held.largest == self.share:
            self._refuse("The node holds too many answers that are not taken", "webserver-max-held-answer-bytes")

    def _refuse(self, message: str, option: str) -> None:
        self._count(option)
        raise BoundReached(message, option)


def names_in(arguments: Sequence[Json]) -> int:
    """The number of entries in the lists of a request, with those in a transaction or a filter."""
    count = 0
    for argument in arguments:
        if isinstance(argument, list):
            count += len(argument)
        elif isinstance(argument, dict):
            count += sum(len(value) for value in argument.values() if isinstance(value, list))
    return count


class LimitsReached:
    """The limits that clients have reached since the last log line. Times are passed in."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._logged_at = -SECONDS_BETWEEN_LINES
        self.totals = Counter[str]()

    def count(self, option: str, address: str) -> None:
        self.totals[option] += 1
        counts = self._counts.setdefault(option, Counter())
        is_known = address in counts or sum(map(len, self._counts.values())) < MOST_COUNTED
        counts[address if is_known else OTHERS] += 1

    @property
    def has_unlogged(self) -> bool:
        return bool(self._counts)

    def line(self, now: float) -> str:
        """The log line now: at most one a minute, and none if no limit was reached."""
        if not self._counts or now - self._logged_at < SECONDS_BETWEEN_LINES:
            return ""
        self._logged_at = now
        counts, self._counts = self._counts, {}
        return "; ".join(f"{option} {_shown(counts[option])}" for option in sorted(counts))


def _shown(counts: Counter[str]) -> str:
    most = ", ".join(f"{address or 'unknown'} {count}" for address, count in counts.most_common(MOST_NAMED))
    rest = len(counts) - MOST_NAMED
    more = f" and {rest} more addresses" if rest > 0 else ""
    return f"{counts.total()} times ({most}{more})"
