"""The options of the plugins validator and validator_guard (spec 06, sections 5.5 and 5.6)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.node.config.options import declaration
from ledgerd.node.config.values.endpoints import NTP_SERVER
from ledgerd.node.config.values.json_values import GUARDED, NAME, GuardedValidator
from ledgerd.node.config.values.key_values import PRIVATE_KEY, SIGNER_PLACE
from ledgerd.node.config.values.kind import OptionKind
from ledgerd.node.config.values.values import BOOL, PATH, UINT32, uint32
from ledgerd.producer.settings import GuardSettings, NtpSettings, ProducerSettings, Watched, keyring
from ledgerd.producer.signing.key_files import KeyFileFault, read_key_file
from ledgerd.producer.signing.signer_place import CertifiedPlace

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey

EMERGENCY_VALIDATOR = "committee"
"""The committee: with an emergency key it is one of this node's validators."""

KEY_FILE = "private-key-file"
SIGNER = "validator-signer"
TAKE_OVER = "validator-take-over"


def keys_of_file(path: Path, remark: Callable[[str], None]) -> list[PrivateKey]:
    """The keys of a file; that others may open it is remarked. Raises `WrongTogether`."""
    try:
        found = read_key_file(path)
    except KeyFileFault as fault:
        raise declaration.WrongTogether(KEY_FILE, str(fault)) from None
    if found.is_open_to_others:
        remark(f"{path} holds private keys, and others than its owner may open it: chmod 600 {path}")
    return [*found.keys]


def _join(values: dict[str, Any], context: declaration.SectionContext) -> None:
    values["key_files"] = tuple(context.data_dir / path for path in values["key_files"])
    in_files = (key for path in values["key_files"] for key in keys_of_file(path, context.remark))
    emergency = values.pop("emergency_keys")
    values["options_keys"] = (*values["keys"], *emergency)
    values["keys"] = keyring([*values["options_keys"], *in_files])
    names = set(values["names"])
    if emergency:
        names.add(EMERGENCY_VALIDATOR)
    values["names"] = tuple(sorted(names))


def _with_signer(record: ProducerSettings, context: declaration.SectionContext) -> ProducerSettings:
    """The record with the files of its signer where they are; a signer holds every key in place of the node."""
    signer = record.signer
    given = declaration.certificates_of(signer)
    if signer.place is None:
        if any(given.values()):
            raise declaration.WrongTogether(SIGNER, "the certificates are for a signer, and none is named")
        return record
    if record.keys:
        raise declaration.WrongTogether(
            SIGNER, "a validator has its key at the signer or here, not both: remove every private key"
        )
    if signer.place.endpoint is not None and None in given.values():
        raise declaration.WrongTogether(
            SIGNER, f"tls:// needs {SIGNER}-certificate, {SIGNER}-certificate-key, {SIGNER}-authority"
        )
    files = {name: context.data_dir / path for name, path in given.items() if path is not None}
    return replace(record, signer=replace(signer, **files))


def _complete(record: ProducerSettings, context: declaration.SectionContext) -> ProducerSettings:
    record = _with_signer(record, context)
    if record.take_over is not None:
        if record.is_signed_elsewhere:
            raise declaration.WrongTogether(TAKE_OVER, "two nodes with one signer may run at the same time without it")
        record = replace(record, take_over=context.data_dir / record.take_over)
    if record.checks_doppelganger and record.is_signed_elsewhere:
        context.remark("doppelganger-check does nothing with a signer, which several nodes may use")
    if record.checks_doppelganger and record.allows_stale:
        context.remark("doppelganger-check does nothing where enable-stale-production is on")
    if 0 < record.required_participation < HUNDRED_PERCENT // 100:
        context.remark(
            f"required-participation = {record.required_participation} is less than one percent: it counts "
            "hundredths of a percent, so that a third is 3300"
        )
    return record


VALIDATOR = declaration.OptionSection(
    "validator",
    "Block production: validators, signing keys and time servers.",
    ProducerSettings,
    (
        declaration.Option(
            "enable-stale-production",
            BOOL,
            "Make blocks even when the head is old or participation is low. For the first block of a network, and for"
            " networks of one node.",
            default="false",
            field="allows_stale",
        ),
        declaration.Option(
            "required-participation",
            UINT32,
            "The least participation at which blocks are made, in hundredths of a percent (3300 is 33 %); 0 for any.",
            default="3300",
        ),
        declaration.Option(
            "validator",
            NAME,
            "The name of a validator whose blocks this node makes.",
            repeatable=True,
            older_names=("witness",),
            field="names",
        ),
        declaration.Option(
            "private-key",
            PRIVATE_KEY,
            "The private signing key of a validator, in WIF. On the command line every user of the machine can see "
            "it: use the configuration file or private-key-file.",
            repeatable=True,
            field="keys",
        ),
        declaration.our_option(
            KEY_FILE,
            PATH,
            "A file with private signing keys in WIF, one on each line, relative to the data directory. Only its "
            "owner should be able to read it.",
            repeatable=True,
            example="signing.key",
            field="key_files",
        ),
        declaration.our_option(
            SIGNER,
            SIGNER_PLACE,
            "A signer that holds the signing keys in place of this node (ledgerd signer): its Unix socket, or its "
            "address where both sides show a certificate. No private key may stand here then.",
            field="signer.place",
        ),
        *declaration.certificate_options(
            SIGNER,
            "a signer at tls://",
            "the signer",
            ("node", "signer"),
            note=", which signs no block",
            record="signer.",
        ),
        declaration.our_option(
            TAKE_OVER,
            PATH,
            "The data directory of another node of this machine with the same keys. This one follows the chain and "
            "makes no block until that one has ended; then it goes on from what that one signed last.",
            field="take_over",
        ),
        declaration.Option(
            "emergency-private-key",
            PRIVATE_KEY,
            "The private key of the committee, with which this node makes blocks for it in an emergency.",
            repeatable=True,
            field="emergency_keys",
        ),
        declaration.Option(
            "ntp-server",
            NTP_SERVER,
            "A server to ask for the time.",
            default=("pool.ntp.org", "time.google.com", "time.cloudflare.com"),
            repeatable=True,
            field="ntp.servers",
        ),
        declaration.Option(
            "ntp-request-interval",
            UINT32,
            "Seconds between two requests for the time.",
            default="900",
            field="ntp.request_interval",
        ),
        declaration.Option(
            "ntp-retry-interval",
            UINT32,
            "Seconds between two checks whether a request is due.",
            default="300",
            field="ntp.retry_interval",
        ),
        declaration.Option(
            "ntp-round-trip-threshold",
            UINT32,
            "Answers of time servers that take longer than this many milliseconds are ignored.",
            default="150",
            field="ntp.round_trip_threshold",
        ),
        declaration.Option(
            "ntp-history-size",
            uint32(raised_to=1),
            "The number of answers whose average gives the time.",
            default="5",
            field="ntp.history_size",
        ),
        declaration.Option(
            "ntp-rejection-threshold-pct",
            UINT32,
            "Percent of the average by which an answer may differ from it.",
            default="50",
            field="ntp.rejection_threshold_pct",
        ),
        declaration.Option(
            "ntp-rejection-min-threshold",
            UINT32,
            "Milliseconds by which an answer may differ from the average in any case.",
            default="5",
            field="ntp.rejection_min_threshold",
        ),
        declaration.Option(
            "fork-collision-timeout-blocks",
            UINT32,
            "The number of slots that production gives up for a competing block before it makes one all the same.",
            default="21",
            field="collision_timeout",
        ),
        declaration.our_option(
            "doppelganger-check",
            BOOL,
            "Watch for a round of slots before the first block is signed, and sign nothing more as soon as a block "
            "arrives that another node has signed with a key of this one. Off where enable-stale-production is on.",
            default="false",
            field="checks_doppelganger",
        ),
        declaration.Option(
            "debug-block-production",
            BOOL,
            "Log for each slot why a block was made or not.",
            default="false",
            field="is_verbose",
        ),
    ),
    within={"ntp": NtpSettings, "signer": CertifiedPlace},
    join=_join,
    complete=_complete,
)


def _join_guard(values: dict[str, Any], _context: declaration.SectionContext) -> None:
    guarded: tuple[GuardedValidator, ...] = values["watched"]
    values["watched"] = {each.name: Watched(each.signing_key, each.active_key) for each in guarded}


FORMER_GUARD_OPTIONS: tuple[tuple[str, OptionKind[Any], str], ...] = (
    ("enabled", BOOL, "true"),
    ("interval", UINT32, "20"),
    ("disable", UINT32, "5"),
)

VALIDATOR_GUARD = declaration.OptionSection(
    "validator_guard",
    "Watches validators: restores a removed signing key, and switches off a validator that is alone in making blocks.",
    GuardSettings,
    (
        declaration.Option("validator-guard-enabled", BOOL, "Run the guard.", default="true"),
        declaration.Option(
            "validator-guard-validator",
            GUARDED,
            "A validator to watch, with its private signing key and the private active key that updates it.",
            repeatable=True,
            older_names=("witness-guard-witness",),
            field="watched",
        ),
        declaration.Option("validator-guard-interval", uint32(raised_to=1), "Blocks between two checks.", default="20"),
        declaration.Option(
            "validator-guard-disable",
            UINT32,
            "Consecutive blocks of one watched validator after which it is switched off; 0 for never.",
            default="5",
        ),
        declaration.Option(
            "validator-guard-disable-on-shutdown",
            BOOL,
            "Switch the validators off before the node stops.",
            default="true",
        ),
        declaration.Option(
            "validator-guard-shutdown-grace",
            UINT32,
            "Seconds that a stop waits until the validators are switched off.",
            default="10",
        ),
        declaration.Option(
            "validator-guard-disable-max",
            UINT32,
            "How many times a validator is switched off and on again before it stays off; 0 for any number.",
            default="3",
        ),
    ),
    without_meaning=tuple(
        declaration.Option(
            f"witness-guard-{name}",
            kind,
            f"Older name of validator-guard-{name}.",
            default=default,
            without_meaning=f"in the reference it never took effect either; validator-guard-{name} does",
        )
        for name, kind, default in FORMER_GUARD_OPTIONS
    ),
    prefixes=("validator-guard-",),
    join=_join_guard,
)
