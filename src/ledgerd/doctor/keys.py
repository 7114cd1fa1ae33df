"""Findings on files of keys, on what was signed with them, and on a signer, which is asked as the node asks it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durable import read_file
from ledgerd.codec.errors import CodecError
from ledgerd.doctor.examined_node import ExaminedNode
from ledgerd.doctor.finding import Finding, error, warning
from ledgerd.producer.signing.double_sign import LastSigned
from ledgerd.producer.signing.signer_link import status_of
from ledgerd.producer.signing.signing_frames import SignerStatus
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.secrets import PUBLISHED_COMMITTEE_KEY, holds_key
from ledgerd.supervision.this_process import on_a_loop

OTHERS = stat.S_IRWXG | stat.S_IRWXO

LARGEST_CONFIGURATION = 1 << 20
"""Bytes; the node reads no larger one either."""


def keys(node: ExaminedNode) -> Iterator[Finding]:
    files = [path for path in node.key_files if path.exists()]
    files += [node.configuration_file] if _holds_keys(node.configuration_file) else []
    for path in files:
        if path.stat().st_mode & OTHERS:
            yield error(
                "key-readable",
                what=f"{path} holds private keys, and others than its owner may open it",
                why="whoever reads a signing key can sign blocks in your name; an active key gives away tokens",
                do=f"`chmod 600 {path}`; replace the key if somebody may have read it",
            )
    if node.validators:
        yield from _record(node)


def _holds_keys(file: Path) -> bool:
    try:
        text = read_file(file, LARGEST_CONFIGURATION).decode("utf-8", "surrogateescape")
    except OSError:
        return False
    return holds_key(text.replace(PUBLISHED_COMMITTEE_KEY, ""))


def _record(node: ExaminedNode) -> Iterator[Finding]:
    try:
        LastSigned(node.data_dir, node.network.chain_id)
    except OperatorError as problem:
        yield error(
            "last-signed-unreadable",
            what=str(problem),
            why="the file keeps a validator from signing two blocks for one slot; without it the node does not start",
            do="take it from the last machine that signed with the key; remove it only when no other copy of this node "
            "has run since, and wait a few minutes before the start",
        )


class AskedSigner(NamedTuple):
    """The answer of a signer about itself, or why it could not be asked."""

    place: str
    status: SignerStatus | None
    problem: str

    @property
    def keys(self) -> frozenset[PublicKey]:
        """The public keys of what it holds; none if it says nonsense."""
        try:
            return frozenset(map(public_key_from_text, () if self.status is None else self.status.keys))
        except CodecError:
            return frozenset()


def ask(node: ExaminedNode) -> AskedSigner | None:
    access = node.signer
    place = None if access is None else access.place
    if access is None or place is None:
        return None
    status, problem = on_a_loop(lambda: status_of(place, access.files))
    return AskedSigner(str(place), status, problem)


def signer(node: ExaminedNode, asked: AskedSigner) -> Iterator[Finding]:
    if asked.status is None:
        yield error(
            "signer-away",
            what=f"the signer at {asked.place} cannot be asked: {asked.problem}",
            why="the node holds no key, so that no block is made until the signer answers",
            do="start the signer, or correct `validator-signer` and its certificates (`ledgerd signer --ask` asks too)",
        )
        return
    strange = [name for name in node.validators if name not in asked.status.validators]
    if strange:
        yield error(
            "signer-not-told",
            what=f"the signer at {asked.place} does not sign for {', '.join(strange)}",
            why="it signs only for validators that it names, so that these miss their slots",
            do="start the signer with `--validator` for each of them",
        )
    if asked.status.problem:
        yield warning(
            "signer-waits",
            what=f"the signer at {asked.place} signs nothing now: {asked.status.problem}",
            why="slots are missed meanwhile",
            do="wait for a minute; if its clock is wrong, put that right and start the signer again",
        )
