"""The options of the plugin validator: whose blocks are made, with which keys, and what time it is (spec 06, 5.5)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.node.config.options.declaration import Option, Section, Surroundings, WrongTogether
from ledgerd.node.config.values.endpoints import NTP_SERVER, Endpoint
from ledgerd.node.config.values.json_values import NAME
from ledgerd.node.config.values.key_values import PRIVATE_KEY, read_private_key
from ledgerd.node.config.values.kind import WrongValue
from ledgerd.node.config.values.values import BOOL, PATH, UINT32, uint32

if TYPE_CHECKING:
    from ledgerd.protocol.keys import PrivateKey

EMERGENCY_VALIDATOR = "committee"
ALL_PARTICIPATE = 10_000
"""Participation is counted in hundredths of a percent."""

KEY_FILE = "private-key-file"


class ValidatorOptions(msgspec.Struct, frozen=True):
    """Block production; names and keys are those of all the options that bring some."""

    enable_stale_production: bool
    required_participation: int
    validators: tuple[str, ...]
    private_keys: tuple[PrivateKey, ...]
    private_key_files: tuple[Path, ...]
    emergency_private_keys: tuple[PrivateKey, ...]
    ntp_servers: tuple[Endpoint, ...]
    ntp_request_interval: int
    ntp_retry_interval: int
    ntp_round_trip_threshold: int
    ntp_history_size: int
    ntp_rejection_threshold_pct: int
    ntp_rejection_min_threshold: int
    fork_collision_timeout_blocks: int
    debug_block_production: bool


def _keys_of_file(path: Path, surroundings: Surroundings) -> list[PrivateKey]:
    """A key from each line, comments and empty lines left out."""
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise WrongTogether(KEY_FILE, f"{path} cannot be read: {reason}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        surroundings.remark(f"{path} holds private keys, and others than its owner may open it: chmod 600 {path}")
    keys = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if text:
            try:
                keys.append(read_private_key(text))
            except WrongValue as problem:
                raise WrongTogether(KEY_FILE, f"{path}: line {number} {problem}") from None
    return keys


def _settle(record: ValidatorOptions, surroundings: Surroundings) -> ValidatorOptions:
    """Gather the keys, without doubles; a key for emergencies makes the committee a validator of this node."""
    names = set(record.validators)
    if record.emergency_private_keys:
        names.add(EMERGENCY_VALIDATOR)
    files = tuple(surroundings.data_dir / path for path in record.private_key_files)
    keys = [*record.private_keys, *(key for path in files for key in _keys_of_file(path, surroundings))]
    if 0 < record.required_participation < ALL_PARTICIPATE // 100:
        surroundings.remark(
            f"required-participation = {record.required_participation} is less than one percent: it counts "
            "hundredths of a percent, so that a third is 3300"
        )
    return msgspec.structs.replace(
        record,
        validators=tuple(sorted(names)),
        private_keys=tuple({key.public: key for key in [*keys, *record.emergency_private_keys]}.values()),
        private_key_files=files,
    )


VALIDATOR = Section(
    "validator",
    "Block production: whose blocks, signed with which keys, and the time that they are made by.",
    ValidatorOptions,
    {
        "enable_stale_production": Option(
            "enable-stale-production",
            BOOL,
            "Make blocks even when the chain is stale or few validators take part. For the first block of a network, "
            "and for networks of one.",
            default="false",
        ),
        "required_participation": Option(
            "required-participation",
            UINT32,
            "Make no block when fewer validators than this take part, in hundredths of a percent (3300 is 33 %); 0 "
            "for any.",
            default="3300",
        ),
        "validators": Option(
            "validator",
            NAME,
            "The name of a validator whose blocks this node makes.",
            repeatable=True,
            older_names=("witness",),
        ),
        "private_keys": Option(
            "private-key",
            PRIVATE_KEY,
            "The private signing key of a validator, in WIF. On the command line everybody on the machine can see it: "
            "better is a configuration file, or private-key-file.",
            repeatable=True,
        ),
        "private_key_files": Option(
            KEY_FILE,
            PATH,
            "A file that holds private signing keys in WIF, one a line, relative to the data directory. It should be "
            "readable by its owner alone.",
            repeatable=True,
            ours=True,
            example="signing.key",
        ),
        "emergency_private_keys": Option(
            "emergency-private-key",
            PRIVATE_KEY,
            "A private key of the committee, with which this node makes blocks in its name when the network is in an "
            "emergency.",
            repeatable=True,
        ),
        "ntp_servers": Option(
            "ntp-server",
            NTP_SERVER,
            "A server to ask for the time.",
            default=("pool.ntp.org", "time.google.com", "time.cloudflare.com"),
            repeatable=True,
        ),
        "ntp_request_interval": Option(
            "ntp-request-interval", UINT32, "Seconds between two requests for the time.", default="900"
        ),
        "ntp_retry_interval": Option(
            "ntp-retry-interval", UINT32, "Seconds between two looks at whether it is time for one.", default="300"
        ),
        "ntp_round_trip_threshold": Option(
            "ntp-round-trip-threshold",
            UINT32,
            "Milliseconds after which an answer is too late to be trusted.",
            default="150",
        ),
        "ntp_history_size": Option(
            "ntp-history-size", uint32(raised_to=1), "How many answers the time is averaged from.", default="5"
        ),
        "ntp_rejection_threshold_pct": Option(
            "ntp-rejection-threshold-pct",
            UINT32,
            "Percent of the average by which an answer may differ from it.",
            default="50",
        ),
        "ntp_rejection_min_threshold": Option(
            "ntp-rejection-min-threshold",
            UINT32,
            "Milliseconds by which an answer may differ from the average in any case.",
            default="5",
        ),
        "fork_collision_timeout_blocks": Option(
            "fork-collision-timeout-blocks",
            UINT32,
            "How often production gives way to a competing block before it goes on regardless.",
            default="21",
        ),
        "debug_block_production": Option(
            "debug-block-production", BOOL, "Log why each slot was used or not.", default="false"
        ),
    },
    settle=_settle,
)
