"""`ledgerd shadow`: asks two nodes the same questions for as long as both run, and tells what was found."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ledgerd.basics.durable import open_file
from ledgerd.cli.arguments.comparing_arguments import OURS
from ledgerd.cli.shared.configured import configuration_of
from ledgerd.cli.shared.started import start_of
from ledgerd.cli.shared.terminal import report
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.workers.beside.shadow_snapshots import starter
from ledgerd.producer.signing.key_files import KeyFileFault, read_key_file
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.keeping.bundles import read_bundle
from ledgerd.shadow.keeping.record import LARGEST_RECORD, OVERRIDE, ShadowRecord, records_in
from ledgerd.shadow.keeping.report import SignedRecord, bundle_lines, moment, record_lines
from ledgerd.shadow.process import run_shadow
from ledgerd.shadow.settings import FOLDER, ShadowOrder, SnapshotTask, read_snapshot_place

EQUAL, DIFFERENT, NOT_COMPARED = 0, 1, 3
REPORT, OVERRIDES = "report", "override"
MOST_HOURS = 168
"""A week: what is switched off for longer is a change of the configuration."""


def run(chosen: argparse.Namespace) -> int:
    if chosen.what == REPORT:
        return _report_file(Path(chosen.more)) if chosen.more else _report(chosen)
    if chosen.what == OVERRIDES:
        return _override(chosen)
    if chosen.rate <= 0 or not 0 < chosen.processor <= 100:
        raise OperatorError("--rate has to be above 0, --processor above 0 and at most 100")
    set_up_logging(None)
    folder = _folder(chosen)
    report(f"the shadow of {chosen.what} is written to {folder}; ledgerd shadow report --folder {folder} tells of it")
    order = ShadowOrder(
        chosen.more or OURS, chosen.what, str(folder), chosen.rate, chosen.processor, snapshots=_snapshots(chosen)
    )
    run_shadow(order, starter("text"))
    return EQUAL


def _snapshots(chosen: argparse.Namespace) -> SnapshotTask | None:
    """The comparison of snapshots that is asked for, if any. Our side is the node in the data directory, which may run
    without its snapshots there, or the place that is given.
    """
    if chosen.snapshots is None:
        if chosen.our_snapshots is not None:
            raise OperatorError("--our-snapshots are compared with --snapshots: name those of the other node")
        return None
    read_snapshot_place(chosen.snapshots)
    ours, node = chosen.our_snapshots or "", {}
    if chosen.data_dir is not None:
        node = {"data-dir": [str(chosen.data_dir.absolute())]}
        ours = ours or str(read_configuration(node, Path.cwd()).snapshot.directory.absolute())
    elif not ours:
        raise OperatorError("--snapshots needs --data-dir of our node, or --our-snapshots, to compare them with")
    read_snapshot_place(ours)
    if chosen.snapshot_hours <= 0:
        raise OperatorError("--snapshot-hours has to be above 0")
    return SnapshotTask(
        chosen.snapshots, ours, node, seconds=int(chosen.snapshot_hours * 3_600), processor=chosen.processor
    )


def _folder(chosen: argparse.Namespace) -> Path:
    if chosen.folder is not None:
        return Path(chosen.folder)
    return Path(FOLDER) if chosen.data_dir is None else Path(chosen.data_dir) / FOLDER


def _report(chosen: argparse.Namespace) -> int:
    records = list(records_in(_folder(chosen)))
    if not records:
        raise OperatorError(f"there is no record of a shadow in {_folder(chosen)}: name another --folder or --data-dir")
    now = int(time.time())
    if chosen.sign is not None:
        if len(records) > 1:
            raise OperatorError(
                f"{_folder(chosen)} has {len(records)} records: sign one of them from a folder of its own"
            )
        key = _key_of_node(chosen.data_dir) if chosen.sign is True else _key(chosen.sign)
        signed = SignedRecord.of(records[0], key, now)
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(signed), indent=1).decode() + "\n")
        return _code(records)
    if chosen.json:
        sys.stdout.write(msgspec.json.encode(records).decode() + "\n")
        return _code(records)
    for record in records:
        _print(record_lines(record, now))
    return _code(records)


def _code(records: list[ShadowRecord]) -> int:
    if any(record.differences for record in records):
        return DIFFERENT
    return EQUAL if all(record.equal.at for record in records) else NOT_COMPARED


def _key(file: Path) -> PrivateKey:
    try:
        found = read_key_file(file)
    except KeyFileFault as fault:
        raise OperatorError(str(fault)) from None
    if len(found.keys) != 1:
        raise OperatorError(f"{file} has {len(found.keys)} keys: name a file with one")
    return found.keys[0]


def _key_of_node(data_dir: Path | None) -> PrivateKey:
    """The one with which the node of a data directory signs blocks: whom it is of can be seen on the chain."""
    if data_dir is None:
        raise OperatorError("--sign without a file signs with the key of a node: name its --data-dir")
    chosen = argparse.Namespace(data_dir=data_dir, config_file=None, chain=None)
    validator = configuration_of(chosen, start_of(data_dir)).validator
    if validator.is_signed_elsewhere:
        raise OperatorError("the key of this node is in its signer, which signs nothing but blocks: add a key file")
    if len(validator.keys) != 1:
        raise OperatorError(f"this node has {len(validator.keys)} signing keys, and one is needed: add a key file")
    (key,) = validator.keys.values()
    return key


def _report_file(file: Path) -> int:
    """Print the report of a difference or of a signed record; returns the exit code."""
    signed = _signed(file)
    if signed is None:
        _print(bundle_lines(read_bundle(file), str(file)))
        return DIFFERENT
    signed.require_valid()
    report(f"signed {moment(signed.signed_at)} with {signed.key}")
    _print(record_lines(signed.record, signed.signed_at))
    return _code([signed.record])


def _signed(file: Path) -> SignedRecord | None:
    try:
        with open_file(file) as opened:
            return msgspec.json.decode(opened.read(LARGEST_RECORD), type=SignedRecord)
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from problem
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _override(chosen: argparse.Namespace) -> int:
    """Let a validator sign for some hours whatever its shadow says; its node reads the file."""
    if not 0 <= chosen.hours <= MOST_HOURS:
        raise OperatorError(f"--hours is from 0, which ends it, to {MOST_HOURS}")
    folder = _folder(chosen)
    if not folder.is_dir():
        raise OperatorError(f"there is no shadow in {folder}: name the --data-dir of the validator")
    until = int(time.time() + chosen.hours * 3_600)
    (folder / OVERRIDE).write_text(f"{until}\n", encoding="ascii")
    report(f"until {moment(until)} blocks are signed whatever the shadow says")
    return EQUAL


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        report(line)
