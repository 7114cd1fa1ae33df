"""Findings on files of keys and of what was signed with them; the keys themselves are not looked at."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from ledgerd.doctor.finding import Finding, error
from ledgerd.doctor.patient import Patient
from ledgerd.producer.double_sign import LastSigned
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY, holds_key

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keys(patient: Patient) -> Iterator[Finding]:
    """All findings on keys."""
    files = [path for path in patient.key_files if path.exists()]
    files += [patient.configuration_file] if _holds_keys(patient.configuration_file) else []
    for path in files:
        if path.stat().st_mode & OTHERS:
            yield error(
                "key-readable",
                what=f"{path} holds private keys, and others than its owner may open it",
                why="whoever reads a signing key can sign blocks in your name; an active key gives away tokens",
                do=f"`chmod 600 {path}`; replace the key if somebody may have read it",
            )
    if patient.validators:
        yield from _record(patient)


def _holds_keys(file: Path) -> bool:
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return False
    return holds_key(text.replace(PUBLISHED_COMMITTEE_KEY, ""))


def _record(patient: Patient) -> Iterator[Finding]:
    try:
        LastSigned(patient.data_dir, patient.network.chain_id)
    except OperatorError as problem:
        yield error(
            "last-signed-unreadable",
            what=str(problem),
            why="the file keeps a validator from signing two blocks for one slot; without it the node does not start",
            do="take it from the last machine that signed with the key; remove it only when no other copy of this node "
            "has run since, and wait a few minutes before the start",
        )
