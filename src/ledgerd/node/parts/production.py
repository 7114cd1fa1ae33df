"""Block production as a part of the node: its settings, clock, signing record, and the timer that drives it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from functools import partial

from ledgerd.chain.chain import Chain
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import validators as table
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.declaration import WrongTogether
from ledgerd.node.config.options.validator import keys_of_file
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.validators.take_over import QUIET_SLOTS, GivingNode, require_not_taken_over
from ledgerd.node.parts.watching.meters import Meters, MeterSample, MetersPart
from ledgerd.node.time_source import TimeSource
from ledgerd.producer.doppelganger import Doppelganger, WatchState, is_doppelganger_checked
from ledgerd.producer.facts import quiet_slots, read_facts
from ledgerd.producer.loop import Producer, run
from ledgerd.producer.outcome import TickOutcome
from ledgerd.producer.settings import LOADED_KEYS
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.producer.signing.signer_link import SignerLink
from ledgerd.producer.time.clock import SECOND, SteadyClock
from ledgerd.producer.time.ntp_client import NtpClient
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

OTHER = "other"
CAUSES = {
    TickOutcome.ASKED: "signer_away",
    TickOutcome.SIGNER_AWAY: "signer_away",
    TickOutcome.SIGNER_REFUSED: "signer_refused",
    TickOutcome.SIGNED_BY_ANOTHER: "branch",
    TickOutcome.ALREADY_SIGNED: "branch",
}
"""The cause of a missed slot, by its last outcome. A block that was signed but is not in the chain is on a branch."""


class LostSlots:
    """Counts lost slots in the metrics, by cause."""

    def __init__(self, cells: Cells) -> None:
        self._counters = {cause: cells.counter(table.LOST_SLOTS, cause) for cause in table.CAUSE.values}

    def sample(self, lost: Mapping[TickOutcome, int]) -> None:
        counts = Counter[str]()
        for outcome, count in lost.items():
            counts[CAUSES.get(outcome, OTHER)] += count
        for cause, counter in self._counters.items():
            counter.rise_to(counts[cause])


NTP_OPTION = "ntp-server"


def asks_for_time(configuration: Configuration, *, is_network_of_one: bool) -> bool:
    """Whether time servers are asked. Only producers must agree on the time; a network of one node asks only if servers
    are configured.
    """
    if not configuration.validator.names or not configuration.validator.ntp.servers:
        return False
    is_given = any(each.option.name == NTP_OPTION and each.where for each in configuration.settings)
    return is_given or not is_network_of_one


class ProductionPart(NodePart):
    """Makes the blocks of this node's validators."""

    def __init__(self, context: PartContext, chain: ChainPart, peers: PeersPart, meters: MetersPart) -> None:
        super().__init__(context)
        configuration = context.configuration
        self._chain = chain
        self._peers = peers
        time = context.time
        meters.on_chain.append(self._sample)
        self._ntp = self._time_servers(time)
        self.clock = SteadyClock(time.monotonic, time.wall, lambda: self.clock_offset or 0)
        self.producer: Producer | None = None
        self._doppelganger: Doppelganger | None = None
        self._settings = configuration.validator
        access = configuration.validator.signer
        place = access.place
        self._signer = None if place is None else SignerLink(place, access.files, partial(self.work.warn, "signer"))

    def _sample(self, meters: Meters) -> MeterSample:
        lost = LostSlots(meters.cells)
        return lambda: None if self.producer is None else lost.sample(self.producer.streaks.lost)

    @property
    def clock_offset(self) -> int | None:
        """Microseconds by which the machine's clock is behind the time servers; None before one has answered."""
        return None if self._ntp is None else self._ntp.known.offset

    def _time_servers(self, time: TimeSource) -> NtpClient | None:
        if self._chain.network.clock.is_own:
            return None
        is_network_of_one = self._chain.network.max_validators == 1
        if not asks_for_time(self._configuration, is_network_of_one=is_network_of_one):
            return None
        return NtpClient(self._configuration.validator.ntp, time.wall)

    async def start(self) -> None:
        if self._ntp is not None:
            ntp = self._ntp
            self.work.keep("time servers", lambda _: ntp.run(self.work))
        if self._settings.take_over is None:
            if self._settings.names and not self._settings.is_signed_elsewhere:
                require_not_taken_over(self._data_dir, None)
            await self._begin_production()
        else:
            other = GivingNode(self._settings.take_over, self._data_dir, self._chain.network.chain_id)
            other.check()
            if other.has_given:
                await self._begin_production()
            else:
                self.work.keep("the take-over", lambda _: self._take_over(other))

    async def _take_over(self, other: GivingNode) -> None:
        text = f"the node of {other.folder} makes the blocks of {' '.join(self._settings.names)} until it is stopped"
        log.info("take-over: %(text)s; this one follows the chain", {"text": text})
        self.work.warn("take-over", text)
        moments = self.work.begin(self._announce_moments(other), "moments")
        with await other.ended():
            moments.cancel()
            last = await in_thread(other.take)
        log.info(
            "take-over: the node of %(folder)s has ended and has signed %(last)s last; this one goes on from there",
            {"folder": other.folder, "last": last},
        )
        self.work.warn("take-over", "")
        await self._begin_production()
        await asyncio.Event().wait()

    async def _announce_moments(self, other: GivingNode) -> None:
        """Log when it is a good moment to stop the other node, once for each such moment."""
        was_quiet = False
        while True:
            count, is_quiet = await self._chain.run(self._quiet_slots)
            if is_quiet and not was_quiet:
                log.info(
                    "take-over: NOW stop the node of %(folder)s: the next %(count)d slots are of others",
                    {"folder": other.folder, "count": count},
                )
            was_quiet = is_quiet
            await self._time.sleep(BLOCK_INTERVAL / 2)

    def _quiet_slots(self) -> tuple[int, bool]:
        """How many of the next slots are known to be of others, and whether they are enough, with the chain in step."""
        facts = read_facts(self._chain.chain, self._settings.names)
        count, second = quiet_slots(facts), self.clock() // SECOND
        # In a short schedule, a validator in its middle never has so many.
        wanted = min(QUIET_SLOTS, (facts.max_validators - 1) // 2)
        return count, facts.slot_at(second) <= 1 and count >= wanted

    async def _begin_production(self) -> None:
        await self._chain.attach(self._begin)
        if self._settings.key_files:
            # The configuration has the keys that the process began with; the files may have changed since then.
            await self.read_keys_again()
        else:
            (self._configuration.invocation.data_dir / LOADED_KEYS).unlink(missing_ok=True)
        producer = self.producer
        if producer is not None and producer.settings.names:
            signer = self._signer
            if signer is not None:
                self.work.keep("signer", signer.run)
            sign = None if signer is None else signer.sign
            self.work.keep(
                "production", lambda _: run(producer, self._chain.on_chain, self.clock, self._time.sleep, sign)
            )

    def _begin(self, chain: Chain) -> None:
        signed = LastSigned(self._configuration.invocation.data_dir, chain.network.chain_id)
        ask_time = self._ntp.ask_soon if self._ntp else (lambda: None)
        settings = self._settings
        if self._doppelganger is None and is_doppelganger_checked(settings, chain.network):
            slots = chain.network.max_validators
            self._doppelganger = Doppelganger(settings, signed.latest, slots, self.clock, self._doppelganger_changed)
        self.producer = Producer(
            chain,
            settings,
            signed,
            self.clock,
            peers=self._peers,
            ask_time=ask_time,
            doppelganger=self._doppelganger,
        )
        self.producer.signing_refusal = lambda: self._signing.refusal
        self._signing.seconds_to_our_slot = self.producer.seconds_to_own_slot
        self.producer.begin()

    async def read_keys_again(self) -> None:
        """Read the files of signing keys again; if one cannot be read, all keys stay as they are."""
        try:
            found = [key for path in self._settings.key_files for key in keys_of_file(path, log.warning)]
        except WrongTogether as problem:
            log.error("the signing keys are not changed: %(problem)s", {"problem": problem})  # noqa: TRY400 - a traceback does not help the operator
            return
        self._settings = settings = self._settings.with_keys_of_files(found)
        if self.producer is not None:
            await self._chain.run(partial(self.producer.set_settings, settings))
        self._write_loaded_keys()

    def _write_loaded_keys(self) -> None:
        """Write down the public keys of the loaded keys, so that `ledgerd key` sees that a node has read its files."""
        known = [public_key_text(key) for key in self._settings.keys]
        log.info("signing keys that are loaded: %(keys)s", {"keys": " ".join(known) or "none"})
        path = self._configuration.invocation.data_dir / LOADED_KEYS
        fresh = path.with_name(f"{LOADED_KEYS}.new")
        try:
            fresh.write_text("".join(f"{each}\n" for each in known), encoding="ascii")
            fresh.replace(path)
        except OSError as problem:
            log.warning("%(file)s cannot be written: %(problem)s", {"file": path, "problem": problem.strerror})

    def _doppelganger_changed(self, state: WatchState) -> None:
        if state.stopped:
            self.work.set_down("signing", state.stopped)
        self.work.warn("doppelganger", state.watching)
